#include "weir/ledger/migrations_internal.h"

#include "tests/support/folder.h"

namespace weir::ledger {
namespace {

class Migrations : public testing::Test {
 protected:
  // Every object's name and statement, and the two numbers in the header.
  std::string Schema() {
    auto list = database_
                    ->Prepare("SELECT coalesce(group_concat(name || ' ' || coalesce(sql, ''), ';'),"
                              " '') AS text FROM (SELECT * FROM sqlite_schema "
                              "WHERE name <> 'sqlite_sequence' ORDER BY name)")
                    .value();
    EXPECT_TRUE(list.Step().value());
    std::string text;
    list.Read("text", text);
    return text + fmt::format(" version {}", Number("user_version"));
  }
  int64_t Number(std::string_view pragma) {
    return database_->QueryInt(fmt::format("SELECT {0} AS value FROM pragma_{0}", pragma)).value();
  }

  test::TempFolder folder_;
  std::unique_ptr<Database> database_ = Database::Open(folder_.Write("state.db", "")).value();
};

TEST_F(Migrations, AreNumberedFromOneWithoutGaps) {
  int64_t expected = 1;
  for (const Migration& step : weir::ledger::Migrations()) {
    EXPECT_EQ(step.version, expected++);
    EXPECT_FALSE(step.up.empty());
    EXPECT_FALSE(step.down.empty());
  }
}

TEST_F(Migrations, DownUndoesUpAndUpIsRepeatable) {
  const std::string nothing = Schema();
  ASSERT_TRUE(MigrateUp(*database_).ok());
  const std::string latest = Schema();
  EXPECT_NE(nothing, latest);
  ASSERT_TRUE(MigrateUp(*database_).ok());
  EXPECT_EQ(Schema(), latest);
  ASSERT_TRUE(MigrateDown(*database_, 0).ok());
  EXPECT_EQ(Schema(), nothing);
  EXPECT_EQ(Number("application_id"), 0);
  // SQLite keeps its own empty sqlite_sequence; a file of ours in all else.
  ASSERT_TRUE(database_->Execute("PRAGMA application_id = 2003134834").ok());
  ASSERT_TRUE(MigrateUp(*database_).ok());
  EXPECT_EQ(Schema(), latest);
}

TEST_F(Migrations, TheSchemaRefusesRowsWithoutMeaning) {
  ASSERT_TRUE(MigrateUp(*database_).ok());
  const auto insert = [&](const char* run_id, const char* name, const char* status) {
    return database_->Execute(fmt::format(
        "INSERT INTO export_metrics (run_id, run_group_id, export_name, run_at, status, "
        "tuning_profile, format, mode, parallel, source_type, destination_type, weir_version) "
        "VALUES ('{}', 'g', '{}', 'now', '{}', '', '', '', 1, '', '', '')",
        run_id, name, status));
  };
  EXPECT_TRUE(insert("r1", "a", "running").ok());
  EXPECT_FALSE(insert("r1", "b", "running").ok());  // At most one row per run_id.
  EXPECT_FALSE(insert("r2", "a", "running").ok());  // At most one running row per export.
  EXPECT_TRUE(insert("r3", "a", "success").ok());
  EXPECT_FALSE(insert("r4", "a", "completed").ok());
  EXPECT_FALSE(database_
                   ->Execute("INSERT INTO export_harm (run_id, export_name, metric, delta, "
                             "recorded_at) VALUES ('none', 'a', 'm', 1, 'now')")
                   .ok());
}

}  // namespace
}  // namespace weir::ledger
