// weir hydrate: indexes over sources, built within a memory budget and kept up to date.
#include <CLI/CLI.hpp>
#include <cstdio>
#include <memory>
#include <optional>

#include "weir/app/apply_statement.h"
#include "weir/app/command.h"
#include "weir/app/hydrate_options.h"
#include "weir/app/hydrate_status.h"
#include "weir/app/pool_metrics.h"
#include "weir/app/progress_line.h"
#include "weir/app/workshop.h"
#include "weir/hydrate/digest.h"

namespace weir::app {
namespace {

constexpr int64_t kMostTextBytes = 16 << 20;

// Of one index, at the last time that it can be read at.
Result<IndexAnswer> AskOne(const HydrateOptions& options, const hydrate::Index& index,
                           mem::BlockAllocator& blocks, const sys::Stop& stop) {
  const delta::Time time = index.frontier() - 1;
  IndexAnswer answer;
  answer.index = index.plan().name;
  if (options.digest) {
    WEIR_TRY(const auto digest, index.DigestAt(time, stop), "{}", answer.index);
    answer.digest = digest.Text();
  }
  if (options.content_hash) {
    WEIR_TRY(answer.content_hash, hydrate::ContentHashOf(index, time, blocks, stop), "{}",
             answer.index);
  }
  return answer;
}

// Of every hydrated index that can answer; the first failure of the others.
Status Ask(const HydrateOptions& options, hydrate::Engine& engine, const sys::Stop& stop,
           std::vector<IndexAnswer>& answers) {
  if (!options.digest && !options.content_hash) return Ok();
  Status first = Ok();
  for (const hydrate::ObjectStatus& status : engine.statuses()) {
    if (!status.frontier.has_value()) continue;
    auto answer = AskOne(options, *engine.FindIndex(status.name), engine.blocks(), stop);
    if (answer.ok()) {
      answers.push_back(std::move(answer).value());
    } else if (first.ok()) {
      first = std::move(answer).error();
    }
  }
  return first;
}

// Of the index with the most rows, the first of those that have as many.
Result<ProbeAnswers> ProbeLargest(const HydrateOptions& options, hydrate::Engine& engine,
                                  const sys::Stop& stop) {
  ProbeAnswers answers;
  if (options.sorted_probes == 0 && options.random_probes == 0) return answers;
  const hydrate::Index* largest = nullptr;
  for (const hydrate::ObjectStatus& status : engine.statuses()) {
    if (status.stage != hydrate::Stage::kHydrated) continue;
    const hydrate::Index* const index = engine.FindIndex(status.name);
    if (largest == nullptr || index->rows_read() > largest->rows_read()) largest = index;
  }
  if (largest == nullptr) return answers;
  answers.index = largest->plan().name;
  const auto probe = [&](int64_t count, hydrate::ProbeOrder order,
                         std::optional<hydrate::ProbeResult>& to) -> Status {
    if (count == 0) return Ok();
    WEIR_TRY(to,
             hydrate::Probe(*largest, largest->frontier() - 1, count, order, engine.blocks(), stop),
             "{}", answers.index);
    return Ok();
  };
  WEIR_DO(probe(options.sorted_probes, hydrate::ProbeOrder::kSorted, answers.sorted));
  WEIR_DO(probe(options.random_probes, hydrate::ProbeOrder::kRandom, answers.random));
  return answers;
}

Status Show(const HydrateOptions& options, hydrate::Engine& engine, RunMonitor& monitor,
            const sys::Stop& stop) {
  HydrationReport report;
  report.usage = sys::ReadProcessUsage();
  report.accounting = sys::ReadAccounting();
  report.figures = monitor.figures();
  report.pool = engine.counters();
  Status asked = Ask(options, engine, stop, report.answers);
  auto probes = asked.ok() ? ProbeLargest(options, engine, stop) : Result(ProbeAnswers());
  if (probes.ok()) {
    report.probes = std::move(probes).value();
  } else {
    asked = std::move(probes).error();
  }
  if (options.json) {
    std::fprintf(stdout, "%s\n", HydrationJson(engine, report, options.settings).c_str());
  } else if (!options.quiet) {
    std::fputs(StatusText(engine.statuses()).c_str(), stdout);
    std::fputs(AnswersText(report).c_str(), stdout);
  }
  std::fflush(stdout);
  return asked;
}

Status HydrateAll(const HydrateOptions& options, hydrate::Engine& engine, Workshop& workshop) {
  const ProgressLine line(
      [&] { return HydrationProgressText(engine.statuses(), workshop.clock.Now()); },
      ChooseProgressStyle(options.quiet || options.json), workshop.clock);
  return engine.Hydrate(workshop.stop);
}

void WarnOf(const Error& error) {
  const bool again = hydrate::MayPass(error);
  (void)Report({error.code, error.message + (again ? "; going on, and trying it again"
                                                   : "; going on without it")});
}

Status Hydrate(HydrateOptions options, Workshop& workshop) {
  WEIR_TRY(const hydrate::EngineOptions engine_options, EngineOptionsOf(options));
  WEIR_TRY(const std::string text, workshop.files.Read(options.path, kMostTextBytes));
  WEIR_TRY(const auto engine, hydrate::Engine::Make(engine_options, workshop.clock));
  RunMonitor monitor(*engine, workshop.clock);
  std::unique_ptr<MetricsFile> metrics;
  if (!options.metrics_file.empty()) {
    WEIR_TRY(metrics, MetricsFile::Start(options.metrics_file, *engine, workshop.files,
                                         workshop.clock));
  }
  WEIR_DO(ApplyStatements(text, workshop.files, *engine, options), "{}", options.path);
  Status hydrated = HydrateAll(options, *engine, workshop);
  // A stop was for the hydration; what it came to can still be asked.
  const sys::Stop never;
  const bool stopped = workshop.stop.asked();
  WEIR_DO(Show(options, *engine, monitor, stopped ? never : workshop.stop));
  if (!options.follow || (!hydrated.ok() && workshop.stop.asked())) return hydrated;
  WEIR_DO(engine->Follow(workshop.stop, WarnOf));
  return Show(options, *engine, monitor, never);
}

int RunHydrateCommand(const HydrateOptions& options) {
  Workshop workshop;
  auto done = Hydrate(options, workshop);
  if (!done.ok()) return Report(done.error(), workshop.stop);
  const int signal = options.follow ? workshop.stop.signal() : 0;  // --follow has no other end.
  return signal == 0 ? 0 : kSignalExit + signal;
}

}  // namespace

void AddHydrate(CLI::App& app, Action& action) {
  CLI::App* command = app.add_subcommand(
      "hydrate", "Build the indexes that a SQL file asks for, and keep them up to date");
  const auto options = std::make_shared<HydrateOptions>();
  AddHydrateFlags(*command, *options);
  command->callback([options, command, &action] {
    NoteSettings(*command, *options);
    action = [options] { return RunHydrateCommand(*options); };
  });
}

}  // namespace weir::app
