#include "weir/feed/tpch_ticks.h"

#include <map>
#include <string>

#include "weir/table/row_codec.h"

namespace weir::feed {
namespace {

using Rows = std::map<std::string, int64_t>;

class TpchTicksTest : public testing::Test {
 protected:
  template <typename Append>
  void AddTo(Rows& rows, TpchTable table, int64_t diff, Append append) {
    const table::Schema& schema = TpchSchema(table);
    std::vector<table::ColumnBuilder> builders;
    std::vector<int> columns;
    for (const auto& column : schema.columns) {
      columns.push_back(static_cast<int>(builders.size()));
      builders.emplace_back(column.type, blocks_);
    }
    append(builders);
    table::Batch batch;
    batch.row_count = builders[0].length();
    for (auto& builder : builders) batch.columns.push_back(builder.Finish());
    table::EncodedRows encoded(blocks_);
    table::RowCodec(schema, columns, {}).Encode(batch, 0, batch.row_count, encoded);
    for (int64_t at = 0; at < encoded.row_count; ++at) {
      const std::string row(AsText(encoded.row(at)));
      if ((rows[row] += diff) == 0) rows.erase(row);
    }
  }

  mem::Budget budget_{"test", mem::kUnlimited};
  mem::BlockAllocator blocks_{budget_, 0};
  TpchGenerator generator_{0.001, 7};
};

// Goal:   a tick takes away rows that are there, and only those: no row ever counts less than zero,
//         and every order is there once.
// Method: the tables as maps, over so many ticks that most orders change more than once.
TEST_F(TpchTicksTest, EveryTickReplacesWhatIsThere) {
  const int64_t orders = generator_.UnitCount(TpchTable::kOrders);
  for (const TpchTable table : {TpchTable::kOrders, TpchTable::kLineitem}) {
    Rows rows;
    AddTo(rows, table, 1,
          [&](auto& builders) { generator_.Append(table, 0, orders, 0, builders); });
    TpchTicks ticks(generator_, 3);
    for (int64_t tick = 0; tick < 2 * orders; ++tick) {
      const TpchTick change = ticks.Next();
      EXPECT_EQ(change.new_version, change.old_version + 1);
      AddTo(rows, table, -1, [&](auto& builders) { ticks.AppendOld(change, table, builders); });
      AddTo(rows, table, 1, [&](auto& builders) { ticks.AppendNew(change, table, builders); });
    }
    EXPECT_EQ(ticks.tick_count(), 2 * orders);
    for (const auto& [row, count] : rows) ASSERT_EQ(count, 1);
    if (table == TpchTable::kOrders) {
      EXPECT_EQ(std::ssize(rows), orders);
    }
  }
}

TEST_F(TpchTicksTest, TheSameSeedPlaysTheSameTicks) {
  TpchTicks first(generator_, 3);
  TpchTicks second(generator_, 3);
  TpchTicks other(generator_, 4);
  int64_t differing = 0;
  for (int tick = 0; tick < 100; ++tick) {
    const TpchTick change = first.Next();
    EXPECT_EQ(second.Next().unit, change.unit);
    differing += other.Next().unit != change.unit ? 1 : 0;
  }
  EXPECT_GT(differing, 50);
}

}  // namespace
}  // namespace weir::feed
