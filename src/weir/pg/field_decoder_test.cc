#include "weir/pg/field_decoder.h"

#include <cmath>
#include <limits>
#include <random>

#include "tests/support/copy_stream.h"
#include "tests/support/postgres.h"
#include "tests/support/seeds.h"

namespace weir::pg {
namespace {

using table::Kind;
using test::Big16;
using test::Big32;
using test::Big64;

// A server and what it sends of a SELECT, decoded.
class FieldDecoderTest : public testing::Test {
 protected:
  FieldDecoderTest()
      : connection_(
            Connection::Open(Target::Parse(db_.url()).value(), "weir/test", never_).value()) {}

  // All rows of `select` in one batch; the failure's message when there is one.
  Result<table::Batch> Decode(const std::string& select) {
    CopyParser parser(test::ColumnsOf(*connection_, select), blocks_, 1 << 20);
    WEIR_DO(parser.Feed(AsBytes(test::CaptureCopy(*connection_, select))));
    WEIR_DO(parser.End());
    return parser.TakeBatch();
  }
  table::ColumnData One(const std::string& value) {
    auto batch = Decode("SELECT " + value);
    EXPECT_TRUE(batch.ok()) << value;
    return std::move(batch.value().columns[0]);
  }
  std::string FailureOf(const std::string& value) {
    const auto batch = Decode("SELECT " + value + " AS c");
    return batch.ok() ? "decoded" : batch.error().message;
  }

