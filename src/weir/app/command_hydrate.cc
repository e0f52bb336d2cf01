// weir hydrate: indexes over sources, built within a memory budget and kept up to date.
#include <CLI/CLI.hpp>
#include <atomic>
#include <cstdio>
#include <memory>
#include <optional>
#include <thread>

#include "weir/app/apply_statement.h"
#include "weir/app/command.h"
#include "weir/app/flag_check.h"
#include "weir/app/hydrate_status.h"
#include "weir/app/progress_line.h"
#include "weir/app/workshop.h"
#include "weir/base/units.h"
#include "weir/sys/process.h"
#include "weir/sys/thread.h"

namespace weir::app {
namespace {

constexpr double kDefaultShare = 0.8;  // Of the memory that there is.
constexpr int64_t kMostTextBytes = 16 << 20;

struct Options {
  std::string path;
  std::string memory;
  double budget_fraction = 1;
  int workers = 0;
  int concurrency = 0;
  std::string batcher = "auto";
  std::string spill_dir = "/tmp";
  std::string spill_limit = "1TiB";
  int spill_threads = 0;
  std::string spill_handoff = "help";
  int compress_min_depth = 1;
  bool eager_backing = false;
  bool follow = false;
  bool digest = false;
  bool json = false;
  bool quiet = false;
  std::vector<Setting> settings;
};

// What a variant of the ladder is made of: docs/decisions/legacy-batcher.md, pool.md.
void ApplyBatcher(const std::string& name, hydrate::EngineOptions& engine) {
  using delta::BatcherKind;
  if (name == "auto" || name == "snapshot") {
    engine.batcher = BatcherKind::kSnapshot;
  } else if (name == "legacy") {  // It has no bound of its own: swap is its only spill.
    engine.batcher = BatcherKind::kLegacy;
    engine.memory_bytes = mem::kUnlimited;
    engine.pool.spill = false;
  } else if (name == "paged") {
    engine.batcher = BatcherKind::kPaged;
    engine.memory_bytes = mem::kUnlimited;
    engine.pool.spill = false;
  } else if (name == "paged_spill") {
    engine.batcher = BatcherKind::kPaged;
    engine.pool.compress_min_depth = mem::PoolOptions::kNeverCompress;
  } else {
    engine.batcher = BatcherKind::kPaged;  // paged_lz4
  }
}

Result<hydrate::EngineOptions> EngineOptionsOf(const Options& options) {
  hydrate::EngineOptions engine;
  WEIR_TRY(engine.memory_bytes, ParseByteSize(options.memory), "--memory");
  WEIR_TRY(engine.spill_limit_bytes, ParseByteSize(options.spill_limit), "--spill-limit");
  engine.budget_fraction = options.budget_fraction;
  engine.worker_count = options.workers;
  engine.concurrency = options.concurrency;
  engine.spill_folder = options.spill_dir;
  engine.pool.spill_threads = options.spill_threads;
  engine.pool.handoff = options.spill_handoff == "block" ? mem::SpillHandoff::kBlock
                                                         : mem::SpillHandoff::kHelp;
  engine.pool.compress_min_depth = options.compress_min_depth;
  engine.pool.eager_backing = options.eager_backing;
  ApplyBatcher(options.batcher, engine);
  return engine;
}

// The most memory of its own that this process was seen to hold, while this lives: looked at every
// ten milliseconds, because the kernel keeps no such peak without the files that are mapped.
class AnonymousPeak {
 public:
  explicit AnonymousPeak(sys::Clock& clock) : clock_(clock) {
    if (auto started = sys::StartThread([this] { Run(); }); started.ok()) {
      thread_ = std::move(started).value();
    }
  }
  ~AnonymousPeak() {
    done_.Ask();
    if (thread_.joinable()) thread_.join();
  }
  int64_t bytes() const { return std::max(bytes_.load(), sys::ReadProcessUsage().anonymous_bytes); }

 private:
  void Run() {
    while (!done_.asked()) {
      bytes_ = bytes();
      clock_.Wait(std::chrono::milliseconds(10), done_);
    }
  }

