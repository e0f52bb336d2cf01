#include "weir/pg/copy_parser.h"

#include <random>

#include "tests/support/copy_stream.h"
#include "tests/support/postgres.h"
#include "tests/support/seeds.h"

namespace weir::pg {
namespace {

using table::Kind;
using test::Big32;
using test::CopyHeader;
using test::CopyRow;
using test::kCopyTrailer;
using test::PlainColumn;

constexpr int64_t kMostValueBytes = 1000;

// A parser with memory of its own, all of which must come back.
struct Parsing {
  explicit Parsing(std::vector<CopyColumn> columns)
      : parser(std::move(columns), blocks, kMostValueBytes) {}

  mem::Budget budget{"test", mem::kUnlimited};
  mem::BlockAllocator blocks{budget, 0};
  CopyParser parser;
};

// Rows as text, or "code: message" of the first failure.
std::string ParseAll(const std::vector<CopyColumn>& columns,
                     const std::vector<std::string_view>& pieces) {
  Parsing parsing(columns);
  for (const std::string_view piece : pieces) {
    const Status fed = parsing.parser.Feed(AsBytes(piece));
    if (!fed.ok()) return fmt::format("{}: {}", CodeName(fed.error().code), fed.error().message);
  }
  const Status ended = parsing.parser.End();
  if (!ended.ok()) {
    return fmt::format("{}: {}", CodeName(ended.error().code), ended.error().message);
  }
  return test::ShowBatch(parsing.parser.TakeBatch());
}

std::vector<CopyColumn> NumberAndText() {
  return {PlainColumn("n", Kind::kInt32), PlainColumn("t", Kind::kText)};
}

TEST(CopyParser, ReadsRowsAndNulls) {
  const std::string stream = CopyHeader() + CopyRow({Big32(7), "seven"}) +
                             CopyRow({std::nullopt, ""}) + CopyRow({Big32(-1), std::nullopt}) +
                             std::string(kCopyTrailer);
  EXPECT_EQ(ParseAll(NumberAndText(), {stream}),
            "00000007|seven|\nNULL||\nffffffff|NULL|\n");
}

TEST(CopyParser, NoRowsIsAnEmptyBatch) {
  EXPECT_EQ(ParseAll(NumberAndText(), {CopyHeader() + std::string(kCopyTrailer)}), "");
}

TEST(CopyParser, EmptyPiecesChangeNothing) {
  const std::string stream = CopyHeader() + CopyRow({Big32(7), "a"}) + std::string(kCopyTrailer);
  const std::string_view whole(stream);
  EXPECT_EQ(ParseAll(NumberAndText(), {"", whole.substr(0, 12), "", whole.substr(12), ""}),
            "00000007|a|\n");
}

TEST(CopyParser, ATableWithoutColumnsHasRows) {
  Parsing parsing({});
  const std::string stream =
      CopyHeader() + CopyRow({}) + CopyRow({}) + CopyRow({}) + std::string(kCopyTrailer);
  ASSERT_TRUE(parsing.parser.Feed(AsBytes(stream)).ok());
  EXPECT_EQ(parsing.parser.row_count(), 3);
  EXPECT_EQ(parsing.parser.TakeBatch().row_count, 3);
}

TEST(CopyParser, LowFlagsAndTheExtensionAreSkipped) {
  const std::string row = CopyRow({Big32(1), "x"}) + std::string(kCopyTrailer);
  EXPECT_EQ(ParseAll(NumberAndText(), {CopyHeader(0x0000FFFF, "any bytes") + row}),
            "00000001|x|\n");
}

TEST(CopyParser, BatchesCountWhatTheyHold) {
  Parsing parsing(NumberAndText());
  const std::string one = CopyRow({Big32(1), "a"});
  const std::string two = CopyRow({Big32(2), "bb"});
  ASSERT_TRUE(parsing.parser.Feed(AsBytes(CopyHeader() + one)).ok());
  EXPECT_EQ(parsing.parser.batch_rows(), 1);
  EXPECT_EQ(parsing.parser.batch_bytes(), static_cast<int64_t>(one.size()));
  EXPECT_EQ(test::ShowBatch(parsing.parser.TakeBatch()), "00000001|a|\n");
  EXPECT_EQ(parsing.parser.batch_rows(), 0);
  EXPECT_EQ(parsing.parser.batch_bytes(), 0);
  ASSERT_TRUE(parsing.parser.Feed(AsBytes(two)).ok());
  EXPECT_EQ(parsing.parser.row_count(), 2);
  EXPECT_EQ(test::ShowBatch(parsing.parser.TakeBatch()), "00000002|bb|\n");
}

struct BadStream {
  const char* what;
  std::string stream;
  std::string failure;
};

std::vector<BadStream> BadStreams() {
  const std::string row = CopyRow({Big32(1), "x"});
  const std::string trailer(kCopyTrailer);
  const std::string fields(test::Big16(2));
  return {
      {"nothing", "", "corrupt: COPY stream ended after 0 rows without its trailer"},
      {"half a header", CopyHeader().substr(0, 15),
       "corrupt: COPY stream ended after 0 rows without its trailer"},
      {"no trailer", CopyHeader() + row,
       "corrupt: COPY stream ended after 1 rows without its trailer"},
      {"half a row", CopyHeader() + row + row.substr(0, 9),
       "corrupt: COPY stream ended after 1 rows without its trailer"},
      {"half a trailer", CopyHeader() + row + trailer.substr(0, 1),
       "corrupt: COPY stream ended after 1 rows without its trailer"},
      {"bytes after the trailer", CopyHeader() + trailer + "x",
       "corrupt: COPY stream goes on after its trailer"},
      {"two trailers", CopyHeader() + trailer + trailer,
       "corrupt: COPY stream goes on after its trailer"},
      {"a text COPY", "1\tx\n", "corrupt: not a COPY BINARY stream: its signature is wrong"},
      {"row OIDs", CopyHeader(0x00010000) + trailer,
       "corrupt: COPY stream has flags 0x10000 that this version does not know"},
      {"a negative extension", CopyHeader().substr(0, 15) + Big32(-5) + trailer,
       "corrupt: COPY stream has a header extension of -5 bytes"},
      {"a huge extension", CopyHeader().substr(0, 15) + Big32(1 << 30) + trailer,
       "corrupt: COPY stream has a header extension of 1073741824 bytes"},
      {"a field too few", CopyHeader() + row + CopyRow({Big32(1)}) + trailer,
       "corrupt: row 2 of the COPY stream has 1 fields, not 2"},
      {"a field too many", CopyHeader() + CopyRow({Big32(1), "x", "y"}) + trailer,
       "corrupt: row 1 of the COPY stream has 3 fields, not 2"},
      {"a negative field count", CopyHeader() + test::Big16(-2) + trailer,
       "corrupt: row 1 of the COPY stream has -2 fields, not 2"},
      {"a negative length", CopyHeader() + fields + Big32(-2) + Big32(0) + trailer,
       "corrupt: row 1 of the COPY stream has a field of -2 bytes"},
      {"an integer of three bytes", CopyHeader() + row + CopyRow({"abc", "x"}) + trailer,
       "corrupt: column n, row 2: 3 bytes are not a value of type int32"},
      {"a value over the limit", CopyHeader() + CopyRow({Big32(1), std::string(1001, 'x')}),
       "invalid: column t, row 1: a value of 1001 B is over max_value_mb (1000 B); raise it in "
       "weir.yaml or leave the column out"},
      {"a limit passed before the bytes came", CopyHeader() + fields + Big32(-1) + Big32(5000),
       "invalid: column t, row 1: a value of 4.9 KiB is over max_value_mb (1000 B); raise it in "
       "weir.yaml or leave the column out"},
  };
}

TEST(CopyParser, BadStreamsFailWithTheirReason) {
  for (const BadStream& bad : BadStreams()) {
    SCOPED_TRACE(bad.what);
    EXPECT_EQ(ParseAll(NumberAndText(), {bad.stream}), bad.failure);
    std::vector<std::string_view> bytes;
    for (size_t at = 0; at < bad.stream.size(); ++at) {
      bytes.push_back(std::string_view(bad.stream).substr(at, 1));
    }
    EXPECT_EQ(ParseAll(NumberAndText(), bytes), bad.failure) << "byte by byte";
  }
}

TEST(CopyParser, AValueAtTheLimitIsRead) {
  const std::string text(kMostValueBytes, 'x');
  EXPECT_EQ(ParseAll(NumberAndText(),
                     {CopyHeader() + CopyRow({Big32(1), text}) + std::string(kCopyTrailer)}),
            "00000001|" + text + "|\n");
}

TEST(CopyParser, NullInANotNullColumnIsCorrupt) {
  auto columns = NumberAndText();
  columns[1].column.nullable = false;
  const std::string stream = CopyHeader() + CopyRow({Big32(1), ""}) +
                             CopyRow({std::nullopt, std::nullopt}) + std::string(kCopyTrailer);
  EXPECT_EQ(ParseAll(columns, {stream}),
            "corrupt: column t, row 2: NULL in a column declared NOT NULL");
}

TEST(CopyParser, ValuesTheTypeCannotSayNameColumnRowAndRemedy) {
  const std::string stream =
      CopyHeader() + CopyRow({Big32(INT32_MAX)}) + std::string(kCopyTrailer);
  EXPECT_EQ(ParseAll({PlainColumn("born", Kind::kDate)}, {stream}),
            "invalid: column born, row 1: infinity cannot be written as date; leave the column "
            "out");
}

// A stream of a real server with all types, short enough to be cut everywhere.
constexpr const char* kAllTypes =
    "SELECT i, i % 2 = 0 AS b, i::int2 AS i2, i * 5000000000 AS i8, i / 3.0::float4 AS f4, "
    "i / 7.0::float8 AS f8, (i * 1.5)::numeric(12,3) AS n, NULLIF(repeat('é', i), 'é') AS t, "
    "decode('00ff', 'hex') AS y, date '2024-02-29' + i AS d, time '01:02:03.5' AS tm, "
    "timestamp '1999-12-31 23:59:59.999999' AS ts, timestamptz '2020-01-01 00:00+02' AS tz, "
    "md5(i::text)::uuid AS u, '{\"a\": 1}'::json AS j, '{\"b\": [1, null]}'::jsonb AS jb, "
    "ARRAY[i, NULL, 2] AS ia, ARRAY['x', NULL, '', 'y z'] AS ta, "
    "CASE WHEN i > 1 THEN ARRAY['{}'::jsonb] END AS ja, '{}'::float8[] AS e "
    "FROM generate_series(1, 4) AS i";

class CopyParserOnAServer : public testing::Test {
 protected:
  CopyParserOnAServer()
      : connection_(
            Connection::Open(Target::Parse(db_.url()).value(), "weir/test", never_).value()),
        columns_(test::ColumnsOf(*connection_, kAllTypes)),
        stream_(test::CaptureCopy(*connection_, kAllTypes)),
        whole_(ParseAll(columns_, {stream_})) {}