  test::Database db_;
  sys::Stop never_;
  std::unique_ptr<Connection> connection_;
  mem::Budget budget_{"test", mem::kUnlimited};
  mem::BlockAllocator blocks_{budget_, 0};
};

TEST_F(FieldDecoderTest, IntegersKeepTheirEnds) {
  EXPECT_EQ(One("(-32768)::int2").At<int16_t>(0), INT16_MIN);
  EXPECT_EQ(One("32767::int2").At<int16_t>(0), INT16_MAX);
  EXPECT_EQ(One("(-2147483648)::int4").At<int32_t>(0), INT32_MIN);
  EXPECT_EQ(One("2147483647").At<int32_t>(0), INT32_MAX);
  EXPECT_EQ(One("'-9223372036854775808'::int8").At<int64_t>(0), INT64_MIN);
  EXPECT_EQ(One("9223372036854775807").At<int64_t>(0), INT64_MAX);
  EXPECT_EQ(One("true").At<uint8_t>(0), 1);
  EXPECT_EQ(One("false").At<uint8_t>(0), 0);
}

TEST_F(FieldDecoderTest, FloatsKeepTheirBits) {
  EXPECT_TRUE(std::isnan(One("'NaN'::float8").At<double>(0)));
  EXPECT_EQ(One("'-Infinity'::float8").At<double>(0), -std::numeric_limits<double>::infinity());
  EXPECT_EQ(One("'Infinity'::float4").At<float>(0), std::numeric_limits<float>::infinity());
  EXPECT_TRUE(std::signbit(One("'-0'::float8").At<double>(0)));
  EXPECT_EQ(One("'5e-324'::float8").At<double>(0), std::numeric_limits<double>::denorm_min());
  EXPECT_EQ(One("'1.7976931348623157e308'::float8").At<double>(0),
            std::numeric_limits<double>::max());
  EXPECT_EQ(One("'1e-45'::float4").At<float>(0), std::numeric_limits<float>::denorm_min());
}

TEST_F(FieldDecoderTest, DatesAndTimesCountFrom1970) {
  EXPECT_EQ(One("date '1970-01-01'").At<int32_t>(0), 0);
  EXPECT_EQ(One("date '4713-01-01 BC'").At<int32_t>(0), -2'440'550);
  EXPECT_EQ(One("date '5874897-12-31'").At<int32_t>(0), 2'145'042'905);
  EXPECT_EQ(One("time '00:00'").At<int64_t>(0), 0);
  EXPECT_EQ(One("time '23:59:59.999999'").At<int64_t>(0), 86'399'999'999);
  EXPECT_EQ(One("timestamp '1970-01-01'").At<int64_t>(0), 0);
  EXPECT_EQ(One("timestamp '1969-12-31 23:59:59.999999'").At<int64_t>(0), -1);
  EXPECT_EQ(One("timestamptz '1970-01-01 02:00+02'").At<int64_t>(0), 0);
  EXPECT_EQ(One("timestamp '294247-01-10 04:00:54.775807'").At<int64_t>(0), INT64_MAX);
  EXPECT_EQ(One("timestamp '4714-11-24 BC'").At<int64_t>(0), -210'866'803'200'000'000);
}

TEST_F(FieldDecoderTest, BytesAndTextKeepLengthAndContent) {
  EXPECT_EQ(test::ShowValue(One("''::text"), 0), "");
  EXPECT_EQ(test::ShowValue(One("NULL::text"), 0), "NULL");
  EXPECT_EQ(test::ShowValue(One("'ab'::char(5)"), 0), "ab   ");
  EXPECT_EQ(test::ShowValue(One("'naïve 🦆'::varchar(10)"), 0), "naïve 🦆");
  EXPECT_EQ(test::ShowValue(One("''::bytea"), 0), "");
  EXPECT_EQ(test::ShowValue(One("'\\x000aff'::bytea"), 0), std::string("\0\n\xff", 3));
  EXPECT_EQ(test::ShowValue(One("'a'::name"), 0), "a");
  EXPECT_EQ(test::ShowValue(One("'{ \"b\":1, \"a\":2,\"a\":3 }'::json"), 0),
            "{ \"b\":1, \"a\":2,\"a\":3 }");
  EXPECT_EQ(test::ShowValue(One("'{ \"b\":1.0, \"a\":2,\"a\":3 }'::jsonb"), 0),
            "{\"a\": 3, \"b\": 1.0}");
  const auto uuid = One("'00112233-4455-6677-8899-aabbccddeeff'::uuid");
  for (int64_t at = 0; at < 16; ++at) EXPECT_EQ(uuid.values->data()[at], at * 0x11);
}

TEST_F(FieldDecoderTest, ListsKeepNullsAndEmptiness) {
  EXPECT_EQ(test::ShowValue(One("ARRAY['a', NULL, '', 'NULL']"), 0), "[a,NULL,,NULL]");
  EXPECT_EQ(test::ShowValue(One("'{}'::int4[]"), 0), "[]");
  EXPECT_EQ(test::ShowValue(One("NULL::int4[]"), 0), "NULL");
  EXPECT_EQ(test::ShowValue(One("ARRAY[NULL]::numeric(5,1)[]"), 0), "[NULL]");
  EXPECT_EQ(test::ShowValue(One("ARRAY['{\"a\":1}'::jsonb, 'null']"), 0), "[{\"a\": 1},null]");
  EXPECT_EQ(test::ShowValue(One("ARRAY[true,false,NULL]"), 0), "[01,00,NULL]");
}

TEST_F(FieldDecoderTest, WhatTheTypeCannotSayIsNamed) {
  const std::vector<std::pair<const char*, const char*>> refused = {
      {"'infinity'::date", "infinity cannot be written as date"},
      {"'-infinity'::date", "-infinity cannot be written as date"},
      {"'infinity'::timestamp", "infinity cannot be written as timestamp"},
      {"'-infinity'::timestamptz", "-infinity cannot be written as timestamptz"},
      {"'294247-01-10 04:00:54.775808'::timestamp",
       "a time after 294247-01-10 04:00:54.775807 cannot be written as timestamp"},
      {"'294276-12-31 23:59:59.999999+00'::timestamptz",
       "a time after 294247-01-10 04:00:54.775807 cannot be written as timestamptz"},
      {"'24:00'::time", "24:00:00 cannot be written as time"},
      {"'NaN'::numeric(5,2)", "NaN cannot be written as decimal(5,2)"},
      {"'{{1,2},{3,4}}'::int4[]", "an array of 2 dimensions cannot be written as list<int32>"},
      {"'[0:1]={1,2}'::int4[]", "an array that starts at index 0 cannot be written as list<int32>"},
      {"ARRAY['infinity'::date]", "element 1, infinity, cannot be written as date"},
      {"ARRAY[1, NULL, 2, 'NaN', 'NaN']::numeric(5,2)[]",
       "element 4, NaN, cannot be written as decimal(5,2)"},
  };
  for (const auto& [value, failure] : refused) {
    EXPECT_EQ(FailureOf(value), std::string("column c, row 1: ") + failure +
                                    "; leave the column out");
  }
}

TEST_F(FieldDecoderTest, NumericsKeepTheirScale) {
  const auto value = [&](const std::string& text) { return One(text).At<__int128>(0); };
  EXPECT_TRUE(value("0::numeric(1,0)") == 0);
  EXPECT_TRUE(value("(-1.5)::numeric(4,2)") == -150);
  EXPECT_TRUE(value("12345::numeric(3,-2)") == 12300);
  EXPECT_TRUE(value("0.00123::numeric(3,5)") == 123);
  __int128 most = 1;
  for (int digit = 0; digit < 38; ++digit) most *= 10;
  const std::string nines(38, '9');
  EXPECT_TRUE(value(nines + "::numeric(38,0)") == most - 1);
  EXPECT_TRUE(value("'-0." + nines + "'::numeric(38,38)") == 1 - most);
}

// Digits as PostgreSQL prints them, from the scaled integer; the other way round than the decoder.
std::string Render(__int128 value, int scale) {
  std::string digits;
  const bool negative = value < 0;
  for (__int128 rest = negative ? -value : value; rest != 0; rest /= 10) {
    digits.insert(digits.begin(), static_cast<char>('0' + static_cast<int>(rest % 10)));
  }
  const auto least = static_cast<size_t>(scale) + 1;
  if (digits.size() < least) digits.insert(0, least - digits.size(), '0');
  if (scale > 0) digits.insert(digits.size() - static_cast<size_t>(scale), ".");
  return (negative ? "-" : "") + digits;
}

// Goal:   every numeric(p,s) decodes to the number that PostgreSQL prints.
// Method: random digits, rounded by the server to the declared type; its own text is the oracle.
TEST_F(FieldDecoderTest, RandomNumericsAgreeWithTheServersText) {
  for (const uint64_t seed : test::Seeds(10)) {
    SCOPED_TRACE(fmt::format("to repeat: WEIR_SEED={}", seed));
    std::mt19937_64 random(seed);
    const auto below = [&](int end) {
      return static_cast<int>(random() % static_cast<uint64_t>(end));
    };
    const int precision = 1 + below(38);
    const int scale = below(precision + 1);
    std::string values;
    for (int row = 0; row < 300; ++row) {
      std::string digits;
      for (int at = below(precision - scale + 1); at > 0; --at) {
        digits += static_cast<char>('0' + below(10));
      }
      digits += digits.empty() ? "0." : ".";
      for (int at = below(scale + 1); at > 0; --at) digits += static_cast<char>('0' + below(10));
      values += fmt::format("{}('{}{}')", row == 0 ? "" : ",", below(2) == 0 ? "-" : "", digits);
    }
    const auto batch = Decode(fmt::format(
        "SELECT v::numeric({0},{1}), v::numeric({0},{1})::text FROM (VALUES {2}) AS t (v)",
        precision, scale, values));
    ASSERT_TRUE(batch.ok()) << batch.error().message;
    const auto& [number, text] = std::tie(batch.value().columns[0], batch.value().columns[1]);
    for (int64_t row = 0; row < batch.value().row_count; ++row) {
      ASSERT_EQ(Render(number.At<__int128>(row), scale), AsText(text.BytesAt(row)));
    }
  }
}

// Bytes that no send function writes.
FieldFault DecodeRaw(const table::Type& type, const std::string& bytes, bool is_jsonb = false) {
  mem::Budget budget("test", mem::kUnlimited);
  mem::BlockAllocator blocks(budget, 0);
  table::ColumnBuilder column(type, blocks);
  const Bytes view = AsBytes(bytes);
  return DecoderOf(type, is_jsonb)(column, view.data(), static_cast<int64_t>(view.size()));
}

table::Type OfKind(Kind kind) { return {.kind = kind, .precision = 0, .scale = 0, .element = {}}; }

TEST(FieldDecoder, WrongLengthsAreMalformed) {
  const std::vector<std::pair<Kind, size_t>> widths = {
      {Kind::kBool, 1}, {Kind::kInt16, 2},   {Kind::kInt32, 4}, {Kind::kInt64, 8},
      {Kind::kDate, 4}, {Kind::kFloat32, 4}, {Kind::kTime, 8},  {Kind::kFloat64, 8},
      {Kind::kUuid, 16}, {Kind::kTimestamp, 8}, {Kind::kTimestampTz, 8}};
  for (const auto& [kind, width] : widths) {
    for (size_t size : {width - 1, width + 1, size_t{0}}) {
      EXPECT_EQ(DecodeRaw(OfKind(kind), std::string(size, '\0')), FieldFault::kMalformed)
          << table::KindName(kind) << " of " << size;
    }
    EXPECT_EQ(DecodeRaw(OfKind(kind), std::string(width, '\0')), FieldFault::kNone);
  }
  EXPECT_EQ(DecodeRaw(OfKind(Kind::kBool), "\2"), FieldFault::kMalformed);
  EXPECT_EQ(DecodeRaw(OfKind(Kind::kTime), Big64(-1)), FieldFault::kMalformed);
  EXPECT_EQ(DecodeRaw(OfKind(Kind::kTime), Big64(86'400'000'001)), FieldFault::kMalformed);
  EXPECT_EQ(DecodeRaw(OfKind(Kind::kJson), "", true), FieldFault::kMalformed);
  EXPECT_EQ(DecodeRaw(OfKind(Kind::kJson), "\2{}", true), FieldFault::kMalformed);
}

// numeric_send's layout: digit count, weight, sign, display scale, digits.
std::string Numeric(int weight, int sign, const std::vector<int>& digits) {
  std::string bytes =
      Big16(static_cast<int>(digits.size())) + Big16(weight) + Big16(sign) + Big16(0);
  for (const int digit : digits) bytes += Big16(digit);
  return bytes;
}

TEST(FieldDecoder, OddNumericsAreRefused) {
  using enum FieldFault;
  const table::Type type{.kind = Kind::kDecimal, .precision = 38, .scale = 2, .element = {}};
  EXPECT_EQ(DecodeRaw(type, Numeric(0, 0, {1, 5000})), kNone);
  EXPECT_EQ(DecodeRaw(type, Numeric(0, 0, {10000})), kMalformed);
  EXPECT_EQ(DecodeRaw(type, Numeric(0, 0x1234, {1})), kMalformed);
  EXPECT_EQ(DecodeRaw(type, Numeric(0, 0, {1}) + "x"), kMalformed);
  EXPECT_EQ(DecodeRaw(type, "1234567"), kMalformed);
  EXPECT_EQ(DecodeRaw(type, Numeric(0, 0xD000, {})), kUnsayable);
  EXPECT_EQ(DecodeRaw(type, Numeric(0, 0xF000, {})), kUnsayable);
  EXPECT_EQ(DecodeRaw(type, Numeric(9, 0, {1})), kUnsayable) << "10^36 with two decimals";
  EXPECT_EQ(DecodeRaw(type, Numeric(8, 0, {9999})), kNone);
  EXPECT_EQ(DecodeRaw(type, Numeric(32767, 0, {1})), kUnsayable);
  EXPECT_EQ(DecodeRaw(type, Numeric(32767, 0, {0})), kNone);
  EXPECT_EQ(DecodeRaw(type, Numeric(-1, 0, {1})), kUnsayable) << "0.0001 with two decimals";
  EXPECT_EQ(DecodeRaw(type, Numeric(-32768, 0, {1})), kUnsayable);
  EXPECT_EQ(DecodeRaw(type, Numeric(9, 0, std::vector<int>(20, 9999))), kUnsayable);
}

// array_send's layout of one dimension.
std::string Array(int32_t dimensions, int32_t count, int32_t lower, const std::string& elements) {
  return Big32(dimensions) + Big32(0) + Big32(23) + Big32(count) + Big32(lower) + elements;
}

TEST(FieldDecoder, OddArraysAreRefused) {
  using enum FieldFault;
  const table::Type type{.kind = Kind::kList,
                         .precision = 0,
                         .scale = 0,
                         .element = std::make_shared<const table::Type>(OfKind(Kind::kInt32))};
  const std::string seven = Big32(4) + Big32(7);
  EXPECT_EQ(DecodeRaw(type, Array(1, 1, 1, seven)), kNone);
  EXPECT_EQ(DecodeRaw(type, Array(1, 0, 1, "")), kNone);
  EXPECT_EQ(DecodeRaw(type, ""), kMalformed);
  EXPECT_EQ(DecodeRaw(type, Array(0, 1, 1, seven)), kMalformed);
  EXPECT_EQ(DecodeRaw(type, Array(-1, 1, 1, seven)), kMalformed);
  EXPECT_EQ(DecodeRaw(type, Array(7, 1, 1, seven)), kMalformed);
  EXPECT_EQ(DecodeRaw(type, Array(2, 1, 1, seven)), kUnsayable);
  EXPECT_EQ(DecodeRaw(type, Array(1, 1, 2, seven)), kUnsayable);
  EXPECT_EQ(DecodeRaw(type, Array(1, -1, 1, "")), kMalformed);
  EXPECT_EQ(DecodeRaw(type, Array(1, 2, 1, seven)), kMalformed) << "an element too few";
  EXPECT_EQ(DecodeRaw(type, Array(1, 1, 1, seven + "x")), kMalformed) << "bytes left over";
  EXPECT_EQ(DecodeRaw(type, Array(1, INT32_MAX, 1, seven)), kMalformed);
  EXPECT_EQ(DecodeRaw(type, Array(1, 1, 1, Big32(-2))), kMalformed);
  EXPECT_EQ(DecodeRaw(type, Array(1, 1, 1, Big32(5) + Big32(7))), kMalformed);
  EXPECT_EQ(DecodeRaw(type, Array(1, 1, 1, Big32(3) + "abc")), kMalformed);
  EXPECT_EQ(DecodeRaw(type, Array(1, 1, 1, "").substr(0, 16)), kMalformed);
}

}  // namespace
}  // namespace weir::pg
