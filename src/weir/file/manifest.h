#pragma once
// Manifest: which files of an export exist and are whole. Written last; docs/formats/manifest.md is
//           its contract.
#include <optional>
#include <string>
#include <vector>

#include "weir/file/table_writer.h"
#include "weir/sys/files.h"
#include "weir/table/schema.h"

namespace weir::file {

inline constexpr int kManifestVersion = 1;
inline constexpr int64_t kMostManifestBytes = 64 << 20;
inline constexpr const char* kManifestName = "manifest.json";
inline constexpr const char* kSuccessName = "_SUCCESS";

struct Manifest {
  std::string run_id;
  std::string export_name;
  std::string status;  ///< "success".
  std::string format;  ///< "parquet", "csv".
  std::string snapshot_lsn;
  std::string snapshot_xid;
  std::string snapshot_taken_at;
  table::Schema schema;
  std::vector<std::string> primary_key;
  std::vector<FilePart> parts;

  int64_t total_rows() const;
  int64_t total_bytes() const;
};

/// The columns as the JSON text that the manifest and each Parquet file's weir.schema key carry.
std::string SchemaJson(const table::Schema& schema);

/// SchemaJson read back. Errors: kCorrupt.
Result<table::Schema> ParseSchemaJson(std::string_view json);

std::string ManifestJson(const Manifest& manifest);

/// Errors: kCorrupt for what is not a manifest; kInvalid for a newer major version, naming it.
Result<Manifest> ParseManifest(std::string_view json);

/// Reads folder/manifest.json, and checks it against folder/_SUCCESS when that is there.
/// Errors: also kNotFound; kCorrupt when _SUCCESS names another manifest.
Result<Manifest> ReadManifest(sys::Files& files, const std::string& folder);

}  // namespace weir::file