  test::Database db_;
  sys::Stop never_;
  std::unique_ptr<Connection> connection_;
  std::vector<CopyColumn> columns_;
  std::string stream_;
  std::string whole_;
};

TEST_F(CopyParserOnAServer, CutAtEveryByteGivesTheSameRows) {
  ASSERT_NE(whole_.find("y z"), std::string::npos) << whole_;
  const std::string_view stream(stream_);
  for (size_t cut = 0; cut <= stream.size(); ++cut) {
    ASSERT_EQ(ParseAll(columns_, {stream.substr(0, cut), stream.substr(cut)}), whole_) << cut;
  }
  std::vector<std::string_view> bytes;
  for (size_t at = 0; at < stream.size(); ++at) bytes.push_back(stream.substr(at, 1));
  EXPECT_EQ(ParseAll(columns_, bytes), whole_);
}

TEST_F(CopyParserOnAServer, TruncatedAtEveryByteIsCorrupt) {
  for (size_t length = 0; length < stream_.size(); ++length) {
    const std::string failure = ParseAll(columns_, {std::string_view(stream_).substr(0, length)});
    ASSERT_TRUE(failure.starts_with("corrupt: COPY stream ended after")) << length << failure;
  }
}

// Goal: bytes that are wrong never crash, and never give rows of another count than the parser's.
TEST_F(CopyParserOnAServer, ChangedBytesEndInRowsOrOneSentence) {
  for (const uint64_t seed : test::Seeds(2000)) {
    SCOPED_TRACE(fmt::format("to repeat: WEIR_SEED={}", seed));
    std::mt19937_64 random(seed);
    std::string changed = stream_;
    for (int change = 0; change < 3; ++change) {
      changed[random() % changed.size()] = static_cast<char>(random());
    }
    const std::string result = ParseAll(columns_, {changed});
    const bool failed = result.starts_with("corrupt: ") || result.starts_with("invalid: ");
    ASSERT_TRUE(!failed || result.find('\n') == std::string::npos) << result;
  }
}

}  // namespace
}  // namespace weir::pg
