#include <algorithm>

#include "weir/delta/staged_rows_internal.h"

namespace weir::delta {

Status StagedRows::OpenNext(mem::Pool& pool, int64_t page_bytes, int64_t record_bytes) {
  const int64_t frame = kHeaderBytes + table::kRowSlack;
  WEIR_TRY(mem::OpenPage next, pool.New(std::max(page_bytes, frame + record_bytes)));
  Close(pool);
  open_ = std::move(next);
  at_ = open_.data() + kHeaderBytes;
  room_ = open_.capacity() - frame;
  return Ok();
}

void StagedRows::Close(mem::Pool& pool) {
  if (!open_) return;
  const int64_t end = at_ - open_.data();
  std::memcpy(open_.data(), &end, sizeof end);
  constexpr int kYoungest = 0;
  pages_.push_back(pool.Seal(std::move(open_), end + table::kRowSlack, kYoungest));
  open_ = mem::OpenPage();
  room_ = 0;
}

int64_t StagedRows::bytes() const {
  int64_t bytes = 0;
  for (const mem::Page& page : pages_) bytes += page.size_bytes();
  return bytes;
}

RecordSpan StagedRows::RecordsOf(Bytes page) {
  int64_t end;
  std::memcpy(&end, page.data(), sizeof end);
  return {page.data() + kHeaderBytes, page.data() + end};
}

}  // namespace weir::delta
