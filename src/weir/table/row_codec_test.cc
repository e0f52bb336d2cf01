#include "weir/table/row_codec.h"

#include <cmath>
#include <compare>
#include <cstring>
#include <random>
#include <string>

#include "tests/support/seeds.h"

namespace weir::table {
namespace {

constexpr int kKinds = static_cast<int>(Kind::kList) + 1;

Type RandomType(std::mt19937_64& rng, int kinds) {
  Type type;
  type.kind = static_cast<Kind>(rng() % static_cast<uint64_t>(kinds));
  if (type.kind == Kind::kDecimal) type.precision = 38;
  if (type.kind == Kind::kList) {
    type.element = std::make_shared<const Type>(RandomType(rng, kKinds - 1));
  }
  return type;
}

// Few bytes, or many: edges of every length a value can have.
__int128 RandomInt(std::mt19937_64& rng, int bits) {
  unsigned __int128 value = rng();
  value = value << 64 | rng();
  const int kept = 1 + static_cast<int>(rng() % static_cast<uint64_t>(bits));
  const auto low = static_cast<__int128>(value << (128 - kept)) >> (128 - kept);
  const auto near = static_cast<__int128>(rng() % 3) - 1;
  const auto edge = (static_cast<__int128>(1) << (kept - 1)) - 1;
  return rng() % 4 == 0 ? std::max(std::min(near + edge, edge), -edge - 1) : low;
}

std::string RandomText(std::mt19937_64& rng) {
  constexpr size_t kSizes[] = {0, 1, 2, 7, 8, 9, 30, 239, 240, 241, 255, 256, 70'000};
  std::string text(kSizes[rng() % (rng() % 8 == 0 ? std::size(kSizes) : 6)], 'x');
  for (char& letter : text) {
    letter = static_cast<char>(rng() % 3 == 0 ? rng() % 3 : 'a' + rng() % 2);
  }
  return text;
}

double RandomFloat(std::mt19937_64& rng) {
  constexpr double kSpecial[] = {0.0, -0.0, INFINITY, -INFINITY, 1.0, -1.0, 5e-324, -5e-324};
  if (rng() % 2 == 0) return kSpecial[rng() % std::size(kSpecial)];
  return std::ldexp(static_cast<double>(static_cast<int64_t>(rng())),
                    static_cast<int>(rng() % 200) - 100);
}

void AppendRandom(std::mt19937_64& rng, ColumnBuilder& builder, bool nullable) {
  if (nullable && rng() % 4 == 0) return builder.AppendNull();
  switch (builder.type().kind) {
    case Kind::kBool: return builder.AppendValue(static_cast<uint8_t>(rng() % 2));
    case Kind::kInt16: return builder.AppendValue(static_cast<int16_t>(RandomInt(rng, 16)));
    case Kind::kInt32:
    case Kind::kDate: return builder.AppendValue(static_cast<int32_t>(RandomInt(rng, 32)));
    case Kind::kInt64:
    case Kind::kTime:
    case Kind::kTimestamp:
    case Kind::kTimestampTz: return builder.AppendValue(static_cast<int64_t>(RandomInt(rng, 64)));
    case Kind::kDecimal: return builder.AppendValue(RandomInt(rng, 127));
    case Kind::kFloat32: return builder.AppendValue(static_cast<float>(RandomFloat(rng)));
    case Kind::kFloat64: return builder.AppendValue(RandomFloat(rng));
    case Kind::kText:
    case Kind::kJson:
    case Kind::kBinary: {
      const std::string text = RandomText(rng);
      return builder.AppendBytes(AsBytes(text).data(), static_cast<int64_t>(text.size()));
    }
    case Kind::kUuid: {
      const uint64_t halves[2] = {rng() % 2 == 0 ? 0xffu : rng() % 3, rng() % 3};
      std::memcpy(builder.AppendFixed(16), halves, 16);
      return;
    }
    case Kind::kList:
      for (uint64_t left = rng() % 4; left > 0; --left) {
        AppendRandom(rng, builder.element(), true);
      }
      return builder.AppendList();
  }
}

template <typename T>
std::strong_ordering CompareAs(const ColumnData& data, int64_t a, int64_t b) {
  return data.At<T>(a) <=> data.At<T>(b);
}

template <typename T>
std::strong_ordering CompareFloats(const ColumnData& data, int64_t a, int64_t b) {
  return std::strong_order(data.At<T>(a), data.At<T>(b));
}

std::strong_ordering CompareBytes(Bytes a, Bytes b) {
  return AsText(a).compare(AsText(b)) <=> 0;
}

// The order as the header states it, from the values themselves.
std::strong_ordering Compare(const ColumnData& data, int64_t a, int64_t b, bool in_key) {
  if (data.IsNull(a) || data.IsNull(b)) return data.IsNull(a) <=> data.IsNull(b);
  switch (data.type.kind) {
    case Kind::kBool: return CompareAs<uint8_t>(data, a, b);
    case Kind::kInt16: return CompareAs<int16_t>(data, a, b);
    case Kind::kInt32:
    case Kind::kDate: return CompareAs<int32_t>(data, a, b);
    case Kind::kInt64:
    case Kind::kTime:
    case Kind::kTimestamp:
    case Kind::kTimestampTz: return CompareAs<int64_t>(data, a, b);
    case Kind::kDecimal: return CompareAs<__int128>(data, a, b);
    case Kind::kFloat32: return CompareFloats<float>(data, a, b);
    case Kind::kFloat64: return CompareFloats<double>(data, a, b);
    case Kind::kUuid:
      return CompareBytes({data.values->data() + a * 16, 16}, {data.values->data() + b * 16, 16});
    case Kind::kText:
    case Kind::kJson:
    case Kind::kBinary: {
      const Bytes left = data.BytesAt(a);
      const Bytes right = data.BytesAt(b);
      if (!in_key && left.size() != right.size()) return left.size() <=> right.size();
      return CompareBytes(left, right);
    }
    case Kind::kList: {
      int32_t left = data.OffsetAt(a);
      int32_t right = data.OffsetAt(b);
      for (; left < data.OffsetAt(a + 1) && right < data.OffsetAt(b + 1); ++left, ++right) {
        const auto order = Compare(*data.element, left, right, in_key);
        if (order != 0) return order;
      }
      return data.OffsetAt(a + 1) - left <=> data.OffsetAt(b + 1) - right;
    }
  }
  return std::strong_ordering::equal;
}

std::strong_ordering CompareEncoded(Bytes a, Bytes b) {
  const int order = std::memcmp(a.data(), b.data(), std::min(a.size(), b.size()));
  return order == 0 ? a.size() <=> b.size() : order <=> 0;
}

class RowCodecTest : public testing::Test {
 protected:
  // A random table, its rows encoded, some columns as the key, some left out.
  struct Table {
    Schema schema;
    Batch batch;
    std::vector<int> key;
    std::vector<int> value;
    std::unique_ptr<EncodedRows> rows;
  };

  Table RandomTable(std::mt19937_64& rng, int64_t row_count) {
    Table table;
    std::vector<ColumnBuilder> builders;
    const int column_count = 1 + static_cast<int>(rng() % 6);
    for (int at = 0; at < column_count; ++at) {
      Column column;
      column.type = RandomType(rng, kKinds);
      column.nullable = rng() % 2 == 0;
      builders.emplace_back(column.type, blocks_);
      if (rng() % 5 != 0) (rng() % 2 == 0 ? table.key : table.value).push_back(at);
      table.schema.columns.push_back(std::move(column));
    }
    std::shuffle(table.key.begin(), table.key.end(), rng);
    table.batch.row_count = row_count;
    for (int at = 0; at < column_count; ++at) {
      const bool nullable = table.schema.columns[static_cast<size_t>(at)].nullable;
      auto& builder = builders[static_cast<size_t>(at)];
      for (int64_t row = 0; row < row_count; ++row) AppendRandom(rng, builder, nullable);
      table.batch.columns.push_back(builder.Finish());
    }
    table.rows = std::make_unique<EncodedRows>(blocks_);
    const RowCodec codec(table.schema, table.key, table.value);
    const auto half = static_cast<int64_t>(rng() % static_cast<uint64_t>(row_count + 1));
    codec.Encode(table.batch, 0, half, *table.rows);
    codec.Encode(table.batch, half, row_count, *table.rows);
    return table;
  }

  // Order of two rows by the columns that they hold; `keys_only` by those of the key.
  static std::strong_ordering CompareRows(const Table& table, int64_t a, int64_t b,
                                          bool keys_only) {
    for (const int at : table.key) {
      const auto order = Compare(table.batch.columns[static_cast<size_t>(at)], a, b, true);
      if (order != 0) return order;
    }
    for (const int at : keys_only ? std::vector<int>() : table.value) {
      const auto order = Compare(table.batch.columns[static_cast<size_t>(at)], a, b, false);
      if (order != 0) return order;
    }
    return std::strong_ordering::equal;
  }

  mem::Budget budget_{"test", mem::kUnlimited};
  mem::BlockAllocator blocks_{budget_, 0};
};

TEST_F(RowCodecTest, BytesOrderAsValuesDo) {
  for (const uint64_t seed : test::Seeds(60)) {
    SCOPED_TRACE(fmt::format("to repeat: WEIR_SEED={}", seed));
    std::mt19937_64 rng(seed);
    const Table table = RandomTable(rng, 30);
    for (int64_t a = 0; a < table.batch.row_count; ++a) {
      for (int64_t b = 0; b < table.batch.row_count; ++b) {
        const Bytes left = table.rows->row(a);
        const Bytes right = table.rows->row(b);
        ASSERT_EQ(CompareEncoded(left, right), CompareRows(table, a, b, false)) << a << " " << b;
        const Bytes left_key = left.first(static_cast<size_t>(table.rows->key_size(a)));
        const Bytes right_key = right.first(static_cast<size_t>(table.rows->key_size(b)));
        ASSERT_EQ(CompareEncoded(left_key, right_key), CompareRows(table, a, b, true));
        const bool prefix = left.size() < right.size() &&
                            std::memcmp(left.data(), right.data(), left.size()) == 0;
        ASSERT_FALSE(prefix && !left.empty()) << a << " begins " << b;
      }
    }
  }
}

TEST_F(RowCodecTest, RowsComeBackAsTheyWere) {
  for (const uint64_t seed : test::Seeds(60)) {
    SCOPED_TRACE(fmt::format("to repeat: WEIR_SEED={}", seed));
    std::mt19937_64 rng(seed);
    const Table table = RandomTable(rng, seed % 4 == 0 ? 700 : 50);
    const RowCodec codec(table.schema, table.key, table.value);
    std::vector<ColumnBuilder> builders;
    for (const Column& column : table.schema.columns) builders.emplace_back(column.type, blocks_);
    std::vector<Bytes> rows;
    for (int64_t row = 0; row < table.batch.row_count; ++row) {
      rows.push_back(table.rows->row(row));
    }
    const size_t alone = rng() % (rows.size() + 1);  // Some one by one, the rest together.
    for (size_t row = 0; row < alone; ++row) codec.Decode({&rows[row], 1}, builders);
    codec.Decode(std::span(rows).subspan(alone), builders);
    for (const auto& columns : {table.key, table.value}) {
      for (const int at : columns) {
        const auto& before = table.batch.columns[static_cast<size_t>(at)];
        const ColumnData after = builders[static_cast<size_t>(at)].Finish();
        ASSERT_EQ(after.length, before.length);
        ASSERT_EQ(after.null_count, before.null_count);
        ASSERT_EQ(after.values.has_value(), before.values.has_value());
        if (before.values.has_value()) {
          EXPECT_EQ(AsText(after.values->bytes()), AsText(before.values->bytes()));
        }
        for (int64_t row = 0; row < before.length; ++row) {
          ASSERT_EQ(after.IsNull(row), before.IsNull(row));
          if (before.offsets.has_value()) {
            ASSERT_EQ(after.OffsetAt(row), before.OffsetAt(row));
          }
        }
      }
    }
  }
}

// The bytes that docs/formats/rows.md shows.
TEST_F(RowCodecTest, BytesAreAsDocumented) {
  Schema schema;
  for (const Kind kind : {Kind::kInt32, Kind::kText, Kind::kText, Kind::kFloat64}) {
    Column column;
    column.type.kind = kind;
    column.nullable = kind == Kind::kFloat64;
    schema.columns.push_back(column);
  }
  std::vector<ColumnBuilder> builders;
  for (const Column& column : schema.columns) builders.emplace_back(column.type, blocks_);
  builders[0].AppendValue(int32_t{-300});
  builders[1].AppendBytes(AsBytes("a\1b").data(), 3);
  builders[2].AppendBytes(AsBytes("hi").data(), 2);
  builders[3].AppendNull();
  Batch batch;
  batch.row_count = 1;
  for (auto& builder : builders) batch.columns.push_back(builder.Finish());
  EncodedRows rows(blocks_);
  RowCodec(schema, {1, 0}, {2, 3}).Encode(batch, 0, 1, rows);
  const std::vector<uint8_t> want = {'a', 1, 2, 'b', 0, 0x7d, 0xfe, 0xd4, 2, 'h', 'i', 0xff};
  EXPECT_EQ(AsText(rows.row(0)), AsText(want));
  EXPECT_EQ(rows.key_size(0), 8);
}

}  // namespace
}  // namespace weir::table
