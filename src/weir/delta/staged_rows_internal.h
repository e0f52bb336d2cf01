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
    if (room_ < Record::TotalBytes(size, key_size)) [[unlikely]] {
      WEIR_DO(OpenNext(pool, page_bytes, Record::TotalBytes(size, key_size)));
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
  /// Takes over the rows of another. Requires: both closed.
  void Append(StagedRows other) {
    for (mem::Page& page : other.pages_) pages_.push_back(std::move(page));
    count_ += other.count_;
  }
  /// Every record, page by page; a page is gone as soon as `take` has had its records.
  /// Errors: of mem::Page::Read and `take`. Requires: closed.
  template <typename Take>
  Status TakeEach(Take take) {
    count_ = 0;
    for (mem::Page& page : std::exchange(pages_, {})) {
      const mem::Page owned = std::move(page);
      WEIR_TRY(const mem::PageGuard guard, owned.Read());
      const RecordSpan records = RecordsOf(guard.bytes());
      for (const uint8_t* at = records.begin; at != records.end;) {
        const Record record = Record::At(at);
        WEIR_DO(take(record));
        at = record.end();
      }
    }
    return Ok();
  }

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