  sys::Clock& clock_;
  sys::Stop done_;
  std::atomic<int64_t> bytes_{0};
  std::thread thread_;
};

using Digests = std::vector<std::pair<std::string, std::string>>;

// Of every hydrated index, at the last time that it can be read at.
Result<Digests> DigestsOf(const hydrate::Engine& engine) {
  Digests digests;
  for (const hydrate::ObjectStatus& status : engine.statuses()) {
    if (!status.frontier.has_value()) continue;
    WEIR_TRY(const auto digest, engine.FindIndex(status.name)->DigestAt(*status.frontier - 1),
             "{}", status.name);
    digests.emplace_back(status.name,
                         fmt::format("{}:{:016x}{:016x}", digest.rows,
                                     static_cast<uint64_t>(digest.sum >> 64),
                                     static_cast<uint64_t>(digest.sum)));
  }
  return digests;
}

Status Show(const Options& options, const hydrate::Engine& engine,
            const hydrate::BuildTimes& times, const std::optional<AnonymousPeak>& peak) {
  Digests digests;
  if (options.digest) {
    WEIR_TRY(digests, DigestsOf(engine));
  }
  if (options.json) {
    std::fprintf(stdout, "%s\n",
                 HydrationJson(engine, times, digests, options.settings, peak->bytes()).c_str());
  } else if (!options.quiet) {
    std::fputs(StatusText(engine.statuses()).c_str(), stdout);
    for (const auto& [name, digest] : digests) {
      std::fprintf(stdout, "%s %s\n", name.c_str(), digest.c_str());
    }
  }
  std::fflush(stdout);
  return Ok();
}

Status Hydrate(const Options& options, Workshop& workshop) {
  WEIR_TRY(const hydrate::EngineOptions engine_options, EngineOptionsOf(options));
  WEIR_TRY(const std::string text, workshop.files.Read(options.path, kMostTextBytes));
  std::optional<AnonymousPeak> peak;
  if (options.json) peak.emplace(workshop.clock);
  WEIR_TRY(const auto engine, hydrate::Engine::Make(engine_options, workshop.clock));
  WEIR_DO(ApplyStatements(text, workshop.files, *engine), "{}", options.path);
  Result<hydrate::BuildTimes> times = [&] {
    const ProgressLine line(
        [&] { return HydrationProgressText(engine->statuses(), workshop.clock.Now()); },
        ChooseProgressStyle(options.quiet || options.json), workshop.clock);
    return engine->Hydrate(workshop.stop);
  }();
  WEIR_DO(Show(options, *engine, times.ok() ? times.value() : hydrate::BuildTimes{}, peak));
  if (!times.ok()) return std::move(times).error();
  if (!options.follow) return Ok();
  WEIR_DO(engine->Follow(workshop.stop));
  return Show(options, *engine, times.value(), peak);
}

int RunHydrateCommand(const Options& options) {
  Workshop workshop;
  auto done = Hydrate(options, workshop);
  if (!done.ok()) return Report(done.error(), workshop.stop);
  const int signal = options.follow ? workshop.stop.signal() : 0;  // --follow has no other end.
  return signal == 0 ? 0 : kSignalExit + signal;
}

// Names, values, defaults and origins of all flags that say how, not what.
std::vector<Setting> SettingsOf(const CLI::App& command) {
  std::vector<Setting> settings;
  for (const CLI::Option* option : command.get_options()) {
    const std::string name = option->get_single_name();
    if (option->get_positional() || name == "help" || option->get_group() != "Settings") continue;
    const bool given = option->count() > 0;
    const std::string standard = option->get_default_str();
    settings.push_back({name, given ? option->results().back() : standard, standard, given});
  }
  return settings;
}

int DefaultSpillThreads(int workers) { return std::max(2, workers / 4); }

// What is not given follows the workers that are.
void FollowWorkers(CLI::App& command, Options& options) {
  CLI::Option& threads = *command.get_option("--spill-threads");
  threads.default_str(std::to_string(DefaultSpillThreads(options.workers)));
  if (threads.count() == 0) options.spill_threads = DefaultSpillThreads(options.workers);
}

void AddSettings(CLI::App& command, Options& options) {
  const auto add = [&](const std::string& name, auto& value, const std::string& help) {
    return command.add_option(name, value, help)->capture_default_str()->group("Settings");
  };
  add("--memory", options.memory,
      "What the process may use, all in all: 2GiB; by default 0.8 of what there is")
      ->check(ByteSize());
  add("--budget-fraction", options.budget_fraction,
      "The pool's share of it, 128 MiB at least; 1: all that the rest leaves")
      ->check(CLI::Range(0.001, 1.0));
  add("--workers", options.workers, "Threads that read, sort and merge")->check(CLI::Range(1, 64));
  add("--concurrency", options.concurrency,
      "Objects that hydrate at a time; 0: as many as fit by estimate")
      ->check(CLI::Range(0, 1000));
  add("--batcher", options.batcher, "How updates are sorted and merged")
      ->check(CLI::IsMember({"auto", "snapshot", "legacy", "paged", "paged_spill", "paged_lz4"}));
  add("--spill-dir", options.spill_dir, "Where the spill file is")->check(NotEmpty());
  add("--spill-limit", options.spill_limit, "How large it may become")->check(ByteSize());
  add("--spill-threads", options.spill_threads, "Threads that spill; 0: whoever needs memory")
      ->check(CLI::Range(0, 64));
  add("--spill-handoff", options.spill_handoff,
      "What who needs memory does when they are too slow: spills too (help), or waits (block)")
      ->check(CLI::IsMember({"help", "block"}));
  add("--compress-min-depth", options.compress_min_depth,
      "Pages of fewer merges are spilled as they are; 255: all are")
      ->check(CLI::Range(0, 255));
  add("--eager-backing", options.eager_backing, "Spill ahead of need when threads are idle");
}

}  // namespace

void AddHydrate(CLI::App& app, Action& action) {
  CLI::App* command = app.add_subcommand(
      "hydrate", "Build the indexes that a SQL file asks for, and keep them up to date");
  const auto options = std::make_shared<Options>();
  options->memory = FormatBytes(static_cast<int64_t>(
      kDefaultShare * static_cast<double>(sys::UsableMemoryBytes())));
  options->workers = static_cast<int>(std::max(1U, std::thread::hardware_concurrency()));
  options->spill_threads = DefaultSpillThreads(options->workers);
  command->add_option("file", options->path, "Statements: CREATE SOURCE, CREATE INDEX")
      ->required()
      ->check(NotEmpty());
  AddSettings(*command, *options);
  command->add_flag("--follow", options->follow, "Then apply the sources' ticks, until Ctrl-C");
  command->add_flag("--digest", options->digest, "Print what each index holds as one number");
  command->add_flag("--json", options->json, "One JSON object on stdout when hydrated");
  command->add_flag("--quiet", options->quiet, "Errors only");
  command->callback([options, command, &action] {
    FollowWorkers(*command, *options);
    options->settings = SettingsOf(*command);
    action = [options] { return RunHydrateCommand(*options); };
  });
}

}  // namespace weir::app
