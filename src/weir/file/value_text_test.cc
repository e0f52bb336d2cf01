#include "weir/file/value_text.h"

#include <bit>
#include <cmath>
#include <random>

#include "tests/support/copy_stream.h"
#include "tests/support/postgres.h"
#include "tests/support/seeds.h"

namespace weir::file {
namespace {

// Compares our text of values with what PostgreSQL's own output functions print.
class ValueTextTest : public testing::Test {
 protected:
  ValueTextTest() {
    auto target = pg::Target::Parse(db_.url());
    connection_ = pg::Connection::Open(target.value(), "weir/test", never_).value();
    EXPECT_TRUE(connection_->Exec("SET TimeZone = 'UTC'; SET extra_float_digits = 3").ok());
  }

  // `literals` as SQL text, cast to `type`; format's %s is the output function.
  void Check(const std::string& type, const std::vector<std::string>& literals) {
    std::string list;
    for (const std::string& literal : literals) {
      list += (list.empty() ? "" : ",") + connection_->QuoteLiteral(literal);
    }
    const std::string select =
        fmt::format("SELECT v::{0}, format('%s', v::{0}) FROM unnest(ARRAY[{1}]::text[]) v", type,
                    list);
    pg::CopyParser parser(test::ColumnsOf(*connection_, select), blocks_, 1 << 20);
    const Status fed = parser.Feed(AsBytes(test::CaptureCopy(*connection_, select)));
    ASSERT_TRUE(fed.ok()) << fed.error().message;
    const table::Batch batch = parser.TakeBatch();
    ASSERT_EQ(batch.row_count, static_cast<int64_t>(literals.size()));
    for (int64_t row = 0; row < batch.row_count; ++row) {
      std::string text;
      AppendValueText(batch.columns[0], row, text);
      EXPECT_EQ(text, AsText(batch.columns[1].BytesAt(row)))
          << type << " from " << literals[static_cast<size_t>(row)];
    }
  }

