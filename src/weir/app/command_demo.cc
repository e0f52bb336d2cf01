// weir demo: the main job from nothing: a private PostgreSQL, a table, an export, and proof that it
// is right.
#include <unistd.h>

#include <CLI/CLI.hpp>
#include <memory>

#include "weir/app/command.h"
#include "weir/app/export_summary.h"
#include "weir/app/flag_check.h"
#include "weir/app/progress_line.h"
#include "weir/app/run_jobs.h"
#include "weir/base/units.h"
#include "weir/experiment/content_items.h"
#include "weir/experiment/digest.h"
#include "weir/ledger/sqlite_ledger.h"
#include "weir/pg/local_server.h"

namespace weir::app {
namespace {

struct Options {
  int64_t rows = 200'000;
  bool keep = false;
  bool quiet = false;
};

void Say(const Options& options, const std::string& line) {
  if (options.quiet) return;
  std::fputs(line.c_str(), stdout);
  std::fputc('\n', stdout);
  std::fflush(stdout);
}

// A server and an output folder that go away with it, unless kept.
class Stage {
 public:
  static Result<std::unique_ptr<Stage>> Set(const Options& options, Workshop& workshop) {
    auto stage = std::make_unique<Stage>(options.keep, workshop);
    WEIR_TRY(stage->server_, pg::LocalServer::Start({.folder = {},
                                                     .keep = options.keep,
                                                     .durable = false,
                                                     .listen_tcp = false,
                                                     .meters = true,
                                                     .settings = {{"shared_buffers", "256MB"}}}));
    stage->output_ = stage->server_->folder() + "-out";
    WEIR_DO(workshop.files.MakeFolder(stage->output_));
    return stage;
  }
  Stage(bool keep, Workshop& workshop) : keep_(keep), workshop_(workshop) {}
  ~Stage() {
    if (!keep_ && !output_.empty()) (void)workshop_.files.Remove(output_).ok();
  }
  Stage(const Stage&) = delete;
  Stage& operator=(const Stage&) = delete;

  std::string url() const { return server_->url(); }
  const std::string& output() const { return output_; }
  const std::string& server_folder() const { return server_->folder(); }

 private:
  const bool keep_;
  Workshop& workshop_;
  std::unique_ptr<pg::LocalServer> server_;
  std::string output_;
};

Status CheckSame(const std::string& source, const std::string& files) {
  if (source == files) return Ok();
  return Fail(Code::kCorrupt,
              "rows and content hash are {} in the files and {} in the table; this is a bug in "
              "weir, please report it",
              files, source);
}

Status Seed(const Options& options, const Stage& stage, Workshop& workshop) {
  Say(options, fmt::format("Seeding content_items, {} rows ...", FormatCount(options.rows)));
  const bool bar = ChooseProgressStyle(options.quiet) == ProgressStyle::kBar;
  const auto show = [&](int64_t done, int64_t rows) {
    if (bar)
      std::fprintf(stderr, "\r\033[K%s of %s rows", FormatCount(done).c_str(),
                   FormatCount(rows).c_str());
  };
  auto seeded = experiment::SeedContentItems(stage.url(), options.rows, show, workshop.stop);
  if (bar) std::fputs("\r\033[K", stderr);
  return seeded;
}

Result<extract::ExportReport> Export(const Options& options, const Stage& stage,
                                     const pg::Target& target, Workshop& workshop) {
  extract::ExportJob job;
  job.name = "public.content_items";
  job.source.target = target;
  job.source.table = pg::TableName{"public", "content_items"};
  job.folder = sys::JoinPath(stage.output(), job.name);
  ApplyTuning(config::ProfileDefaults(config::Profile::kBalanced), job);
  WEIR_TRY(const auto opened,
           ledger::OpenSqliteLedger(sys::JoinPath(stage.output(), ledger::kStateFileName),
                                    workshop.clock));
  const extract::RunContext context{*opened.ledger,  workshop.files,
                                    workshop.clock,  workshop.stop,
                                    workshop.blocks, extract::NewRunGroupId(workshop.clock)};
  extract::Progress progress;
  const ProgressLine line(ExportProgress(job.name, progress, workshop.clock),
                          ChooseProgressStyle(options.quiet), workshop.clock);
  return extract::RunExport(std::move(job), 1, context, progress);
}

Status Play(const Options& options, Workshop& workshop) {
  Say(options, "Starting a private PostgreSQL ...");
  WEIR_TRY(const auto stage, Stage::Set(options, workshop), "demo");
  WEIR_DO(Seed(options, *stage, workshop));
  WEIR_TRY(const pg::Target target, pg::Target::Parse(stage->url()));
  WEIR_TRY(const extract::ExportReport report, Export(options, *stage, target, workshop));
  if (report.error.has_value()) return *report.error;
  if (!options.quiet) {
    std::fputs(SummaryText(report).c_str(), stdout);
    std::fputs(HarmText(report.harm).c_str(), stdout);
    std::fputs(AbsentText(report.harm.absent_reasons).c_str(), stdout);
  }

  Say(options, "Reading the Parquet back, and hashing the table in PostgreSQL ...");
  WEIR_TRY(const std::string files, experiment::DigestOfFiles(workshop.files, report.folder,
                                                              workshop.blocks, workshop.stop));
  WEIR_TRY(const std::string source, experiment::DigestOfTable(
                                         stage->url(), "content_items", workshop.stop));
  WEIR_DO(CheckSame(source, files));
  Say(options, fmt::format("Content hash {}: the same in both, over {} rows.",
                           files.substr(files.find(':') + 1), FormatCount(report.totals.rows)));
  if (options.keep) {
    Say(options, fmt::format("Kept: {} (files) and {} (the server's data).", stage->output(),
                             stage->server_folder()));
  }
  return Ok();
}

int RunDemoCommand(const Options& options) {
  Workshop workshop;
  auto played = Play(options, workshop);
  if (played.ok()) return 0;
  return Report(played.error(), workshop.stop);
}

}  // namespace

void AddDemo(CLI::App& app, Action& action) {
  CLI::App* command = app.add_subcommand(
      "demo", "Seed a private PostgreSQL, export from it, and prove that nothing changed");
  const auto options = std::make_shared<Options>();
  command->add_option("--rows", options->rows, "Rows of content_items")
      ->check(AtLeast(1))->capture_default_str();
  command->add_flag("--keep", options->keep, "Leave the files and the server's data on disk");
  command->add_flag("--quiet", options->quiet, "Errors only");
  command->callback(
      [options, &action] { action = [options] { return RunDemoCommand(*options); }; });
}

}  // namespace weir::app
