#include "weir/feed/snapshot.h"

namespace weir::feed {

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

Result<std::unique_ptr<file::ParquetReader>> Snapshot::Scan::Next(int64_t batch_rows,
                                                                  mem::BlockAllocator& blocks) {
  size_t at;
  {
    const std::lock_guard lock(mutex_);
    if (next_ == snapshot_.morsels_.size()) return std::unique_ptr<file::ParquetReader>();
    at = next_++;
  }
  const Morsel& morsel = snapshot_.morsels_[at];
  const std::string path =
      sys::JoinPath(snapshot_.folder_, snapshot_.manifest_.parts[morsel.part].path);
  return file::OpenRowGroup(path, morsel.group, batch_rows, blocks);
}

}  // namespace weir::feed