  test::Database db_;
  sys::Stop never_;
  std::unique_ptr<pg::Connection> connection_;
  mem::Budget budget_{"test", mem::kUnlimited};
  mem::BlockAllocator blocks_{budget_, 0};
};

TEST_F(ValueTextTest, PlainTypes) {
  Check("bool", {"t", "f"});
  Check("int2", {"-32768", "0", "32767"});
  Check("int4", {"-2147483648", "7", "2147483647"});
  Check("int8", {"-9223372036854775808", "-1", "9223372036854775807"});
  Check("numeric(5,2)", {"0", "-0.01", "999.99", "-999.99", "1.5"});
  Check("numeric(38,0)", {"0", std::string(38, '9'), "-" + std::string(38, '9')});
  Check("numeric(38,38)", {"0", "0." + std::string(38, '9'), "-0." + std::string(37, '0') + "1"});
  Check("numeric(5,-2)", {"0", "1234567", "-99"});
  Check("text", {"", "a", "naïve 🦆", "a\nb", "\"q\", {x}"});
  Check("char(4)", {"", "ab", "abcd"});
  Check("bytea", {"\\x", "\\x00", "\\xdeadbeef"});
  Check("uuid", {"00000000-0000-0000-0000-000000000000", "ffffffff-ffff-ffff-ffff-ffffffffffff"});
  Check("json", {"{ \"b\" : 1,  \"b\":2 }", "null", "\"x\""});
  Check("jsonb", {"{ \"b\" : 1.0,  \"a\":2 }", "[]"});
}

TEST_F(ValueTextTest, DatesAndTimesOfAnyYear) {
  Check("date", {"1970-01-01", "0001-01-01", "0001-12-31 BC", "0004-02-29", "0005-02-28 BC",
                 "4714-11-24 BC", "9999-12-31", "10000-01-01", "5874897-12-31", "2000-02-29",
                 "1900-03-01", "0100-03-01 BC"});
  Check("time", {"00:00", "00:00:00.000001", "12:34:56.7", "23:59:59.999999", "01:02:03.45"});
  Check("timestamp",
        {"1970-01-01", "1969-12-31 23:59:59.999999", "4714-11-24 00:00 BC",
         "0001-12-31 23:59:59.9 BC", "12345-06-07 08:09:10.000011",
         "294247-01-10 04:00:54.775807"});
  Check("timestamptz", {"2020-02-29 12:00:00.1+05:30", "0044-03-15 12:00+00 BC",
                        "1583-01-01 00:00-15:59", "12345-06-07 08:09:10+00"});
}

TEST_F(ValueTextTest, Lists) {
  Check("int4[]", {"{}", "{1,NULL,-3}"});
  Check("bool[]", {"{t,f,NULL}"});
  Check("float8[]", {"{1e300,NaN,-Infinity,0.1}"});
  Check("numeric(4,1)[]", {"{1.5,-0.1}"});
  Check("date[]", {"{2020-01-01,\"0044-03-15 BC\"}"});
  Check("timestamptz[]", {"{2020-01-01 00:00+00,NULL}"});
  Check("bytea[]", {R"({"\\x00ff","\\x"})"});
  Check("uuid[]", {"{00112233-4455-6677-8899-aabbccddeeff}"});
  Check("jsonb[]", {R"({"{\"a\": [1, \"x\"]}","null",NULL})"});
  Check("text[]", {R"({"",NULL,"NULL","null","nUlL","nulls",a,"a b","a,b","{","}","\"","\\"})",
                   "{\"\t\",\"\n\",\"\v\",\"\f\",\"\r\",ü,'}"});
}

std::string Digits(double value) { return fmt::format("{:.17e}", value); }
std::string Digits(float value) { return fmt::format("{:.9e}", value); }

// Powers of two and ten and their neighbours: where the shortest text is hardest to find, as when
// it lies exactly between two floats.
template <typename T>
std::vector<std::string> EdgeFloats() {
  constexpr T kInfinity = std::numeric_limits<T>::infinity();
  std::vector<std::string> literals = {"NaN", "Infinity", "-Infinity", "-0", "0"};
  const auto add = [&](T value) {
    for (const T near : {std::nextafter(value, T{0}), value, std::nextafter(value, kInfinity)}) {
      if (std::isfinite(near) && near != 0) literals.push_back(Digits(near));
    }
  };
  for (int power = std::numeric_limits<T>::min_exponent - std::numeric_limits<T>::digits;
       power < std::numeric_limits<T>::max_exponent; ++power) {
    add(std::ldexp(T{1}, power));
  }
  for (int power = std::numeric_limits<T>::min_exponent10 - 16;
       power <= std::numeric_limits<T>::max_exponent10; ++power) {
    add(static_cast<T>(std::stold(fmt::format("1e{}", power))));
  }
  return literals;
}

TEST_F(ValueTextTest, FloatsAtTheEdges) {
  Check("float8", EdgeFloats<double>());
  Check("float4", EdgeFloats<float>());
}

TEST_F(ValueTextTest, FloatsOfRandomBits) {
  for (const uint64_t seed : test::Seeds(3)) {
    SCOPED_TRACE(fmt::format("to repeat: WEIR_SEED={}", seed));
    std::mt19937_64 random(seed);
    std::vector<std::string> doubles;
    std::vector<std::string> floats;
    for (int count = 0; count < 2000; ++count) {
      const auto wide = std::bit_cast<double>(random());
      if (std::isfinite(wide)) doubles.push_back(Digits(wide));
      const auto narrow = std::bit_cast<float>(static_cast<uint32_t>(random()));
      if (std::isfinite(narrow)) floats.push_back(Digits(narrow));
      const double everyday = static_cast<double>(random() % 100'000'000) / 1000;
      doubles.push_back(Digits(everyday));
      floats.push_back(Digits(static_cast<float>(everyday)));
    }
    Check("float8", doubles);
    Check("float4", floats);
  }
}

TEST_F(ValueTextTest, RandomDatesAndTimes) {
  for (const uint64_t seed : test::Seeds(3)) {
    SCOPED_TRACE(fmt::format("to repeat: WEIR_SEED={}", seed));
    std::mt19937_64 random(seed);
    std::vector<std::string> dates;
    std::vector<std::string> times;
    for (int count = 0; count < 500; ++count) {
      const uint64_t year = 1 + random() % (count % 2 == 0 ? 4000 : 200'000);
      const bool bc = random() % 4 == 0 && year < 4000;
      const std::string day =
          fmt::format("{:04}-{:02}-{:02}", year, 1 + random() % 12, 1 + random() % 28);
      dates.push_back(day + (bc ? " BC" : ""));
      times.push_back(fmt::format("{} {:02}:{:02}:{:02}.{:06}{}", day, random() % 24, random() % 60,
                                  random() % 60, random() % 1'000'000, bc ? " BC" : ""));
    }
    Check("date", dates);
    Check("timestamp", times);
    Check("timestamptz", times);
  }
}

}  // namespace
}  // namespace weir::file
