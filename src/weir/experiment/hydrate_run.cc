#include "weir/experiment/hydrate_run.h"

#include <fmt/ranges.h>

#include <algorithm>
#include <cmath>
#include <csignal>
#include <nlohmann/json.hpp>

#include "weir/experiment/child_run.h"
#include "weir/experiment/swap_file.h"
#include "weir/experiment/tpch_files.h"
#include "weir/sys/hash.h"

namespace weir::experiment {
namespace {

using nlohmann::json;

struct KeyPair {
  const char* printed;
  const char* cell;
};

// Of the printed object itself.
constexpr KeyPair kWholeNumbers[] = {
    {"peak_anonymous_bytes", "peak_anonymous_bytes"},
    {"device_read_bytes", "device_read_bytes"},
    {"device_written_bytes", "device_written_bytes"},
    {"ledger_gap_bytes", "ledger_gap_bytes"},
    {"update_bytes", "update_bytes"},
    {"major_faults", "major_faults"},
};
constexpr KeyPair kNumbers[] = {
    {"fewest_busy_cores", "fewest_busy_cores"},
    {"spill_pinned_s", "spill_pinned_s"},
    {"utime_s", "utime_s"},
    {"stime_s", "stime_s"},
};
// Of "pool", "cpu_s" and "wait_s".
constexpr KeyPair kPool[] = {
    {"extent_bytes_written", "extent_bytes_written"},
    {"extent_raw_bytes_written", "extent_raw_bytes_written"},
    {"extent_bytes_read", "extent_bytes_read"},
};
constexpr KeyPair kProcessor[] = {
    {"decode", "decode_s"}, {"encode", "encode_s"}, {"exchange", "exchange_s"},
    {"sort", "sort_s"},     {"merge", "merge_s"},   {"copy", "copy_s"},
    {"codec", "codec_s"},   {"io", "io_s"},         {"other", "other_s"},
};
constexpr KeyPair kUncounted = {"uncounted", "uncounted_s"};  // Of no activity.
constexpr KeyPair kWaits[] = {
    {"spill", "wait_spill_s"},
    {"read", "wait_read_s"},
    {"budget", "wait_budget_s"},
    {"meet", "wait_meet_s"},
    {"fault", "wait_fault_s"},
};

// Takes over those keys that are there and have a value.
template <typename Number>
void Take(const json& printed, std::span<const KeyPair> keys, Cell& cell) {
  for (const KeyPair& key : keys) {
    const auto found = printed.find(key.printed);
    if (found != printed.end() && !found->is_null()) cell.Set(key.cell, found->get<Number>());
  }
}

// The split, and how much of the processor seconds of the process its activities explain.
void TakeProcessor(const json& printed, Cell& cell) {
  const auto split = printed.find("cpu_s");
  if (split == printed.end()) return;
  Take<double>(*split, kProcessor, cell);
  Take<double>(*split, {&kUncounted, 1}, cell);
  double sum = 0;
  for (const KeyPair& activity : kProcessor) sum += cell.Number(activity.cell).value_or(0);
  const double all = printed.at("utime_s").get<double>() + printed.at("stime_s").get<double>();
  if (all > 0) cell.Set("cpu_split_ratio", sum / all);
}

void TakeProbes(const json& printed, Cell& cell) {
  const auto probes = printed.find("probes");
  if (probes == printed.end() || !probes->is_object()) return;
  std::string digests;
  for (const char* name : {"sorted", "random"}) {
    const auto found = probes->find(name);
    if (found == probes->end() || found->is_null()) continue;
    const json& probe = *found;
    const double seconds = probe.at("seconds").get<double>();
    const auto count = probe.at("count").get<int64_t>();
    if (seconds > 0) {
      cell.Set(fmt::format("probe_{}_per_s", name), static_cast<double>(count) / seconds);
    }
    digests += fmt::format("{} {} {}\n", name, count, probe.at("digest").get<std::string>());
  }
  if (!digests.empty()) cell.Set("probe_digest", OneDigest({digests}));
}

Result<std::vector<ObjectTime>> ReadObjectTimes(const json& printed) {
  std::vector<ObjectTime> objects;
  for (const json& object : printed.at("objects")) {
    const auto name = object.at("object").get<std::string>();
    if (!object.at("time_ns").is_number()) {
      return Fail(Code::kInvalid, "{} is {}: {}", name, object.at("status").get<std::string>(),
                  object.at("error").is_string() ? object.at("error").get<std::string>() : "");
    }
    objects.push_back({name, object.at("hydration_ns").get<double>() / 1e9,
                       object.at("time_ns").get<int64_t>()});
  }
  return objects;
}

// Span, sum, geomean and the digest over all objects.
void SumUp(const std::vector<ObjectTime>& objects, const json& printed, Cell& cell) {
  double logs = 0;
  int64_t last = 0;
  int64_t sum = 0;
  for (const ObjectTime& object : objects) {
    last = std::max(last, object.time_ns);
    sum += object.time_ns;
    logs += std::log(std::max(object.hydration_s, 1e-6));
  }
  const auto count = static_cast<int64_t>(objects.size());
  cell.Set("span_s", static_cast<double>(last) / 1e9).Set("sum_time_ns", sum);
  cell.Set("objects_done", count);
  cell.Set("geomean_s", std::exp(logs / static_cast<double>(std::max<int64_t>(1, count))));
  for (const char* key : {"digest", "content_hash"}) {
    std::vector<std::string> texts;
    for (const json& object : printed.at("objects")) {
      if (object.contains(key) && object.at(key).is_string()) texts.push_back(object.at(key));
    }
    if (!texts.empty()) cell.Set(key, OneDigest(texts));
  }
}

Result<HydrateRun> ReadPrinted(const json& printed) {
  HydrateRun run;
  WEIR_TRY(run.objects, ReadObjectTimes(printed));
  SumUp(run.objects, printed, run.cell);
  Take<int64_t>(printed, kWholeNumbers, run.cell);
  Take<double>(printed, kNumbers, run.cell);
  Take<int64_t>(printed.at("pool"), kPool, run.cell);
  TakeProcessor(printed, run.cell);
  if (printed.contains("wait_s")) Take<double>(printed.at("wait_s"), kWaits, run.cell);
  TakeProbes(printed, run.cell);
  return run;
}

bool SpillsToSwap(std::string_view batcher) { return batcher == "paged_pageout"; }

std::vector<std::string> Arguments(const HydrateCall& call) {
  std::vector<std::string> all = {"--json",        "--digest",
                                  "--batcher",     call.batcher,
                                  "--workers",     std::to_string(call.workers),
                                  "--concurrency", std::to_string(call.concurrency)};
  if (call.probes.sorted > 0) {
    all.insert(all.end(), {"--probe-sorted", std::to_string(call.probes.sorted)});
  }
  if (call.probes.random > 0) {
    all.insert(all.end(), {"--probe-random", std::to_string(call.probes.random)});
  }
  all.insert(all.end(), call.flags.begin(), call.flags.end());
  return all;
}

bool IsBound(const HydrateCall& call) { return KnowsBound(call.batcher) && call.memory_bytes > 0; }

ChildCommand CommandOf(const HydrateCall& call, const HydrateBench& bench) {
  ChildCommand command;
  command.argv = {ThisProgram(), "hydrate", call.sql_path};
  const std::vector<std::string> arguments = Arguments(call);
  command.argv.insert(command.argv.end(), arguments.begin(), arguments.end());
  if (IsBound(call)) {
    command.argv.insert(command.argv.end(), {"--memory", std::to_string(call.memory_bytes)});
  }
  if (IsBound(call) && !SpillsToSwap(call.batcher)) {
    command.argv.insert(command.argv.end(), {"--spill-dir", bench.scratch});
  }
  command.folder = bench.scratch;
  return command;
}

// There are more groups of objects that hydrate together, whatever --concurrency is.
constexpr const char* kKillHalfWay = "WEIR_FAULT=engine.group_hydrated:4=kill";

Status RunAndKill(ChildCommand command, const HydrateBench& bench) {
  command.environment = {kKillHalfWay};
  command.exit_code = 128 + SIGKILL;
  WEIR_TRY(const ChildRun killed, RunChild(command, bench.clock, bench.stop));
  return Ok();
}

}  // namespace

std::string OneDigest(const std::vector<std::string>& texts) {
  std::string all;
  for (const std::string& text : texts) all += text + "\n";
  return fmt::format("{:016x}", sys::Xxh3(AsBytes(all)));
}

bool KnowsBound(std::string_view batcher) {
  return batcher != "legacy" && batcher != "paged" && batcher != "paged_malloc";
}

std::string CommandText(const HydrateCall& call) {
  return fmt::format("weir hydrate FILE --json --digest --batcher {}{}", call.batcher,
                     KnowsBound(call.batcher) ? " --memory M" : "");
}

Result<HydrateRun> ReadHydrateOutput(std::string_view text) {
  const json printed = json::parse(text, nullptr, false);
  if (printed.is_discarded()) {
    return Fail(Code::kCorrupt, "weir hydrate printed no JSON: {}", text.substr(0, 80));
  }
  try {
    return ReadPrinted(printed);
  } catch (const json::exception& error) {
    return Fail(Code::kCorrupt, "weir hydrate printed other JSON than this bench reads: {}",
                error.what());
  }
}

Result<HydrateRun> RunHydrate(const HydrateCall& call, const HydrateBench& bench) {
  ChildCommand command = CommandOf(call, bench);
  if (call.rehydrate) {
    WEIR_DO(RunAndKill(command, bench), "{}, to be killed half way", call.batcher);
  }
  command.group_path = call.group_path;
  WEIR_TRY(const ChildRun child, RunChild(command, bench.clock, bench.stop), "{}", call.batcher);
  WEIR_TRY(HydrateRun run, ReadHydrateOutput(child.output));
  // What it says of its own processor time ends before the digests and the probes.
  const Cell printed = std::move(run.cell);
  run.cell = child.AsCell();
  run.cell.Merge(printed);
  if (IsBound(call)) run.cell.Set("memory_bytes", call.memory_bytes);
  return run;
}

std::string_view VoidReason(std::string_view batcher, const Cell& cell) {
  const bool swaps = !KnowsBound(batcher) || SpillsToSwap(batcher);
  const auto spilled = cell.Number(swaps ? "peak_swap_bytes" : "extent_bytes_written");
  return spilled.value_or(0) > 0 ? "" : "spilled nothing";
}

Variant HydrateVariant(Cell parameters, const HydrateCall& call, const HydrateBench& bench,
                       MeasureCall measure) {
  Variant variant;
  variant.parameters = std::move(parameters);
  variant.settings.Set("seed", std::to_string(kTpchSeed));
  variant.settings.Set("swap", fmt::format("{}", fmt::join(ActiveSwaps(), " ")));
  variant.settings.Set("probes",
                       fmt::format("{} sorted, {} random", call.probes.sorted, call.probes.random));
  variant.settings.Set("command", CommandText(call));
  const Cell& own = variant.parameters;
  const ObjectCell objects = {own.Text("scale_factor"),     own.Text("scenario"), own.Text("rung"),
                              own.Text("pressure"), variant.AllSettings().Hash(), 0};
  variant.measure = [=, &bench, measure = std::move(measure)](int trial) {
    return measure(call, [&](const HydrateCall& completed) -> Result<Cell> {
      WEIR_TRY(HydrateRun run, RunHydrate(completed, bench));
      ObjectCell of = objects;
      of.trial = trial;
      WEIR_DO(RecordObjects(bench.files, bench.folder, of, run.objects));
      return std::move(run.cell);
    });
  };
  return variant;
}

Variant PressureVariant(const HydrateOptions& options, std::string_view kind,
                        const std::string& rung, double pressure, const HydrateBench& bench,
                        MeasureCall measure) {
  Cell parameters = HydrateParameters(options, kind, rung);
  parameters.Set("pressure", pressure);
  Variant variant = HydrateVariant(std::move(parameters), CallOf(options, rung), bench,
                                   std::move(measure));
  if (pressure > 0) variant.detail = fmt::format("at pressure {}", pressure);
  return variant;
}

Cell HydrateParameters(const HydrateOptions& options, std::string_view kind,
                       std::string_view rung) {
  Cell parameters;
  parameters.Set("ladder", "hydrate").Set("kind", std::string(kind)).Set("rung", std::string(rung));
  parameters.Set("scale_factor", options.scale_factor);
  parameters.Set("order", options.shuffled ? "shuffled" : "generated");
  parameters.Set("objects", "indexes").Set("scenario", options.rehydrate ? "rehydrate" : "initial");
  parameters.Set("workers", static_cast<int64_t>(options.workers));
  parameters.Set("concurrency", static_cast<int64_t>(options.concurrency));
  return parameters;
}

HydrateCall CallOf(const HydrateOptions& options, std::string_view batcher) {
  HydrateCall call;
  call.batcher = batcher;
  call.workers = options.workers;
  call.concurrency = options.concurrency;
  call.probes = options.probes;
  call.rehydrate = options.rehydrate;
  return call;
}

}  // namespace weir::experiment
