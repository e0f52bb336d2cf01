#include "weir/app/pool_metrics.h"

#include <fmt/format.h>

#include "weir/base/log.h"
#include "weir/sys/accounting.h"
#include "weir/sys/process.h"
#include "weir/sys/thread.h"

namespace weir::app {

std::vector<Metric> PoolMetrics(const mem::PoolCounters& counters) {
  std::vector<Metric> metrics;
  const auto add = [&](const char* name, int64_t value, const char* help) {
    metrics.push_back({std::string("pool_") + name, help, static_cast<double>(value)});
  };
  add("inserts_total", counters.inserts, "Pages filled");
  add("frees_total", counters.frees, "Pages dropped by their owners");
  add("live_chunks", counters.live_pages, "Pages, wherever their bytes are");
  add("resident_bytes", counters.resident_bytes, "Of pages in memory, as they were filled");
  add("oversize_bytes", 0, "Always 0: pages of any size are in frames, and can be evicted");
  add("oversize_payloads_total", 0, "Always 0: pages of any size are in frames");
  add("slot_exhausted_fallbacks_total", 0,
      "Always 0: without an address for a frame, what asked for it fails");
  add("writes_elided_total", counters.writes_elided, "Pages dropped that were never written");
  add("evictions_compress_total", counters.evictions_compress,
      "Pages evicted that had to be written first");
  add("evictions_cheap_total", counters.evictions_cheap,
      "Pages evicted that were on the device already");
  add("extent_bytes_written_total", counters.extent_bytes_written, "To the spill device");
  add("extent_raw_bytes_written_total", counters.extent_raw_bytes_written,
      "To the spill device, before compression");
  add("extent_bytes_read_total", counters.extent_bytes_read, "From the spill device");
  add("extent_resident_bytes", counters.extent_resident_bytes,
      "Of pages that were spilled, what is in memory as it is stored");
  add("extent_unreclaimable_bytes", counters.extent_unreclaimable_bytes,
      "Spilled to swap that the kernel kept in memory");
  add("extent_pageouts_total", counters.extent_pageouts,
      "Times that the kernel, asked to swap spilled bytes out, did so with all of them");
  add("extent_pageout_incomplete_total", counters.extent_pageouts_incomplete,
      "Times that it left some in memory");
  add("extent_arena_fallbacks_total", 0,
      "Always 0: without room for an extent, what asked for it fails");
  add("spill_scheduled_total", counters.spill_scheduled, "Pages picked to be written");
  add("spill_cancelled_total", counters.spill_cancelled, "Pages dropped while being written");
  add("spill_in_flight", counters.spill_in_flight, "Pages being written");
  add("eager_backs_total", counters.eager_backs, "Pages written before memory was needed");
  add("producer_evictions_total", counters.producer_evictions,
      "Times that who needed memory evicted for itself");
  add("admissions_budget_total", counters.admissions_budget,
      "Pages brought back into memory that was free");
  add("admissions_steal_total", counters.admissions_steal,
      "Pages brought back into memory of others");
  add("admissions_denied_total", counters.admissions_denied,
      "Pages that found no memory to come back to");
  add("warm_bytes", counters.frames.warm_bytes, "Free frames that are still backed by memory");
  add("warm_reuses_total", counters.frames.warm_reuses, "Frames that cost no page fault");
  add("fresh_frames_total", counters.frames.fresh_frames, "Frames that the kernel had to find");
  add("frame_releases_total", counters.frames.releases,
      "Times that memory went back to the kernel");
  return metrics;
}

std::vector<Metric> ProcessMetrics(const hydrate::Engine& engine) {
  const sys::ProcessUsage usage = sys::ReadProcessUsage();
  const sys::Accounting accounting = sys::ReadAccounting();
  std::vector<Metric> metrics;
  const auto add = [&](std::string name, double value, const char* help) {
    metrics.push_back({std::move(name), help, value});
  };
  const mem::Budget& budget = engine.budget();
  if (budget.limit_bytes() != mem::kUnlimited) {
    add("memory_limit_bytes", static_cast<double>(budget.limit_bytes()),
        "As --memory, or ALTER SYSTEM, says");
  }
  add("memory_charged_bytes", static_cast<double>(budget.used_bytes()), "Of --memory, in use");
  add("memory_charged_peak_bytes", static_cast<double>(budget.peak_bytes()),
      "Of --memory, the most that was in use");
  add("anonymous_bytes", static_cast<double>(usage.anonymous_bytes),
      "Memory of the process that no file backs");
  add("resident_bytes", static_cast<double>(usage.rss_bytes), "Memory of the process");
  add("user_seconds_total", static_cast<double>(usage.user_micros) / 1e6,
      "Processor time outside the kernel");
  add("system_seconds_total", static_cast<double>(usage.system_micros) / 1e6,
      "Processor time in the kernel");
  add("major_faults_total", static_cast<double>(usage.major_faults),
      "Page faults that waited for a device");
  add("device_read_bytes_total", static_cast<double>(usage.device_read_bytes),
      "From block devices, swap included");
  add("device_written_bytes_total", static_cast<double>(usage.device_written_bytes),
      "To block devices");
  for (size_t at = 0; at < sys::kActivityCount; ++at) {
    const auto name = sys::ActivityName(static_cast<sys::Activity>(at));
    add(fmt::format("cpu_seconds_total{{activity=\"{}\"}}", name),
        sys::Seconds(accounting.cpu[at]), "Processor time by what it was spent on");
  }
  for (size_t at = 0; at < sys::kWaitCount; ++at) {
    const auto name = sys::WaitName(static_cast<sys::Wait>(at));
    add(fmt::format("wait_seconds_total{{cause=\"{}\"}}", name),
        sys::Seconds(accounting.waits[at]), "Time of threads that waited, by what for");
  }
  return metrics;
}

std::string PrometheusText(const std::vector<Metric>& metrics) {
  std::string text;
  std::string last;
  for (const Metric& metric : metrics) {
    const std::string family = metric.name.substr(0, metric.name.find('{'));
    if (family != last) {
      const char* const type = family.ends_with("_total") ? "counter" : "gauge";
      text += fmt::format("# HELP weir_{0} {1}\n# TYPE weir_{0} {2}\n", family, metric.help, type);
      last = family;
    }
    text += fmt::format("weir_{} {}\n", metric.name, metric.value);
  }
  return text;
}

MetricsFile::MetricsFile(std::string path, const hydrate::Engine& engine, sys::Files& files,
                         sys::Clock& clock)
    : path_(std::move(path)), engine_(engine), files_(files), clock_(clock) {}

Result<std::unique_ptr<MetricsFile>> MetricsFile::Start(std::string path,
                                                        const hydrate::Engine& engine,
                                                        sys::Files& files, sys::Clock& clock) {
  std::unique_ptr<MetricsFile> file(new MetricsFile(std::move(path), engine, files, clock));
  WEIR_DO(file->Write(), "--metrics-file");
  WEIR_TRY(file->thread_, sys::StartThread([self = file.get()] { self->Run(); }));
  return file;
}

MetricsFile::~MetricsFile() {
  done_.Ask();
  if (thread_.joinable()) thread_.join();
}

Status MetricsFile::Write() {
  std::vector<Metric> metrics = PoolMetrics(engine_.counters());
  for (Metric& metric : ProcessMetrics(engine_)) metrics.push_back(std::move(metric));
  return files_.ReplaceWhole(path_, PrometheusText(metrics));
}

void MetricsFile::Run() {
  constexpr sys::Duration kBetweenWrites = std::chrono::seconds(1);
  bool last = false;
  while (!last) {
    clock_.Wait(kBetweenWrites, done_);
    last = done_.asked();
    const Status written = Write();
    if (!written.ok()) LogWarn("--metrics-file: {}", written.error().message);
  }
}

}  // namespace weir::app
