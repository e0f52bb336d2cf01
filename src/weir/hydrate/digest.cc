#include "weir/hydrate/digest.h"

#include "weir/base/assert.h"
#include "weir/file/content_hash.h"

namespace weir::hydrate {

Result<std::string> ContentHashOf(const Index& index, delta::Time time,
                                  mem::BlockAllocator& blocks, const sys::Stop& stop) {
  constexpr int64_t kBatchRows = 1'024;
  constexpr int64_t kBatchBytes = 16 << 20;
  auto builders = table::BuildersFor(index.schema(), blocks);
  file::ContentHash hash;
  WEIR_TRY(const auto cursor, index.ReadAt(time, {}));
  int64_t rows = 0;
  int64_t bytes = 0;
  const auto add_batch = [&] {
    if (rows > 0) hash.Add(table::FinishBatch(builders));
    rows = bytes = 0;
  };
  for (delta::Update update;;) {
    WEIR_TRY(const bool more, cursor->Next(update));
    if (!more) break;
    WEIR_ASSERT(update.diff > 0);
    for (delta::Diff copy = 0; copy < update.diff; ++copy) {
      index.codec().Decode({&update.row, 1}, builders);
      bytes += std::ssize(update.row);
      if (++rows < kBatchRows && bytes < kBatchBytes) continue;
      add_batch();
      WEIR_DO(stop.Check());
    }
  }
  add_batch();
  return fmt::format("{}:{}", hash.row_count(), hash.Text());
}

}  // namespace weir::hydrate
