#pragma once
// Config: what a weir.yaml asks for, checked and filled with defaults. Keys and meanings:
//         docs/config.md.
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "weir/base/result.h"
#include "weir/base/secret.h"
#include "weir/config/variables.h"
#include "weir/pg/table_name.h"
#include "weir/sys/files.h"

namespace weir::config {

enum class TlsMode : uint8_t { kDisable, kRequire, kVerifyCa, kVerifyFull };

/// "disable", "require", "verify-ca", "verify-full": libpq's own words for sslmode.
std::string_view TlsModeName(TlsMode mode);

struct TlsConfig {
  TlsMode mode = TlsMode::kVerifyFull;
  std::string ca_file;  ///< Empty: the system's.

  friend bool operator==(const TlsConfig&, const TlsConfig&) = default;
};

/// How to reach the source: exactly one of url, url_env, url_file and `host` (with its four
/// companions). ResolveConnection in connection.h turns it into what libpq takes.
struct SourceConfig {
  Secret url;
  std::string url_env;   ///< Name of the variable that holds the URL.
  std::string url_file;  ///< Path of the file whose first line is the URL, as written.

  std::string host;
  int port = 5432;
  std::string user;
  std::string database;
  Secret password;
  std::string password_env;

  std::string environment;  ///< "local", "replica", "production", or empty.
  std::optional<TlsConfig> tls;
};

enum class Profile : uint8_t { kFast, kBalanced, kSafe };

/// "fast", "balanced", "safe".
std::string_view ProfileName(Profile profile);
std::optional<Profile> ParseProfile(std::string_view name);

enum class OnBatchMemoryExceeded : uint8_t { kWarn, kFail, kAutoShrink };

/// Pace and limits of one export: its profile, under what the source and then the export wrote.
struct Tuning {
  Profile profile = Profile::kBalanced;
  int64_t batch_size = 10'000;                  ///< Rows; throttle_ms is counted in these.
  std::optional<int64_t> batch_size_memory_mb = 32;  ///< Absent: no ceiling in bytes.
  int64_t throttle_ms = 0;                      ///< Per batch_size rows, proportional. 0: none.
  int64_t statement_timeout_s = 300;            ///< On COPY: longest wait for a byte. 0: none.
  int64_t lock_timeout_s = 30;                  ///< 0: none.
  int64_t max_retries = 3;
  int64_t retry_backoff_ms = 2000;
  int64_t memory_threshold_mb = 4096;           ///< Of the process's RSS. 0: none.
  int64_t max_value_mb = 256;                   ///< 0: none.
  std::optional<int64_t> max_batch_memory_mb;
  OnBatchMemoryExceeded on_batch_memory_exceeded = OnBatchMemoryExceeded::kWarn;

  friend bool operator==(const Tuning&, const Tuning&) = default;
};

/// The defaults of a profile: the table in docs/config.md.
Tuning ProfileDefaults(Profile profile);

enum class Format : uint8_t { kParquet, kCsv };
enum class Compression : uint8_t { kNone, kSnappy, kGzip, kLz4, kZstd };

std::string_view FormatName(Format format);                 ///< "parquet", "csv".
std::string_view CompressionName(Compression compression);  ///< "none", "snappy", ...
std::optional<Compression> ParseCompression(std::string_view name);
/// Errors: kUsage for a level that the compression does not take; the sentence says which it does.
Status CheckCompressionLevel(Compression compression, int64_t level);

/// When a row group ends: at the first of these.
struct RowGroups {
  int64_t raw_bytes = 128 << 20;  ///< Of values.
  std::optional<int64_t> rows;    ///< Absent: the writer's own limit.
  bool encoded_bound = true;      ///< Also when it is as large as weir likes it, encoded.

  friend bool operator==(const RowGroups&, const RowGroups&) = default;
};

/// One export. Exactly one of table, query and query_file is set. Mode is full, read is copy,
/// destination is a local folder, parallel is 1: this version has no others.
struct ExportConfig {
  std::string name;  ///< Safe as a file name, unique in the file.
  int line = 0;      ///< Where it begins in the file.

  std::optional<pg::TableName> table;
  std::string query;       ///< Without a trailing semicolon.
  std::string query_file;  ///< Relative to the configuration file's folder; see ReadQuery.

  Format format = Format::kParquet;
  Compression compression = Compression::kZstd;  ///< kNone for CSV.
  std::optional<int> compression_level;          ///< Absent: weir's choice for that compression.
  RowGroups row_groups;
  bool skip_empty = false;                       ///< No file when the export has no rows.
  int64_t max_file_bytes = 0;                    ///< A new file begins past this. 0: one file.

  std::string destination_path;  ///< As written, with {date}, {export}, {table}; see OutputFolder.
  Tuning tuning;
};

/// A checked configuration file.
///
/// Shape:     plain values; secrets only inside Secret.
/// Invariant: at least one export; names are unique, and no output folder is or holds another's.
struct Config {
  std::string path;  ///< The file it came from.
  SourceConfig source;
  std::vector<ExportConfig> exports;
};

/// A longer configuration file is refused: fifty times the largest one known, in bytes.
inline constexpr int64_t kMaxConfigBytes = 1 << 20;

/// Reads a configuration from YAML text. `path` names it in messages and is where query_file
/// starts.
///
/// ${NAME} in any value is replaced by what `get_env` finds; $${ stands for ${ itself.
/// Cost:    linear in the text; depth, number of values and alias expansion are bounded.
/// Errors:  kUsage, one sentence with the path, the key and its line; never a value that may be
///          secret.
/// Threads: any.
Result<Config> LoadConfig(std::string_view text, const std::string& path, const GetEnv& get_env);

/// LoadConfig on a file. Errors: kUsage also when the file cannot be read.
Result<Config> LoadConfigFile(const std::string& path, sys::Files& files, const GetEnv& get_env);

/// The folder that holds the export's files: <path>/<export>, or path itself where it holds
/// {export} or {table}. `date_utc` is what {date} becomes, "2026-11-30".
std::string OutputFolder(const ExportConfig& config, std::string_view date_utc);

/// The query of an export that has one: its text, or its file's. `variables`, when given, replaces
/// ${NAME} in the file as LoadConfig does in values. Errors: kUsage.
Result<std::string> ReadQuery(const Config& config, const ExportConfig& one, sys::Files& files,
                              const GetEnv& variables = nullptr);

}  // namespace weir::config
