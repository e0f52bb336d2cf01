#include "weir/app/hydrate_options.h"

#include <CLI/CLI.hpp>
#include <algorithm>
#include <charconv>
#include <thread>

#include "weir/app/flag_check.h"
#include "weir/base/units.h"
#include "weir/sys/process.h"

namespace weir::app {
namespace {

constexpr double kDefaultShare = 0.8;  // Of the memory that there is.
constexpr double kLeastFraction = 0.001;

// What a variant of the ladder is made of: docs/decisions/legacy-batcher.md, pool.md.
struct Variant {
  const char* name;
  delta::BatcherKind kind;
  bool spills = true;  // Those that do not know no bound either: swap is their only spill.
  const char* codec = "lz4";  // Unless --spill-codec says another, where it may.
  bool any_codec = false;
  bool from_heap = false;
  bool to_swap = false;
};

constexpr Variant kVariants[] = {
    {.name = "auto", .kind = delta::BatcherKind::kSnapshot, .codec = "auto", .any_codec = true},
    {.name = "snapshot",
     .kind = delta::BatcherKind::kSnapshot,
     .codec = "auto",
     .any_codec = true},
    {.name = "legacy", .kind = delta::BatcherKind::kLegacy, .spills = false},
    {.name = "paged_malloc",
     .kind = delta::BatcherKind::kPaged,
     .spills = false,
     .from_heap = true},
    {.name = "paged", .kind = delta::BatcherKind::kPaged, .spills = false},
    {.name = "paged_spill", .kind = delta::BatcherKind::kPaged, .codec = "none"},
    {.name = "paged_lz4", .kind = delta::BatcherKind::kPaged},
    {.name = "paged_pageout", .kind = delta::BatcherKind::kPaged, .to_swap = true},
};

std::vector<std::string> VariantNames() {
  std::vector<std::string> names;
  for (const Variant& variant : kVariants) names.emplace_back(variant.name);
  return names;
}

const Variant& VariantOf(const std::string& name) {
  return *std::find_if(std::begin(kVariants), std::end(kVariants),
                       [&](const Variant& variant) { return name == variant.name; });
}

Setting& SettingOf(HydrateOptions& options, const std::string& name) {
  const auto found = std::find_if(options.settings.begin(), options.settings.end(),
                                  [&](const Setting& setting) { return setting.name == name; });
  WEIR_ASSERT(found != options.settings.end());
  return *found;
}

// As whoever set it wrote it: "--pool-rss-target", "ALTER SYSTEM SET pool_rss_target".
std::string WrittenName(const Setting& setting) {
  if (setting.origin != Origin::kStatement) return "--" + setting.name;
  std::string name = setting.name;
  std::replace(name.begin(), name.end(), '-', '_');
  return "ALTER SYSTEM SET " + name;
}

Status Refuse(const HydrateOptions& options, const std::vector<std::string>& names,
              const std::string& beside) {
  for (const Setting& setting : options.settings) {
    const bool named = std::find(names.begin(), names.end(), setting.name) != names.end();
    if (!named || setting.origin == Origin::kDefault) continue;
    return Fail(Code::kUsage, "{} has no effect with {}; leave one of them out",
                WrittenName(setting), beside);
  }
  return Ok();
}

Status RefuseIneffective(const HydrateOptions& options) {
  const auto refuse = [&](const std::vector<std::string>& names, const std::string& beside) {
    return Refuse(options, names, beside);
  };
  const Variant& variant = VariantOf(options.batcher);
  const std::string batcher = "--batcher " + options.batcher;
  if (!variant.spills) {
    WEIR_DO(refuse({"memory", "budget-fraction", "spill-dir", "spill-limit", "spill-threads",
                    "spill-handoff", "spill-codec", "compress-min-depth", "eager-backing",
                    "pool-rss-target"},
                   batcher + ", which neither knows a bound nor spills"));
  }
  if (!variant.any_codec) {
    WEIR_DO(refuse({"spill-codec"},
                   fmt::format("{}, whose codec is always {}", batcher, variant.codec)));
  }
  if (options.spill_codec == "none") {
    WEIR_DO(refuse({"compress-min-depth"}, "a codec of none, which compresses no page"));
  }
  if (variant.to_swap) {
    WEIR_DO(refuse({"spill-dir"}, batcher + ", which spills to the kernel's swap"));
  }
  if (options.budget_fraction >= 1) {
    WEIR_DO(refuse({"pool-rss-target"},
                   "a budget fraction of 1, which leaves nothing above the pool's share"));
  }
  if (options.spill_threads == 0) {
    WEIR_DO(refuse({"spill-handoff", "eager-backing"}, "--spill-threads 0"));
  }
  return Ok();
}

Result<double> ParseFraction(const std::string& text) {
  double fraction = 0;
  const char* const end = text.data() + text.size();
  const auto read = std::from_chars(text.data(), end, fraction);
  if (read.ec != std::errc() || read.ptr != end || fraction < kLeastFraction || fraction > 1) {
    return Fail(Code::kUsage, "'{}' is no share from {} to 1; write 0.5 for half", text,
                kLeastFraction);
  }
  return fraction;
}

int DefaultSpillThreads(int workers) { return std::max(2, workers / 4); }

void AddSettings(CLI::App& command, HydrateOptions& options) {
  const auto add = [&](const std::string& name, auto& value, const std::string& help) {
    return command.add_option(name, value, help)->capture_default_str()->group("Settings");
  };
  add("--memory", options.memory,
      "What the process may use, all in all: 2GiB; by default 0.8 of what there is")
      ->check(ByteSize());
  add("--budget-fraction", options.budget_fraction,
      "The pool's share of it, 128 MiB at least; 1: all that the rest leaves")
      ->check(CLI::Range(kLeastFraction, 1.0));
  add("--workers", options.workers, "Threads that read, sort and merge")->check(CLI::Range(1, 64));
  add("--concurrency", options.concurrency,
      "Objects that hydrate at a time; 0: as many as fit by estimate")
      ->check(CLI::Range(0, 1000));
  add("--batcher", options.batcher, "How updates are sorted and merged")
      ->check(CLI::IsMember(VariantNames()));
  add("--spill-dir", options.spill_dir, "Where the spill file is")->check(NotEmpty());
  add("--spill-limit", options.spill_limit, "How large it may become")->check(ByteSize());
  add("--spill-threads", options.spill_threads, "Threads that spill; 0: whoever needs memory")
      ->check(CLI::Range(0, 64));
  add("--spill-handoff", options.spill_handoff,
      "What who needs memory does when they are too slow: spills too (help), or waits (block)")
      ->check(CLI::IsMember({"help", "block"}));
  add("--spill-codec", options.spill_codec,
      "How spilled pages are compressed: lz4, none, or auto: lz4 while that is quicker than "
      "writing more bytes")
      ->check(CLI::IsMember({"auto", "lz4", "none"}));
  add("--compress-min-depth", options.compress_min_depth,
      "Pages of fewer merges are spilled as they are; 255: all are")
      ->check(CLI::Range(0, 255));
  add("--pool-rss-target", options.pool_rss_target,
      "With a --budget-fraction: spilled pages stay in memory, compressed, until the pool has this")
      ->check(ByteSize());
  add("--eager-backing", options.eager_backing, "Spill ahead of need when threads are idle");
}

}  // namespace

std::string_view OriginName(Origin origin) {
  switch (origin) {
    case Origin::kDefault: return "default";
    case Origin::kCommandLine: return "command line";
    case Origin::kStatement: return "statement";
  }
  WEIR_ASSERT(false);
}

void AddHydrateFlags(CLI::App& command, HydrateOptions& options) {
  options.memory = FormatBytes(static_cast<int64_t>(
      kDefaultShare * static_cast<double>(sys::UsableMemoryBytes())));
  options.workers = static_cast<int>(std::max(1U, std::thread::hardware_concurrency()));
  options.spill_threads = DefaultSpillThreads(options.workers);
  command.add_option("file", options.path, "Statements: CREATE SOURCE, CREATE INDEX")
      ->required()
      ->check(NotEmpty());
  AddSettings(command, options);
  command.add_flag("--follow", options.follow, "Then apply the sources' ticks, until Ctrl-C");
  command.add_flag("--digest", options.digest, "Print what each index holds as one number");
  command.add_flag("--content-hash", options.content_hash,
                   "The same as a number that PostgreSQL and DuckDB can compute from the rows");
  command
      .add_option("--probe-sorted", options.sorted_probes,
                  "Then look up so many keys of the largest index in their order, and time it")
      ->check(AtLeast(1));
  command
      .add_option("--probe-random", options.random_probes,
                  "Then look up so many keys of it in any order, and time it")
      ->check(AtLeast(1));
  command
      .add_option("--metrics-file", options.metrics_file,
                  "Write counters to this file every second, as Prometheus reads them")
      ->check(NotEmpty());
  command.add_flag("--json", options.json, "One JSON object on stdout when hydrated");
  command.add_flag("--quiet", options.quiet, "Errors only");
}

// What is not given follows the workers that are.
void NoteSettings(CLI::App& command, HydrateOptions& options) {
  CLI::Option& threads = *command.get_option("--spill-threads");
  threads.default_str(std::to_string(DefaultSpillThreads(options.workers)));
  if (threads.count() == 0) options.spill_threads = DefaultSpillThreads(options.workers);
  CLI::Option& codec = *command.get_option("--spill-codec");
  codec.default_str(VariantOf(options.batcher).codec);
  if (codec.count() == 0) options.spill_codec = VariantOf(options.batcher).codec;
  options.settings.clear();
  for (const CLI::Option* option : command.get_options()) {
    if (option->get_group() != "Settings") continue;
    const bool given = option->count() > 0;
    const std::string standard = option->get_default_str();
    options.settings.push_back({option->get_single_name(),
                                given ? option->results().back() : standard, standard,
                                given ? Origin::kCommandLine : Origin::kDefault});
  }
}

Result<hydrate::EngineOptions> EngineOptionsOf(const HydrateOptions& options) {
  WEIR_DO(RefuseIneffective(options));
  const Variant& variant = VariantOf(options.batcher);
  hydrate::EngineOptions engine;
  WEIR_TRY(engine.memory_bytes, ParseByteSize(options.memory), "--memory");
  WEIR_TRY(engine.spill_limit_bytes, ParseByteSize(options.spill_limit), "--spill-limit");
  WEIR_TRY(engine.pool_rss_target_bytes, ParseByteSize(options.pool_rss_target),
           "--pool-rss-target");
  if (!variant.spills) engine.memory_bytes = mem::kUnlimited;
  engine.budget_fraction = options.budget_fraction;
  engine.worker_count = options.workers;
  engine.concurrency = options.concurrency;
  engine.batcher = variant.kind;
  engine.frames = variant.from_heap ? mem::FrameSource::kHeap : mem::FrameSource::kReserved;
  engine.spill_folder = options.spill_dir;
  engine.spill_to_swap = variant.to_swap;
  engine.pool.spill = variant.spills;
  engine.pool.spill_threads = options.spill_threads;
  engine.pool.handoff = options.spill_handoff == "block" ? mem::SpillHandoff::kBlock
                                                         : mem::SpillHandoff::kHelp;
  engine.pool.compress_min_depth =
      options.spill_codec == "none" ? mem::PoolOptions::kNeverCompress : options.compress_min_depth;
  engine.pool.codec = options.spill_codec == "auto" ? mem::SpillCodec::kWhereQuicker
                                                    : mem::SpillCodec::kAlways;
  engine.pool.eager_backing = options.eager_backing;
  return engine;
}

Result<HydrateOptions> AfterStatement(HydrateOptions options, const std::string& name,
                                      const std::string& value) {
  if (name == "budget_fraction") {
    WEIR_TRY(options.budget_fraction, ParseFraction(value), "{}", name);
  } else if (name == "memory" || name == "pool_rss_target") {
    if (auto bytes = ParseByteSize(value); !bytes.ok()) return std::move(bytes).error().In(name);
    (name == "memory" ? options.memory : options.pool_rss_target) = value;
  } else {
    return Fail(Code::kUsage,
                "there is no setting {} that may change while weir runs; there are memory, "
                "budget_fraction and pool_rss_target",
                name);
  }
  std::string flag = name;
  std::replace(flag.begin(), flag.end(), '_', '-');
  Setting& setting = SettingOf(options, flag);
  setting.value = value;
  setting.origin = Origin::kStatement;
  return options;
}

}  // namespace weir::app
