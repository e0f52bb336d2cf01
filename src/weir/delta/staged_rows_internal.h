#pragma once
// StagedRows: rows in pages, in the order in which they came.
#include <vector>

#include "weir/delta/record_internal.h"
#include "weir/mem/pool.h"

namespace weir::delta {

/// A page of records that begins at `begin` and ends before `end`.
struct RecordSpan {
  const uint8_t* begin;
  const uint8_t* end;
};

/// Threads: one.
class StagedRows {
 public:
  /// Errors: of mem::Pool::New; the row is not in, then.
  Status Add(mem::Pool& pool, int64_t page_bytes, const uint8_t* row, int64_t size,
             int32_t key_size) {
    if (room_ < Record::Bytes(size, key_size)) [[unlikely]] {
      WEIR_DO(OpenNext(pool, page_bytes, Record::Bytes(size, key_size)));
    }
    uint8_t* const end = Record::Put(at_, row, size, key_size);
    room_ -= end - at_;
    at_ = end;
    ++count_;
    return Ok();
  }

  int64_t count() const { return count_; }
  int64_t bytes() const;

  /// No rows will follow: the page being filled may be evicted as well.
  void Close(mem::Pool& pool);
  /// Requires: closed.
  const std::vector<mem::Page>& pages() const { return pages_; }
  std::vector<mem::Page> TakePages() { return std::exchange(pages_, {}); }

  /// The records of one of pages(), whose bytes these are.
  static RecordSpan RecordsOf(Bytes page);

 private:
  // In front of the records, as a number of eight bytes: where they end.
  static constexpr int64_t kHeaderBytes = 8;

  Status OpenNext(mem::Pool& pool, int64_t page_bytes, int64_t record_bytes);

  uint8_t* at_ = nullptr;
  int64_t room_ = 0;  // Up to the slack at the end of the page.
  int64_t count_ = 0;
  mem::OpenPage open_;
  std::vector<mem::Page> pages_;
};

}  // namespace weir::delta
