#include "weir/feed/tpch_source.h"

#include <atomic>

#include "weir/feed/tpch_generator.h"
#include "weir/feed/tpch_ticks.h"

namespace weir::feed {
namespace {

constexpr int64_t kMorselUnits = 16 << 10;
constexpr int64_t kSampledUnits = 64;

// Orders and their lines have the versions that the ticks gave them; the rest never changes.
uint64_t VersionOf(const TpchTicks& ticks, TpchTable table, int64_t unit) {
  const bool changes = table == TpchTable::kOrders || table == TpchTable::kLineitem;
  return changes ? ticks.VersionOf(unit) : 0;
}

// Units [begin, end) of a table.
class TpchReader final : public RowReader {
 public:
  TpchReader(const TpchGenerator& generator, const TpchTicks& ticks, TpchTable table,
             int64_t begin, int64_t end, int64_t batch_rows, mem::BlockAllocator& blocks)
      : generator_(generator),
        ticks_(ticks),
        table_(table),
        next_(begin),
        end_(end),
        batch_rows_(batch_rows),
        builders_(table::BuildersFor(TpchSchema(table), blocks)) {}

  Result<table::Batch> Next() override {
    while (next_ < end_ && builders_[0].length() < batch_rows_) {
      generator_.Append(table_, next_, next_ + 1, VersionOf(ticks_, table_, next_), builders_);
      ++next_;
    }
    return table::FinishBatch(builders_);
  }

 private:
  const TpchGenerator& generator_;
  const TpchTicks& ticks_;
  const TpchTable table_;
  int64_t next_;
  const int64_t end_;
  const int64_t batch_rows_;
  std::vector<table::ColumnBuilder> builders_;
};

class TpchScan final : public TableScan {
 public:
  TpchScan(const TpchGenerator& generator, const TpchTicks& ticks, TpchTable table)
      : generator_(generator), ticks_(ticks), table_(table) {}

  Result<std::unique_ptr<RowReader>> Next(int64_t batch_rows,
                                          mem::BlockAllocator& blocks) override {
    const int64_t units = generator_.UnitCount(table_);
    const int64_t begin = next_.fetch_add(kMorselUnits);
    if (begin >= units) return std::unique_ptr<RowReader>();
    return std::unique_ptr<RowReader>(
        std::make_unique<TpchReader>(generator_, ticks_, table_, begin,
                                     std::min(begin + kMorselUnits, units), batch_rows, blocks));
  }

 private:
  const TpchGenerator& generator_;
  const TpchTicks& ticks_;
  const TpchTable table_;
  std::atomic<int64_t> next_{0};
};

class TpchSourceTable final : public SourceTable {
 public:
  TpchSourceTable(const TpchGenerator& generator, const TpchTicks& ticks, TpchTable table)
      : generator_(generator), ticks_(ticks), table_(table) {
    const int64_t units = generator.UnitCount(table);
    int64_t rows = 0;
    for (int64_t unit = 0; unit < units; ++unit) rows += generator.RowCount(table, unit, 0);
    row_count_ = rows;
    mem::Budget budget("sample", mem::kUnlimited);
    mem::BlockAllocator blocks(budget, 0);
    auto builders = table::BuildersFor(TpchSchema(table), blocks);
    generator.Append(table, 0, std::min(units, kSampledUnits), 0, builders);
    const table::Batch sample = table::FinishBatch(builders);
    value_bytes_ = sample.size_bytes * rows / std::max<int64_t>(1, sample.row_count);
  }

  const table::Schema& schema() const override { return TpchSchema(table_); }
  int64_t row_count() const override { return row_count_; }
  int64_t value_bytes() const override { return value_bytes_; }
  std::unique_ptr<TableScan> NewScan() const override {
    return std::make_unique<TpchScan>(generator_, ticks_, table_);
  }
  void NoteChange(int64_t rows) { row_count_ += rows; }

 private:
  const TpchGenerator& generator_;
  const TpchTicks& ticks_;
  const TpchTable table_;
  std::atomic<int64_t> row_count_{0};
  int64_t value_bytes_ = 0;
};

class TpchSource final : public Source {
 public:
  explicit TpchSource(const TpchSourceOptions& options)
      : generator_(options.scale_factor, options.seed),
        ticks_(generator_, options.seed),
        tick_interval_(options.tick_interval) {
    for (int at = 0; at < kTpchTableCount; ++at) {
      tables_.push_back(
          std::make_unique<TpchSourceTable>(generator_, ticks_, static_cast<TpchTable>(at)));
    }
  }

  std::vector<std::string> TableNames() const override {
    std::vector<std::string> names;
    for (int at = 0; at < kTpchTableCount; ++at) {
      names.emplace_back(TpchTableName(static_cast<TpchTable>(at)));
    }
    return names;
  }
  const SourceTable* Find(std::string_view table) const override {
    for (int at = 0; at < kTpchTableCount; ++at) {
      if (TpchTableName(static_cast<TpchTable>(at)) == table) {
        return tables_[static_cast<size_t>(at)].get();
      }
    }
    return nullptr;
  }
  std::optional<sys::Duration> tick_interval() const override { return tick_interval_; }

  std::vector<TableChange> NextTick(mem::BlockAllocator& blocks) override {
    const TpchTick tick = ticks_.Next();
    std::vector<TableChange> changes;
    for (const TpchTable table : {TpchTable::kOrders, TpchTable::kLineitem}) {
      auto builders = table::BuildersFor(TpchSchema(table), blocks);
      ticks_.AppendOld(tick, table, builders);
      changes.push_back({std::string(TpchTableName(table)), table::FinishBatch(builders), -1});
      ticks_.AppendNew(tick, table, builders);
      changes.push_back({std::string(TpchTableName(table)), table::FinishBatch(builders), 1});
      const int64_t gone = changes[changes.size() - 2].rows.row_count;
      tables_[static_cast<size_t>(table)]->NoteChange(changes.back().rows.row_count - gone);
    }
    return changes;
  }

 private:
  const TpchGenerator generator_;
  TpchTicks ticks_;
  const std::optional<sys::Duration> tick_interval_;
  std::vector<std::unique_ptr<TpchSourceTable>> tables_;
};

}  // namespace

std::unique_ptr<Source> NewTpchSource(const TpchSourceOptions& options) {
  return std::make_unique<TpchSource>(options);
}

}  // namespace weir::feed
