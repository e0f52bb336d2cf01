#pragma once
// KeptTable: a table in memory, read once and scanned at will, that tells who reads it.
#include <atomic>
#include <cstring>
#include <functional>
#include <memory>
#include <optional>
#include <vector>

#include "weir/feed/source.h"

namespace weir::test {

inline std::optional<table::Buffer> CopyOf(const std::optional<table::Buffer>& from,
                                           mem::BlockAllocator& blocks) {
  if (!from.has_value()) return {};
  table::Buffer copy(blocks);
  if (from->size() > 0) {
    std::memcpy(copy.Extend(from->size()), from->data(), static_cast<size_t>(from->size()));
  }
  return copy;
}

/// Of columns without lists, which TPC-H has none of.
inline table::Batch CopyOf(const table::Batch& from, mem::BlockAllocator& blocks) {
  table::Batch copy{from.row_count, from.size_bytes, {}};
  for (const table::ColumnData& column : from.columns) {
    copy.columns.push_back({column.type, column.length, column.null_count,
                            CopyOf(column.values, blocks), CopyOf(column.offsets, blocks),
                            CopyOf(column.validity, blocks), nullptr});
  }
  return copy;
}

/// Every batch is a morsel, so that all workers get some. Test binaries that use it link weir_feed.
///
/// Threads: any.
class KeptTable final : public feed::SourceTable {
 public:
  /// `watch` is called before each batch, and where there are none left. The kept rows are charged
  /// to `blocks`.
  KeptTable(const feed::SourceTable& from, int64_t batch_rows, mem::BlockAllocator& blocks,
            std::function<void()> watch = [] {})
      : from_(from), watch_(std::move(watch)) {
    const auto scan = from.NewScan();
    while (const auto reader = scan->Next(batch_rows, blocks).value()) {
      for (;;) {
        table::Batch batch = reader->Next().value();
        if (batch.row_count == 0) break;
        batches_.push_back(std::move(batch));
      }
    }
  }

  void Watch(std::function<void()> watch) { watch_ = std::move(watch); }
  int64_t batch_count() const { return static_cast<int64_t>(batches_.size()); }
  /// Scans begun.
  int64_t scan_count() const { return scans_.load(); }

  const table::Schema& schema() const override { return from_.schema(); }
  int64_t row_count() const override { return from_.row_count(); }
  int64_t value_bytes() const override { return from_.value_bytes(); }
  std::unique_ptr<feed::TableScan> NewScan() const override {
    ++scans_;
    return std::make_unique<Scan>(*this);
  }

 private:
  class Reader final : public feed::RowReader {
   public:
    explicit Reader(table::Batch batch) : batch_(std::move(batch)) {}
    Result<table::Batch> Next() override { return std::exchange(batch_, {}); }

   private:
    table::Batch batch_;
  };
  class Scan final : public feed::TableScan {
   public:
    explicit Scan(const KeptTable& table) : table_(table) {}
    Result<std::unique_ptr<feed::RowReader>> Next(int64_t,
                                                  mem::BlockAllocator& blocks) override {
      table_.watch_();
      const auto at = static_cast<size_t>(next_++);
      if (at >= table_.batches_.size()) return std::unique_ptr<feed::RowReader>();
      return std::unique_ptr<feed::RowReader>(
          std::make_unique<Reader>(CopyOf(table_.batches_[at], blocks)));
    }

   private:
    const KeptTable& table_;
    std::atomic<int64_t> next_{0};
  };

  const feed::SourceTable& from_;
  std::function<void()> watch_;
  std::vector<table::Batch> batches_;
  mutable std::atomic<int64_t> scans_{0};
};

}  // namespace weir::test
