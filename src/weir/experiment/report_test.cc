#include "weir/experiment/report.h"

#include "weir/experiment/compare.h"
#include "weir/experiment/extract_cells.h"

namespace weir::experiment {
namespace {

// Adds one trial per wall time, under settings of their own.
void AddRung(Measurements& measurements, Cell parameters, const std::string& command,
             const std::vector<Cell>& trials) {
  Settings settings;
  settings.Set("command", command).Set("server.fsync", "off").Set(parameters);
  measurements.settings[settings.Hash()] = settings;
  int64_t trial = 0;
  for (const Cell& measured : trials) {
    Cell cell = parameters;
    cell.Merge(measured).Set("trial", ++trial).Set("settings_hash", settings.Hash());
    measurements.cells.push_back(cell);
  }
}

Cell Parameters(const std::string& kind, const std::string& rung, int64_t rows) {
  Cell cell;
  cell.Set("ladder", "extract").Set("kind", kind).Set("rung", rung).Set("rows", rows);
  return cell;
}

Cell Trial(double wall_s, int64_t peak_mib) {
  Cell cell;
  cell.Set("wall_s", wall_s).Set("peak_rss_bytes", peak_mib << 20);
  return cell;
}

Measurements Example() {
  Measurements all{{"weir 0.1.0 (abc)", "a machine"}, {}, {}, {}};
  AddRung(all, Parameters("content_items", "raw_copy", 2'000), "psql",
          {Trial(10, 8), Trial(12, 8), Trial(11, 9)});
  AddRung(all, Parameters("content_items", "weir_fast", 2'000), "weir fast",
          {Trial(13, 80).Set("floor_ratio", 1.3).Set("tuples_returned", int64_t{2'010}),
           Trial(15, 81).Set("floor_ratio", 1.25).Set("tuples_returned", int64_t{2'000}),
           Trial(11, 97).Set("floor_ratio", 1.0).Set("tuples_returned", int64_t{2'000})});
  AddRung(all, Parameters("narrow", "weir_fast", 5'000), "weir fast", {Trial(4, 70)});
  return all;
}

TEST(Spread, IsTheMiddleAndTheEnds) {
  EXPECT_FALSE(SpreadOf({}).has_value());
  struct Case {
    std::vector<double> values;
    double median, low, high;
  };
  const Case cases[] = {
      {{5}, 5, 5, 5}, {{3, 1}, 2, 1, 3}, {{9, 1, 2}, 2, 1, 9}, {{4, 1, 9, 2}, 3, 1, 9}};
  for (const Case& each : cases) {
    const Spread spread = SpreadOf(each.values).value();
    EXPECT_EQ(spread.median, each.median);
    EXPECT_EQ(spread.low, each.low);
    EXPECT_EQ(spread.high, each.high);
  }
  EXPECT_EQ(ShowSpread({1'500, 1'000, 1'234'567}, 1, 0), "1,500 [1,000–1,234,567]");
  EXPECT_EQ(ShowSpread({2, 2, 2}, 4, 2), "0.50");
}

constexpr const char* kGolden = R"(extract: content_items, 2,000 rows
  rung       trials  wall s               wall / raw COPY      peak RSS MiB      tuples returned
  raw_copy   3       11.00 [10.00–12.00]                       8.0 [8.0–9.0]
  weir_fast  3       13.00 [11.00–15.00]  1.250 [1.000–1.300]  81.0 [80.0–97.0]  2,000 [2,000–2,010]

extract: narrow, 5,000 rows
  rung       trials  wall s  peak RSS MiB
  weir_fast  1       4.00    70.0

targets
  measure                                               measured  target            verdict
  content_items: fast wall / raw COPY wall              1.250     at most 1.300     pass
  content_items: peak RSS, highest of all trials        97.0 MiB  at most 96.0 MiB  miss
  narrow: peak RSS, highest of all trials               70.0 MiB  at most 96.0 MiB  pass
  narrow: fast wall / raw COPY wall                               at most 1.250     not measured
  content_items: pg_tup_returned / rows                 1.005     at most 1.010     pass
  content_items: pg_temp_files                                    at most 0         not measured
  content_items: balanced wall / fast wall                        at most 1.050     not measured
  wide_value: peak RSS, 96 MiB + 5 x largest value                at most 96.0 MiB  not measured
  wide_columns: peak RSS, 96 MiB + 5 x largest value              at most 96.0 MiB  not measured
  wide tables: longest value in statistics                        at most 4.0 KiB   not measured
  content_items: content hash, weir's and PostgreSQL's            equal             not measured

Build: weir 0.1.0 (abc)
Machine: a machine
Settings: server.fsync=off
raw_copy: psql
weir_fast: weir fast

)";

TEST(Report, TextIsAsExpected) { EXPECT_EQ(ReportText(Example()), kGolden); }

TEST(Report, MarkdownAndPictureHoldTheSame) {
  sys::MemoryFiles files;
  ASSERT_TRUE(files.MakeFolder("out").ok());
  ASSERT_TRUE(WriteReport(files, "out", Example()).ok());
  const std::string markdown = files.Read("out/report.md", 1 << 20).value();
  EXPECT_NE(markdown.find("### narrow, 5,000 rows\n\n| rung | trials | wall s | peak RSS MiB |\n"
                          "| --- | --- | --- | --- |\n| weir_fast | 1 | 4.00 | 70.0 |\n"),
            std::string::npos)
      << markdown;
  EXPECT_NE(markdown.find("(report.svg)"), std::string::npos);

  const std::string picture = files.Read("out/report.svg", 1 << 20).value();
  EXPECT_TRUE(picture.starts_with("<svg "));
  EXPECT_TRUE(picture.ends_with("</svg>\n"));
  // To one scale: 12 s, the longest, would be 480 wide; narrow has a scale of its own.
  EXPECT_NE(picture.find(R"(width="352.0" height="16" fill="#9aa5b1")"), std::string::npos)
      << picture;
  EXPECT_NE(picture.find(R"(width="416.0" height="16" fill="#2f6f9f")"), std::string::npos);
  EXPECT_NE(picture.find(R"(width="480.0" height="16" fill="#2f6f9f")"), std::string::npos);
}

TEST(Report, EqualDigestsPassAndOthersMiss) {
  Measurements all;
  for (const char* rung : {"raw_copy", "weir_fast", "weir_balanced"}) {
    AddRung(all, Parameters("content_items", rung, 2'000), rung,
            {Trial(1, 1).Set("digest", "abc")});
  }
  EXPECT_EQ(ExtractTargets(all).back().verdict, "pass");
  all.cells.back().Set("digest", "abd");
  EXPECT_EQ(ExtractTargets(all).back().verdict, "miss");
}

TEST(Compare, GivesRatiosOfMediansAndNamesWhatIsAlone) {
  const Measurements a = Example();
  Measurements b{{"weir 0.2.0 (def)", "a machine"}, {}, {}, {}};
  AddRung(b, Parameters("content_items", "weir_fast", 2'000), "weir fast",
          {Trial(6.5, 41), Trial(6, 40), Trial(9, 40)});
  AddRung(b, Parameters("wide_value", "weir_fast", 9), "weir fast", {Trial(1, 1)});
  const auto text = CompareText(a, b);
  ASSERT_TRUE(text.ok()) << text.error().message;
  EXPECT_EQ(text.value(),
            "first:  weir 0.1.0 (abc); a machine\n"
            "second: weir 0.2.0 (def); a machine\n\n"
            "rung                                     wall s                       peak RSS MiB\n"
            "extract content_items weir_fast          13.00 -> 6.50, x 0.500       "
            "81.0 -> 40.0, x 0.494\n"
            "only in the first: extract content_items raw_copy\n"
            "only in the first: extract narrow weir_fast\n"
            "only in the second: extract wide_value weir_fast\n");
}

TEST(Compare, RefusesOtherSettingsByName) {
  Measurements b;
  AddRung(b, Parameters("content_items", "weir_fast", 4'000), "weir safe", {Trial(1, 1)});
  const auto refused = CompareText(Example(), b);
  ASSERT_FALSE(refused.ok());
  EXPECT_EQ(refused.error().code, Code::kInvalid);
  EXPECT_EQ(refused.error().message,
            "extract content_items weir_fast was measured under different settings: command is "
            "'weir fast' in the first and 'weir safe' in the second; rows is '2000' in the first "
            "and '4000' in the second");

  Measurements other;
  AddRung(other, Parameters("wide_value", "weir_fast", 9), "weir fast", {Trial(1, 1)});
  const auto nothing = CompareText(Example(), other);
  ASSERT_FALSE(nothing.ok());
  EXPECT_EQ(nothing.error().message, "the two folders have no rung in common");
}

}  // namespace
}  // namespace weir::experiment
