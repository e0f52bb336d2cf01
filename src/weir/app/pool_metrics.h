#pragma once
// What an engine counts, under the names that programs read it by.
#include <memory>
#include <string>
#include <string_view>
#include <thread>
#include <vector>

#include "weir/hydrate/engine.h"
#include "weir/sys/files.h"
#include "weir/sys/stop.h"

namespace weir::app {

struct Metric {
  std::string name;  ///< Without "weir_"; ends in _total when it only grows.
  std::string_view help;
  double value = 0;
};

/// Of the pool, the memory and the processor time of this process.
std::vector<Metric> PoolMetrics(const mem::PoolCounters& counters);
std::vector<Metric> ProcessMetrics(const hydrate::Engine& engine);

/// The text format that Prometheus scrapes, for its node exporter's textfile collector.
std::string PrometheusText(const std::vector<Metric>& metrics);

/// Keeps a file up to date, whole at any time, once a second and at the end.
///
/// Threads: one. The engine must outlive it.
class MetricsFile {
 public:
  /// Errors: of sys::Files::ReplaceWhole, the first time; later ones are a warning in the log.
  static Result<std::unique_ptr<MetricsFile>> Start(std::string path,
                                                    const hydrate::Engine& engine,
                                                    sys::Files& files, sys::Clock& clock);
  ~MetricsFile();
  MetricsFile(const MetricsFile&) = delete;
  MetricsFile& operator=(const MetricsFile&) = delete;

 private:
  MetricsFile(std::string path, const hydrate::Engine& engine, sys::Files& files,
              sys::Clock& clock);
  Status Write();
  void Run();

  const std::string path_;
  const hydrate::Engine& engine_;
  sys::Files& files_;
  sys::Clock& clock_;
  sys::Stop done_;
  std::thread thread_;
};

}  // namespace weir::app
