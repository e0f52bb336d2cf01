#include "weir/feed/snapshot.h"

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

}  // namespace

Result<std::unique_ptr<Snapshot>> Snapshot::Open(sys::Files& files, const std::string& folder,
                                                 mem::BlockAllocator& blocks) {
  WEIR_TRY(file::Manifest manifest, file::ReadManifest(files, folder));
  if (manifest.format != "parquet") {
    return Fail(Code::kInvalid, "'{}' holds {}; export it again with --format parquet", folder,
                manifest.format);
  }
  std::unique_ptr<Snapshot> snapshot(new Snapshot(folder, std::move(manifest)));
  for (size_t part = 0; part < snapshot->manifest_.parts.size(); ++part) {
    const std::string path = sys::JoinPath(folder, snapshot->manifest_.parts[part].path);
    WEIR_TRY(const auto groups, file::RowGroupSizes(path, blocks));
    for (size_t group = 0; group < groups.size(); ++group) {
      snapshot->morsels_.push_back({part, static_cast<int>(group)});
      snapshot->value_bytes_ += groups[group].value_bytes;
    }
  }
  return snapshot;
}

class Snapshot::Scan final : public TableScan {
 public:
  explicit Scan(const Snapshot& snapshot) : snapshot_(snapshot) {}

  Result<std::unique_ptr<RowReader>> Next(int64_t batch_rows,
                                          mem::BlockAllocator& blocks) override {
    const size_t at = next_.fetch_add(1);
    if (at >= snapshot_.morsels_.size()) return std::unique_ptr<RowReader>();
    const Morsel& morsel = snapshot_.morsels_[at];
    const std::string path =
        sys::JoinPath(snapshot_.folder_, snapshot_.manifest_.parts[morsel.part].path);
    WEIR_TRY(auto reader, file::OpenRowGroup(path, morsel.group, batch_rows, blocks));
    return std::unique_ptr<RowReader>(std::make_unique<GroupReader>(std::move(reader)));
  }

 private:
  const Snapshot& snapshot_;
  std::atomic<size_t> next_{0};
};

std::unique_ptr<TableScan> Snapshot::NewScan() const { return std::make_unique<Scan>(*this); }

}  // namespace weir::feed
