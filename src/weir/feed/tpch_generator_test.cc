#include "weir/feed/tpch_generator.h"

#include <algorithm>
#include <map>
#include <set>
#include <string>
#include <vector>

namespace weir::feed {
namespace {

constexpr double kScaleFactor = 0.01;
constexpr uint64_t kSeed = 7;

class TpchGeneratorTest : public testing::Test {
 protected:
  // Columns of all rows of some units.
  std::vector<table::ColumnData> Rows(TpchTable table, int64_t begin, int64_t end,
                                      uint64_t version = 0) {
    std::vector<table::ColumnBuilder> builders;
    for (const auto& column : TpchSchema(table).columns) {
      builders.emplace_back(column.type, blocks_);
    }
    generator_.Append(table, begin, end, version, builders);
    std::vector<table::ColumnData> columns;
    for (auto& builder : builders) columns.push_back(builder.Finish());
    for (const auto& column : columns) EXPECT_EQ(column.length, columns[0].length);
    return columns;
  }
  std::vector<table::ColumnData> All(TpchTable table) {
    return Rows(table, 0, generator_.UnitCount(table));
  }
  static std::string Text(const table::ColumnData& column, int64_t row) {
    return std::string(AsText(column.BytesAt(row)));
  }

  mem::Budget budget_{"test", mem::kUnlimited};
  mem::BlockAllocator blocks_{budget_, 0};
  TpchGenerator generator_{kScaleFactor, kSeed};
};

TEST_F(TpchGeneratorTest, TablesHaveTheSpecifiedRows) {
  const std::map<TpchTable, int64_t> rows = {
      {TpchTable::kRegion, 5},     {TpchTable::kNation, 25},     {TpchTable::kSupplier, 100},
      {TpchTable::kPart, 2000},    {TpchTable::kPartsupp, 8000}, {TpchTable::kCustomer, 1500},
      {TpchTable::kOrders, 15000}};
  for (const auto& [table, count] : rows) {
    EXPECT_EQ(All(table)[0].length, count) << TpchTableName(table);
  }
  // One to seven items an order, four on average.
  EXPECT_NEAR(static_cast<double>(All(TpchTable::kLineitem)[0].length), 60'000, 600);
}

TEST_F(TpchGeneratorTest, ARowIsTheSameHoweverItIsAskedFor) {
  for (int at = 0; at < kTpchTableCount; ++at) {
    const auto table = static_cast<TpchTable>(at);
    const int64_t last = generator_.UnitCount(table);
    const auto all = Rows(table, 0, last);
    const auto tail = Rows(table, last - 2, last);
    for (size_t column = 0; column < all.size(); ++column) {
      const int64_t shift = all[column].length - tail[column].length;
      for (int64_t row = 0; row < tail[column].length; ++row) {
        if (tail[column].offsets.has_value()) {
          EXPECT_EQ(Text(all[column], row + shift), Text(tail[column], row));
        } else {
          const int64_t width = table::FixedWidth(tail[column].type.kind);
          EXPECT_EQ(std::memcmp(all[column].values->data() + (row + shift) * width,
                                tail[column].values->data() + row * width,
                                static_cast<size_t>(width)),
                    0);
        }
      }
    }
  }
  const TpchGenerator other(kScaleFactor, kSeed + 1);
  EXPECT_NE(Text(All(TpchTable::kPart)[1], 0), [&] {
    std::vector<table::ColumnBuilder> builders;
    for (const auto& column : TpchSchema(TpchTable::kPart).columns) {
      builders.emplace_back(column.type, blocks_);
    }
    other.Append(TpchTable::kPart, 0, 1, 0, builders);
    return Text(builders[1].Finish(), 0);
  }());
}

// Clause 4.2.3: totals, states and dates of an order follow from its items.
TEST_F(TpchGeneratorTest, OrdersAgreeWithTheirItems) {
  for (const uint64_t version : {0, 3}) {
    const auto orders = Rows(TpchTable::kOrders, 0, 2000, version);
    const auto items = Rows(TpchTable::kLineitem, 0, 2000, version);
    std::map<int64_t, std::vector<int64_t>> items_of;
    for (int64_t row = 0; row < items[0].length; ++row) {
      items_of[items[0].At<int64_t>(row)].push_back(row);
    }
    for (int64_t row = 0; row < orders[0].length; ++row) {
      const auto& own = items_of.at(orders[0].At<int64_t>(row));
      ASSERT_GE(own.size(), 1u);
      ASSERT_LE(own.size(), 7u);
      __int128 total = 0;
      size_t open = 0;
      for (size_t at = 0; at < own.size(); ++at) {
        const int64_t item = own[at];
        EXPECT_EQ(items[3].At<int32_t>(item), static_cast<int32_t>(at) + 1);
        total += items[5].At<__int128>(item) * (100 - items[6].At<__int128>(item)) / 100 *
                 (100 + items[7].At<__int128>(item)) / 100;
        open += Text(items[9], item) == "O" ? 1 : 0;
        const int32_t shipped = items[10].At<int32_t>(item) - orders[4].At<int32_t>(row);
        EXPECT_TRUE(shipped >= 1 && shipped <= 121) << shipped;
      }
      EXPECT_TRUE(orders[3].At<__int128>(row) == total);
      EXPECT_EQ(Text(orders[2], row), open == 0 ? "F" : open == own.size() ? "O" : "P");
    }
  }
}

TEST_F(TpchGeneratorTest, KeysReferToRowsThatAreThere) {
  std::set<std::pair<int64_t, int64_t>> supplies;
  const auto partsupp = All(TpchTable::kPartsupp);
  for (int64_t row = 0; row < partsupp[0].length; ++row) {
    const int64_t supplier = partsupp[1].At<int64_t>(row);
    EXPECT_TRUE(supplier >= 1 && supplier <= 100) << supplier;
    EXPECT_TRUE(supplies.emplace(partsupp[0].At<int64_t>(row), supplier).second);
  }
  const auto items = All(TpchTable::kLineitem);
  for (int64_t row = 0; row < items[0].length; ++row) {
    ASSERT_TRUE(supplies.contains({items[1].At<int64_t>(row), items[2].At<int64_t>(row)}));
  }
  std::set<int64_t> keys;
  std::set<int64_t> customers;
  const auto orders = All(TpchTable::kOrders);
  for (int64_t row = 0; row < orders[0].length; ++row) {
    EXPECT_TRUE(keys.insert(orders[0].At<int64_t>(row)).second);
    EXPECT_LT(orders[0].At<int64_t>(row) % 32, 8);
    customers.insert(orders[1].At<int64_t>(row));
  }
  EXPECT_EQ(*customers.begin(), 1);
  EXPECT_EQ(*customers.rbegin(), 1499);
  EXPECT_EQ(customers.size(), 1000u);  // A third of them never orders.
}

// What the standard queries look for is there to be found.
TEST_F(TpchGeneratorTest, TheQueriesParametersOccur) {
  const auto orders = All(TpchTable::kOrders);
  int64_t special_requests = 0;
  for (int64_t row = 0; row < orders[0].length; ++row) {
    const std::string comment = Text(orders[8], row);
    EXPECT_TRUE(comment.size() >= 19 && comment.size() <= 78);
    const size_t special = comment.find("special");
    special_requests += comment.find("requests", special) != std::string::npos &&
                        special != std::string::npos;
  }
  EXPECT_TRUE(special_requests > 20 && special_requests < 1500) << special_requests;
  const auto parts = All(TpchTable::kPart);
  int64_t green = 0;
  for (int64_t row = 0; row < parts[0].length; ++row) {
    green += Text(parts[1], row).find("green") != std::string::npos;
  }
  EXPECT_NEAR(static_cast<double>(green), 2000 * 5 / 92.0, 40);
  const TpchGenerator larger(1, kSeed);
  std::vector<table::ColumnBuilder> builders;
  for (const auto& column : TpchSchema(TpchTable::kSupplier).columns) {
    builders.emplace_back(column.type, blocks_);
  }
  larger.Append(TpchTable::kSupplier, 0, 10'000, 0, builders);
  const table::ColumnData comments = builders[6].Finish();
  int64_t complaints = 0;
  int64_t praises = 0;
  for (int64_t row = 0; row < comments.length; ++row) {
    complaints += Text(comments, row).starts_with("Customer x Complaints");
    praises += Text(comments, row).starts_with("Customer x Recommends");
  }
  EXPECT_EQ(complaints, 5);
  EXPECT_EQ(praises, 5);
}

}  // namespace
}  // namespace weir::feed
