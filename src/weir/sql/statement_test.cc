#include "weir/sql/statement.h"

#include <span>
#include <string>

namespace weir::sql {
namespace {

std::string Show(const TpchLoad& load) {
  const std::string tick = load.tick_interval.has_value()
                               ? fmt::format("every {} us", load.tick_interval->count())
                               : "never";
  return fmt::format("tpch {} {} seed {}", load.scale_factor, tick, load.seed);
}
std::string Show(const ParquetFolder& folder) { return "parquet " + folder.path; }
std::string Show(const CreateSource& source) {
  std::string shown = fmt::format("create source [{}] ", source.name);
  if (source.if_not_exists) shown += "unless there ";
  shown += std::visit([](const auto& from) { return Show(from); }, source.from);
  return shown + (source.cluster.empty() ? "" : " in " + source.cluster);
}
std::string Show(const AlterSource& alter) {
  const bool pause = alter.change == AlterSource::Change::kPause;
  return fmt::format("{} source [{}]", pause ? "pause" : "resume", alter.name);
}
std::string Show(const DropSource& drop) {
  return fmt::format("drop source [{}]{}", drop.name, drop.if_exists ? " if there" : "");
}
std::string Show(const CreateIndex& index) {
  std::string shown = fmt::format("create index [{}] ", index.name);
  if (index.name_is_default) shown += "by default ";
  if (index.if_not_exists) shown += "unless there ";
  shown += fmt::format("on [{}].[{}] by", index.table.source, index.table.table);
  for (const std::string& column : index.key_columns) shown += fmt::format(" [{}]", column);
  return shown + (index.cluster.empty() ? "" : " in " + index.cluster);
}
std::string Show(const DropIndex& drop) {
  return fmt::format("drop index [{}]{}", drop.name, drop.if_exists ? " if there" : "");
}

std::string Show(const AlterSystem& set) {
  return fmt::format("set [{}] to [{}]", set.name, set.value);
}

// The one statement of a text, or the message that refuses it.
std::string Parse(std::string_view text) {
  const auto parsed = ParseStatements(text);
  if (!parsed.ok()) {
    EXPECT_EQ(parsed.error().code, Code::kUsage);
    return parsed.error().message;
  }
  if (parsed.value().size() != 1) return fmt::format("{} statements", parsed.value().size());
  return std::visit([](const auto& body) { return Show(body); }, parsed.value()[0].body);
}

struct Row {
  std::string_view text;
  std::string_view want;
};

void ExpectAll(std::span<const Row> table) {
  for (const Row& row : table) EXPECT_EQ(Parse(row.text), row.want) << row.text;
}

TEST(Statements, KeepTheirTextAndPosition) {
  const auto parsed = ParseStatements(
      "-- Two of them.\nDROP SOURCE a ;;\n  DROP /* b */ INDEX\n b; -- Done.");
  ASSERT_TRUE(parsed.ok()) << parsed.error().message;
  ASSERT_EQ(parsed.value().size(), 2u);
  EXPECT_EQ(parsed.value()[0].text, "DROP SOURCE a");
  EXPECT_EQ(parsed.value()[0].at, (Position{2, 1}));
  EXPECT_EQ(parsed.value()[1].text, "DROP /* b */ INDEX\n b");
  EXPECT_EQ(parsed.value()[1].at, (Position{3, 3}));
  EXPECT_TRUE(ParseStatements(" ; -- Nothing.").value().empty());
}

TEST(Statements, SourcesAreMadeChangedAndDropped) {
  constexpr Row kTable[] = {
      {"CREATE SOURCE s FROM LOAD GENERATOR TPCH", "create source [s] tpch 1 never seed 1"},
      {"create source Shop from load generator tpch (scale factor 0.1, tick interval '1s', seed 7)",
       "create source [shop] tpch 0.1 every 1000000 us seed 7"},
      {"CREATE SOURCE \"Sh\"\"op\" FROM LOAD GENERATOR TPCH (SEED = 18446744073709551615, "
       "SCALE FACTOR = 1e3)",
       "create source [Sh\"op] tpch 1000 never seed 18446744073709551615"},
      {"CREATE SOURCE IF NOT EXISTS s IN CLUSTER c FROM LOAD GENERATOR TPCH FOR ALL TABLES",
       "create source [s] unless there tpch 1 never seed 1 in c"},
      {"CREATE SOURCE s FROM LOAD GENERATOR TPCH (SEED 0) FOR ALL TABLES IN CLUSTER \"C 1\"",
       "create source [s] tpch 1 never seed 0 in C 1"},
      {"CREATE SOURCE s FROM PARQUET 'out/it''s'", "create source [s] parquet out/it's"},
      {"CREATE SOURCE s FROM PARQUET 'x' FOR ALL TABLES", "create source [s] parquet x"},
      {"CREATE SOURCE \"from\" FROM PARQUET 'x'", "create source [from] parquet x"},
      {"CREATE SOURCE \xc3\x84 FROM/**/PARQUET--\n'x'", "create source [\xc3\x84] parquet x"},
      {"ALTER SOURCE S PAUSE", "pause source [s]"},
      {"alter source pause resume", "resume source [pause]"},
      {"DROP SOURCE s", "drop source [s]"},
      {"DROP SOURCE IF EXISTS \"S\"", "drop source [S] if there"},
  };
  ExpectAll(kTable);
}

TEST(Statements, TickIntervalsAreWrittenAsPostgresWritesThem) {
  const std::pair<std::string_view, int64_t> table[] = {
      {"1s", 1'000'000},        {"500ms", 500'000},          {"1 second", 1'000'000},
      {"  2  SECONDS ", 2'000'000}, {"1.5", 1'500'000},      {".25 s", 250'000},
      {"1 min 30 s", 90'000'000}, {"1h30m", 5'400'000'000},  {"24 hours", 86'400'000'000},
      {"7us", 7},               {"7 \xc2\xb5s", 7},          {"7\xce\xbcs", 7},
      {"0.6 us", 1},            {"00:00:01", 1'000'000},     {"0:0:0.000001", 1},
      {"1:30", 5'400'000'000},  {"24:00:00", 86'400'000'000},
  };
  for (const auto& [text, us] : table) {
    EXPECT_EQ(Parse(fmt::format(
                  "CREATE SOURCE s FROM LOAD GENERATOR TPCH (TICK INTERVAL '{}')", text)),
              fmt::format("create source [s] tpch 1 every {} us seed 1", us));
  }
  for (const std::string_view text :
       {"", " ", "s", "1x", "1s 2", "1 2", "-1s", "+1s", "0s", "0.4us", "0", "25h", "1 day", "1e1s",
        "inf", "nan s", "1s,", "1:60", "0:0:60", "24:00:00.1", ":1", "1:", "1:2:", "1:2:3:4",
        "1:2 s", "-1:00", "1:-1", "1: 2", "99999999999999999999h", "1\xc2\xb5"}) {
    EXPECT_EQ(Parse(fmt::format(
                  "CREATE SOURCE s FROM LOAD GENERATOR TPCH (TICK INTERVAL '{}')", text)),
              fmt::format("line 1, column 57: '{}' stands where a time above 0 and at most a day, "
                          "like '1s', '500 ms' or '00:00:01', should",
                          text));
  }
}

TEST(Statements, WrongSourcesAreRefusedWithTheNearestWord) {
  constexpr Row kTable[] = {
      {"CREATE SOURCE",
       "line 1, column 14: the statement ends where the source's name should stand"},
      {"CREATE SOURCE\n FROM PARQUET 'x'",
       "line 2, column 2: 'FROM' stands where the source's name should"},
      {"CREATE SOURCE \"\" FROM PARQUET 'x'",
       "line 1, column 15: \"\" stands where the source's name should"},
      {"CREATE SOURCE 's' FROM PARQUET 'x'",
       "line 1, column 15: 's' stands where the source's name should"},
      {"CREATE SOURCE IF EXISTS s FROM PARQUET 'x'",
       "line 1, column 18: 'EXISTS' stands where NOT should"},
      {"CREATE SOURCE s",
       "line 1, column 16: the statement ends where FROM or IN CLUSTER should stand"},
      {"CREATE SOURCE s FORM PARQUET 'x'",
       "line 1, column 17: 'FORM' stands where FROM or IN CLUSTER should; did you mean FROM?"},
      {"CREATE SOURCE a.b FROM PARQUET 'x'",
       "line 1, column 16: '.' stands where FROM or IN CLUSTER should"},
      {"CREATE SOURCE s IN CLUSTER a IN CLUSTER b FROM PARQUET 'x'",
       "line 1, column 30: IN CLUSTER stands here a second time; keep one"},
      {"CREATE SOURCE s IN CLUSTER FROM PARQUET 'x'",
       "line 1, column 28: 'FROM' stands where the cluster's name should"},
      {"CREATE SOURCE s FROM KAFKA BROKER 'x'",
       "line 1, column 22: 'KAFKA' stands where LOAD GENERATOR TPCH or PARQUET should"},
      {"CREATE SOURCE s FROM PARKET 'x'",
       "line 1, column 22: 'PARKET' stands where LOAD GENERATOR TPCH or PARQUET should; did you "
       "mean PARQUET?"},
      {"CREATE SOURCE s FROM LOAD GENERATR TPCH",
       "line 1, column 27: 'GENERATR' stands where GENERATOR should; did you mean GENERATOR?"},
      {"CREATE SOURCE s FROM LOAD GENERATOR AUCTION",
       "line 1, column 37: 'AUCTION' stands where TPCH should"},
      {"CREATE SOURCE s FROM PARQUET",
       "line 1, column 29: the statement ends where a folder's path in single quotes should stand"},
      {"CREATE SOURCE s FROM PARQUET ''",
       "line 1, column 30: '' stands where a folder's path in single quotes should"},
      {"CREATE SOURCE s FROM PARQUET E'x'",
       "line 1, column 30: 'E'x'' stands where a folder's path in single quotes should"},
      {"CREATE SOURCE s FROM PARQUET 'x' 'y'",
       "line 1, column 34: 'y' stands where FOR ALL TABLES or IN CLUSTER should"},
      {"CREATE SOURCE s FROM PARQUET 'x' FOR ALL TABLE",
       "line 1, column 42: 'TABLE' stands where TABLES should; did you mean TABLES?"},
      {"CREATE SOURCE s FROM PARQUET 'x' FOR ALL TABLES FOR ALL TABLES",
       "line 1, column 49: FOR ALL TABLES stands here a second time; keep one"},
      {"ALTER SOURCE s PUASE",
       "line 1, column 16: 'PUASE' stands where PAUSE or RESUME should; did you mean PAUSE?"},
      {"ALTER SOURCE PAUSE",
       "line 1, column 19: the statement ends where PAUSE or RESUME should stand"},
      {"ALTER SOURCE s PAUSE now",
       "line 1, column 22: 'now' stands where the end of the statement should"},
      {"DROP SOURCE IF EXIST s",
       "line 1, column 16: 'EXIST' stands where EXISTS should; did you mean EXISTS?"},
      {"DROP SOURCE s CASCADE",
       "line 1, column 15: 'CASCADE' stands where the end of the statement should"},
  };
  ExpectAll(kTable);
}

TEST(Statements, WrongOptionsOfTheGeneratorAreRefused) {
  const std::pair<std::string_view, std::string_view> table[] = {
      {"()", "column 43: ')' stands where SCALE FACTOR, TICK INTERVAL or SEED should"},
      {"(SEDE 1)", "column 43: 'SEDE' stands where SCALE FACTOR, TICK INTERVAL or SEED should; did "
                   "you mean SEED?"},
      {"(SCALE 1)", "column 49: '1' stands where FACTOR should"},
      {"(SEED 1, SEED 2)", "column 51: SEED stands here a second time; keep one"},
      {"(SEED 1", "column 49: the statement ends where ',' or ')' should stand"},
      {"(SEED 1 SCALE FACTOR 1)", "column 50: 'SCALE' stands where ',' or ')' should"},
      {"(SEED 1,)", "column 50: ')' stands where SCALE FACTOR, TICK INTERVAL or SEED should"},
      {"(SEED 1.5)", "column 48: '1.5' stands where a whole number from 0 to 2^64 - 1 should"},
      {"(SEED -1)", "column 48: '-' stands where a whole number from 0 to 2^64 - 1 should"},
      {"(SEED 18446744073709551616)", "column 48: '18446744073709551616' stands where a whole "
                                      "number from 0 to 2^64 - 1 should"},
      {"(SCALE FACTOR 0)", "column 56: '0' stands where a number above 0 and at most 1000 should"},
      {"(SCALE FACTOR 1000.1)",
       "column 56: '1000.1' stands where a number above 0 and at most 1000 should"},
      {"(SCALE FACTOR 1e999)",
       "column 56: '1e999' stands where a number above 0 and at most 1000 should"},
      {"(SCALE FACTOR 1x)",
       "column 56: '1x' stands where a number above 0 and at most 1000 should"},
      {"(SCALE FACTOR '1')",
       "column 56: '1' stands where a number above 0 and at most 1000 should"},
      {"(SCALE FACTOR nan)",
       "column 56: 'nan' stands where a number above 0 and at most 1000 should"},
      {"(TICK INTERVAL 1)", "column 57: '1' stands where a time above 0 and at most a day, like "
                            "'1s', '500 ms' or '00:00:01', should"},
  };
  for (const auto& [options, message] : table) {
    EXPECT_EQ(Parse(fmt::format("CREATE SOURCE s FROM LOAD GENERATOR TPCH {}", options)),
              fmt::format("line 1, {}", message));
  }
}

TEST(Statements, IndexesAreMadeAndDropped) {
  constexpr Row kTable[] = {
      {"CREATE INDEX i ON t (a)", "create index [i] on [].[t] by [a]"},
      {"create index if not exists I on Tpch.LineItem using btree (L_Orderkey asc, \"X\")",
       "create index [i] unless there on [tpch].[lineitem] by [l_orderkey] [X]"},
      {"CREATE INDEX ON partsupp (ps_partkey, ps_suppkey)",
       "create index [partsupp_ps_partkey_ps_suppkey_idx] by default on [].[partsupp] by "
       "[ps_partkey] [ps_suppkey]"},
      {"CREATE INDEX i IN CLUSTER c ON t (a)", "create index [i] on [].[t] by [a] in c"},
      {"CREATE INDEX IN CLUSTER \"C\xc3\xb6\" ON t USING arrangement (a)",
       "create index [t_a_idx] by default on [].[t] by [a] in C\xc3\xb6"},
      {"CREATE INDEX i ON t (a) IN\nCLUSTER /* which? */ c",
       "create index [i] on [].[t] by [a] in c"},
      {"CREATE INDEX \"in\" ON \"cluster\" (\"on;\"\"\")",
       "create index [in] on [].[cluster] by [on;\"]"},
      {"CREATE INDEX \"\xc3\x84\x01\\\" ON \xc3\x84 (\xc3\x84)",
       "create index [\xc3\x84\x01\\] on [].[\xc3\x84] by [\xc3\x84]"},
      {"DROP INDEX I", "drop index [i]"},
      {"DROP INDEX IF EXISTS \"I\" RESTRICT", "drop index [I] if there"},
  };
  ExpectAll(kTable);
}

TEST(Statements, DefaultNamesOfIndexesHaveAtMost63Bytes) {
  const std::string table(40, 't');
  const std::string column(40, 'c');
  EXPECT_EQ(Parse(fmt::format("CREATE INDEX ON {} ({})", table, column)),
            fmt::format("create index [{}_{}_idx] by default on [].[{}] by [{}]",
                        std::string(29, 't'), std::string(29, 'c'), table, column));
  EXPECT_EQ(Parse(fmt::format("CREATE INDEX ON t ({0}, {0}, {0})", column)),
            fmt::format("create index [t_{0}_{1}_idx] by default on [].[t] by [{0}] [{0}] [{0}]",
                        column, std::string(16, 'c')));
  // Whole characters only.
  std::string umlauts;
  for (int at = 0; at < 31; ++at) umlauts += "\xc3\xa4";
  EXPECT_EQ(Parse(fmt::format("CREATE INDEX ON {} (c)", umlauts)),
            fmt::format("create index [{}_c_idx] by default on [].[{}] by [c]",
                        umlauts.substr(0, 56), umlauts));
}

TEST(Statements, PartsOfIndexesThatWeirDoesNotDoAreRefused) {
  constexpr Row kTable[] = {
      {"CREATE UNIQUE INDEX i ON t (a)",
       "line 1, column 8: UNIQUE is not supported, as an index checks nothing; leave it out"},
      {"CREATE INDEX CONCURRENTLY i ON t (a)",
       "line 1, column 14: CONCURRENTLY is not supported, as no index locks its table; leave it "
       "out"},
      {"CREATE INDEX i ON t USING hash (a)",
       "line 1, column 21: USING hash is not supported, as there is one kind of index; leave it "
       "out"},
      {"CREATE INDEX i ON t (a) INCLUDE (b)",
       "line 1, column 25: INCLUDE is not supported, as an index holds all columns; leave it out"},
      {"CREATE INDEX i ON t (a) NULLS NOT DISTINCT",
       "line 1, column 25: NULLS NOT DISTINCT is not supported, as an index checks nothing; leave "
       "it out"},
      {"CREATE INDEX i ON t (a) WITH (fillfactor = 70)",
       "line 1, column 25: WITH and storage parameters are not supported; leave them out"},
      {"CREATE INDEX i ON t (a) TABLESPACE x",
       "line 1, column 25: TABLESPACE is not supported, as an index has none; leave it out"},
      {"CREATE INDEX i ON t (a)\n WHERE b > 0",
       "line 2, column 2: WHERE is not supported, as an index holds all rows; leave it out"},
      {"CREATE INDEX i ON ONLY t (a)",
       "line 1, column 19: ONLY is not supported, as no table has children; leave it out"},
      {"CREATE INDEX i ON a.b.c (a)",
       "line 1, column 1: a table's name has at most two parts, source.table, and here are three"},
      {"CREATE INDEX i ON t (a, lower(b), c)",
       "line 1, column 25: a key that is not a column's plain name is not supported; name columns "
       "only"},
      {"CREATE INDEX i ON t (f(a, b), c COLLATE \"C\")",
       "line 1, column 22: a key that is not a column's plain name is not supported; name columns "
       "only"},
      {"CREATE INDEX i ON t (a, c COLLATE \"C\")",
       "line 1, column 25: COLLATE is not supported, as keys are sorted by their bytes; leave it "
       "out"},
      {"CREATE INDEX i ON t (a, b text_ops (x = 1, y = 2), c DESC)",
       "line 1, column 25: an operator class is not supported, as keys are sorted by their bytes; "
       "leave it out"},
      {"CREATE INDEX i ON t (a,\n b DESC)",
       "line 2, column 2: DESC is not supported, as keys rise; leave it out"},
      {"CREATE INDEX i ON t (a NULLS FIRST)",
       "line 1, column 22: NULLS FIRST and NULLS LAST are not supported; leave them out"},
      {"DROP INDEX CONCURRENTLY i",
       "line 1, column 12: CONCURRENTLY is not supported, as no index locks its table; leave it "
       "out"},
      {"DROP INDEX i CASCADE", "line 1, column 14: CASCADE is not supported; leave it out"},
      {"DROP INDEX i, j",
       "line 1, column 1: DROP INDEX takes one index, and here are 2; write a statement for each"},
      {"DROP INDEX s.i",
       "line 1, column 1: an index's name has one part, and here are 2; write the last one alone"},
  };
  ExpectAll(kTable);
}

TEST(Statements, SettingsTakeOneConstant) {
  constexpr Row kTable[] = {
      {"ALTER SYSTEM SET memory = '256MiB'", "set [memory] to [256MiB]"},
      {"alter system set Budget_Fraction to 0.5", "set [budget_fraction] to [0.5]"},
      {"ALTER SYSTEM SET pool_rss_target = 0", "set [pool_rss_target] to [0]"},
      {"ALTER SYSTEM SET memory = 268435456", "set [memory] to [268435456]"},
      {"ALTER SYSTEM SET memory TO lots", "set [memory] to [lots]"},
      {"ALTER SYSTEM SET memory = 1, 2",
       "line 1, column 1: a setting takes one number or one text; write it in quotes"},
      {"ALTER SYSTEM SET memory TO DEFAULT",
       "line 1, column 1: of ALTER SYSTEM only SET name = value is supported; give the value"},
      {"ALTER SYSTEM RESET ALL",
       "line 1, column 1: of ALTER SYSTEM only SET name = value is supported; give the value"},
      {"ALTER SYSTEM SET = 1", "line 1, column 18: syntax error at or near \"=\""},
  };
  ExpectAll(kTable);
}

std::string NotYet(std::string_view kind) {
  return fmt::format("line 1, column 1: {} is not supported yet: weir knows CREATE, ALTER and DROP "
                     "SOURCE, CREATE INDEX, DROP INDEX and ALTER SYSTEM SET; take it out",
                     kind);
}

TEST(Statements, OthersThatPostgresKnowsAreNamed) {
  const std::pair<std::string_view, std::string_view> table[] = {
      {"CREATE VIEW v AS SELECT 1", "CREATE VIEW"},
      {"CREATE OR REPLACE TEMP VIEW v AS SELECT 1", "CREATE VIEW"},
      {"create materialized view v as select count(*) from t", "CREATE MATERIALIZED VIEW"},
      {"CREATE MATERIALIZED VIEW v IN CLUSTER c AS SELECT 1", "CREATE MATERIALIZED VIEW"},
      {"DROP VIEW v", "DROP VIEW"},
      {"ALTER INDEX i RENAME TO j", "ALTER INDEX"},
      {"CREATE TABLE t (a int)", "CREATE TABLE"},
      {"SELECT 1", "SELECT"},
      {"((SELECT 1))", "SELECT"},
      {"WITH x AS (SELECT 1) SELECT * FROM x", "WITH"},
      {"INSERT INTO t VALUES (1)", "INSERT"},
      {"BEGIN", "BEGIN"},
  };
  for (const auto& [text, kind] : table) EXPECT_EQ(Parse(text), NotYet(kind)) << text;
}

TEST(Statements, OthersAreRefusedInPostgresWordsWhereItPoints) {
  constexpr Row kTable[] = {
      {"SELEC 1", "line 1, column 1: syntax error at or near \"SELEC\""},
      {"DROP SOURCE a;\n  CREATE INDEX \xc3\xa4 ON\n\xc3\xa4\xc3\xb6 WHERE (a)",
       "line 3, column 4: syntax error at or near \"WHERE\""},
      {"CREATE INDEX i IN CLUSTER \"\xc3\xa4\xf0\x9f\xa6\x86\" ON t a",
       "line 1, column 37: syntax error at or near \"a\""},
      {"CREATE INDEX i IN\nCLUSTER c ON t a",
       "line 2, column 16: syntax error at or near \"a\""},
      {"CREATE INDEX i ON t IN CLUSTER c (a)",
       "line 1, column 21: syntax error at or near \"IN\""},
      {"CREATE INDEX i IN CLUSTER c ON t (a) IN CLUSTER d",
       "line 1, column 38: syntax error at or near \"IN\""},
      {"CREATE INDEX i IN CLUSTER \"\" ON t (a)",
       "line 1, column 16: syntax error at or near \"IN\""},
      {"CREATE SUORCE s FROM PARQUET 'x'",
       "line 1, column 8: syntax error at or near \"SUORCE\""},
      {"SELECT (1", "line 1, column 10: syntax error at end of input"},
      {" SELECT \"\"", "line 1, column 9: zero-length delimited identifier at or near \"\"\"\""},
      {" SELECT E'\\xff'", "line 1, column 2: invalid byte sequence for encoding \"UTF8\": 0xff"},
      {"SELECT 1 'a\nb'", "line 1, column 10: syntax error at or near \"'a\\x0ab'\""},
      {"\\d", "line 1, column 1: syntax error at or near \"\\\""},
  };
  ExpectAll(kTable);
}

TEST(Statements, LongNamesAndStatementsAreRefused) {
  const std::string longest(kMaxNameBytes, 'a');
  EXPECT_EQ(Parse("DROP SOURCE " + longest), fmt::format("drop source [{}]", longest));
  EXPECT_EQ(Parse("DROP INDEX \"" + longest + "\"\"\""),
            fmt::format("line 1, column 12: the name \"{}\"\"\" has 64 bytes, and 63 are allowed; "
                        "make it shorter",
                        longest));
  EXPECT_EQ(Parse("SELECT '" + std::string(kMaxStatementBytes, 'x') + "'"),
            "line 1, column 1: the statement has 65545 bytes, and 65536 are allowed; make it "
            "shorter");
}

// libpg_query writes trees by recursion.
TEST(Statements, TheDeepestTreeOfAnIndexFitsOnTheStack) {
  const std::string_view begin = "CREATE INDEX i ON t ((1";
  std::string text(begin);
  while (text.size() + std::string_view("+1))").size() <= kMaxStatementBytes) text += "+1";
  EXPECT_EQ(Parse(text + "))"),
            "line 1, column 22: a key that is not a column's plain name is not supported; name "
            "columns only");
}

}  // namespace
}  // namespace weir::sql
