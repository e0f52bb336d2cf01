// A network that falls silent in the middle of a run, as behind a firewall that forgot a
// connection: the run ends in good time, whatever it was waiting for.
#include <gtest/gtest.h>

#include "tests/support/folder.h"
#include "tests/support/postgres.h"
#include "tests/support/wire.h"
#include "weir/extract/run_export.h"
#include "weir/ledger/sqlite_ledger.h"

namespace weir::extract {
namespace {

constexpr sys::Duration kBound = std::chrono::milliseconds(150);
// Which of a run's connections is which, in the order they are made.
constexpr int kMeter = 1;
constexpr int kMain = 2;
// What a server says until it is ready; a silence before that is the connect timeout's.
constexpr size_t kWelcomeBytes = 450;
constexpr size_t kStepBytes = 250;
constexpr size_t kMostBytes = 20'000;
constexpr int64_t kRows = 100;

class StalledNetwork : public testing::Test {
 protected:
  void SetUp() override {
    const pg::Target direct = pg::Target::Parse(db_.url()).value();
    if (!direct.Get("host").starts_with('/')) GTEST_SKIP() << "the server has no socket here";
    socket_ = fmt::format("{}/.s.PGSQL.{}", direct.Get("host"), direct.Get("port"));
    user_ = direct.Get("user");
    db_.Exec(fmt::format("CREATE TABLE t AS SELECT i FROM generate_series(1, {}) i", kRows));
    ledger_ = ledger::OpenSqliteLedger(folder_.Path("state"), clock_).value().ledger;
  }

  // One export through a proxy that stops forwarding connection `stalled` after `bytes`.
  ExportReport Export(int stalled, size_t bytes, bool* stalls) {
    const test::StallingProxy proxy(socket_, stalled, bytes);
    ExportJob job;
    job.name = "t";
    job.source.target =
        pg::Target::Parse(proxy.Url(user_, db_.name()) + "&connect_timeout=2").value();
    job.source.table = pg::TableName{"public", "t"};
    job.source.settings.reply_bound = kBound;
    job.source.settings.lock_timeout_s = 1;
    job.meter_reply_bound = kBound;
    job.options.byte_timeout = kBound;
    job.retry.max_retries = 0;
    job.folder = folder_.Path("out/t");
    job.format = Format::kCsv;
    const RunContext context{*ledger_, files_, clock_, never_, blocks_, NewRunGroupId(clock_)};
    Progress progress;
    auto report = RunExport(job, 1, context, progress);
    *stalls = proxy.stalls();
    EXPECT_TRUE(report.ok());
    return std::move(report).value();
  }

  const test::TempFolder folder_;
  test::Database db_;
  std::string socket_;
  std::string user_;
  sys::DiskFiles files_;
  sys::RealClock clock_;
  const sys::Stop never_;
  mem::Budget budget_{"test", mem::kUnlimited};
  mem::BlockAllocator blocks_{budget_, 0};
  std::unique_ptr<ledger::Ledger> ledger_;
};

// Goal:   wherever the exporting connection falls silent, the run ends as unavailable with a
//         sentence, or with all rows when only its farewell was not answered.
TEST_F(StalledNetwork, TheExportingConnectionIsGivenUp) {
  bool stalls = true;
  int failed = 0;
  for (size_t bytes = kWelcomeBytes; stalls; bytes += kStepBytes) {
    SCOPED_TRACE(fmt::format("silent after {} bytes", bytes));
    ASSERT_LT(bytes, kMostBytes);
    const ExportReport report = Export(kMain, bytes, &stalls);
    if (!report.error.has_value()) {
      EXPECT_EQ(report.totals.rows, kRows);
      continue;
    }
    ++failed;
    EXPECT_TRUE(stalls);
    const std::string& message = report.error->message;
    EXPECT_EQ(ExitCode(report.error->code), 2) << message;
    EXPECT_TRUE(message.find("no whole answer within") != message.npos ||
                message.find("no answer within") != message.npos ||
                message.find("sent nothing for") != message.npos)
        << message;
    EXPECT_FALSE(files_.Exists(folder_.Path("out/t")));
  }
  EXPECT_GE(failed, 4);
}

// Goal:   wherever the meter's connection falls silent, the run ends well, and says what it could
//         not measure.
TEST_F(StalledNetwork, TheMetersConnectionIsGivenUpAndTheRunIsNot) {
  bool stalls = true;
  int unmeasured = 0;
  for (size_t bytes = kWelcomeBytes; stalls; bytes += kStepBytes) {
    SCOPED_TRACE(fmt::format("silent after {} bytes", bytes));
    ASSERT_LT(bytes, kMostBytes);
    const ExportReport report = Export(kMeter, bytes, &stalls);
    EXPECT_FALSE(report.error.has_value()) << report.error->message;
    EXPECT_EQ(report.totals.rows, kRows);
    for (const std::string& reason : report.harm.absent_reasons) {
      if (!reason.starts_with("pg_tup_returned: ")) continue;
      ++unmeasured;
      EXPECT_TRUE(stalls) << reason;
      EXPECT_NE(reason.find(" answer within "), reason.npos) << reason;
    }
  }
  EXPECT_GE(unmeasured, 4);
}

}  // namespace
}  // namespace weir::extract
