#include "weir/feed/snapshot.h"

#include <algorithm>
#include <atomic>

#include "weir/file/parquet_reader.h"

namespace weir::feed {
namespace {

class GroupReader final : public RowReader {
 public:
  explicit GroupReader(std::unique_ptr<file::ParquetReader> reader) : reader_(std::move(reader)) {}
  Result<table::Batch> Next() override { return reader_->Next(); }

 private:
  const std::unique_ptr<file::ParquetReader> reader_;
};

Result<std::vector<std::string>> ParquetFilesIn(sys::Files& files, const std::string& folder) {
  WEIR_TRY(std::vector<std::string> names, files.List(folder));
  std::erase_if(names, [](const std::string& name) {
    return name.starts_with('.') || !name.ends_with(".parquet");
  });
  std::sort(names.begin(), names.end());
  return names;
}

}  // namespace

Snapshot::Snapshot(std::string folder, file::Manifest manifest, bool is_export)
    : folder_(std::move(folder)),
      manifest_(std::move(manifest)),
      is_export_(is_export),
      schema_json_(file::SchemaJson(manifest_.schema)) {}

Result<std::unique_ptr<Snapshot>> Snapshot::Open(sys::Files& files, const std::string& folder,
                                                 mem::BlockAllocator& blocks) {
  WEIR_TRY(file::Manifest manifest, file::ReadManifest(files, folder));
  if (manifest.format != "parquet") {
    return Fail(Code::kInvalid, "'{}' holds {}; export it again with --format parquet", folder,
                manifest.format);
  }
  std::unique_ptr<Snapshot> snapshot(new Snapshot(folder, std::move(manifest), true));
  WEIR_DO(snapshot->ReadFooters(blocks));
  return snapshot;
}

Result<bool> Snapshot::HasFiles(sys::Files& files, const std::string& folder) {
  WEIR_TRY(const auto names, ParquetFilesIn(files, folder));
  return !names.empty();
}

Result<std::unique_ptr<Snapshot>> Snapshot::OpenFiles(sys::Files& files, const std::string& folder,
                                                      mem::BlockAllocator& blocks) {
  file::Manifest manifest;
  const std::string path = folder.substr(0, folder.find_last_not_of('/') + 1);
  manifest.export_name = path.substr(path.rfind('/') + 1);
  WEIR_TRY(const auto names, ParquetFilesIn(files, folder));
  for (const std::string& name : names) {
    WEIR_TRY(table::Schema schema, file::ParquetSchema(sys::JoinPath(folder, name), blocks));
    if (manifest.parts.empty()) {
      manifest.schema = std::move(schema);
    } else if (file::SchemaJson(schema) != file::SchemaJson(manifest.schema)) {
      return Fail(Code::kInvalid,
                  "'{}' has other columns than '{}' beside it; keep each table in a folder of its "
                  "own",
                  sys::JoinPath(folder, name), names.front());
    }
    manifest.parts.emplace_back().path = name;
  }
  std::unique_ptr<Snapshot> snapshot(new Snapshot(folder, std::move(manifest), false));
  WEIR_DO(snapshot->ReadFooters(blocks));
  return snapshot;
}

Status Snapshot::ReadFooters(mem::BlockAllocator& blocks) {
  for (size_t part = 0; part < manifest_.parts.size(); ++part) {
    const std::string path = PathOf(part);
    WEIR_TRY(const auto groups, file::RowGroupSizes(path, blocks));
    int64_t rows = 0;
    for (size_t group = 0; group < groups.size(); ++group) {
      morsels_.push_back({part, static_cast<int>(group)});
      value_bytes_ += groups[group].value_bytes;
      rows += groups[group].rows;
    }
    if (is_export_ && rows != manifest_.parts[part].rows) {
      return Fail(Code::kCorrupt, "'{}' has {} rows where its manifest has {}; export it again",
                  path, rows, manifest_.parts[part].rows);
    }
    manifest_.parts[part].rows = rows;
  }
  return Ok();
}

std::string Snapshot::PathOf(size_t part) const {
  return sys::JoinPath(folder_, manifest_.parts[part].path);
}

// Files may have changed since they were looked at.
Status Snapshot::CheckSchema(size_t part, const table::Schema& schema) const {
  if (file::SchemaJson(schema) == schema_json_) return Ok();
  return Fail(Code::kCorrupt, "'{}' has other columns than the rest of its table; write it again",
              PathOf(part));
}

class Snapshot::Scan final : public TableScan {
 public:
  explicit Scan(const Snapshot& snapshot) : snapshot_(snapshot) {}

  Result<std::unique_ptr<RowReader>> Next(int64_t batch_rows,
                                          mem::BlockAllocator& blocks) override {
    const size_t at = next_.fetch_add(1);
    if (at >= snapshot_.morsels_.size()) return std::unique_ptr<RowReader>();
    const Morsel& morsel = snapshot_.morsels_[at];
    WEIR_TRY(auto reader, file::OpenRowGroup(snapshot_.PathOf(morsel.part), morsel.group,
                                             batch_rows, blocks));
    WEIR_DO(snapshot_.CheckSchema(morsel.part, reader->schema()));
    return std::unique_ptr<RowReader>(std::make_unique<GroupReader>(std::move(reader)));
  }

 private:
  const Snapshot& snapshot_;
  std::atomic<size_t> next_{0};
};

std::unique_ptr<TableScan> Snapshot::NewScan() const { return std::make_unique<Scan>(*this); }

}  // namespace weir::feed
