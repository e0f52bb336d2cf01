#pragma once
// What `weir hydrate` is asked for: its flags, and the engine that they make.
#include <string>
#include <string_view>
#include <vector>

#include "weir/hydrate/engine.h"

namespace CLI {
class App;
}

namespace weir::app {

/// Who said what a setting is; the last of them counts.
enum class Origin : uint8_t { kDefault, kCommandLine, kStatement };

std::string_view OriginName(Origin origin);  ///< "command line"

/// One knob, as it was set.
struct Setting {
  std::string name;  ///< Of its flag, without the dashes.
  std::string value;
  std::string default_value;
  Origin origin = Origin::kDefault;
};

struct HydrateOptions {
  // ---- Settings: how.
  std::string memory;
  double budget_fraction = 1;
  int workers = 0;
  int concurrency = 0;
  std::string batcher = "auto";
  std::string spill_dir = "/tmp";
  std::string spill_limit = "1TiB";
  int spill_threads = 0;
  std::string spill_handoff = "help";
  std::string spill_codec = "auto";
  int compress_min_depth = 1;
  bool eager_backing = false;
  std::string pool_rss_target = "0";
  // ---- What.
  std::string path;
  std::string metrics_file;
  int64_t sorted_probes = 0;
  int64_t random_probes = 0;
  bool follow = false;
  bool digest = false;
  bool content_hash = false;
  bool json = false;
  bool quiet = false;
  std::vector<Setting> settings;  ///< All of the former, in the end.
};

/// Adds all flags, with defaults that suit the machine.
void AddHydrateFlags(CLI::App& command, HydrateOptions& options);

/// Fills options.settings once the command line was read, and those that follow from others.
void NoteSettings(CLI::App& command, HydrateOptions& options);

/// The engine that the settings ask for.
/// Errors: kUsage names a setting that was given and would have no effect beside the others.
Result<hydrate::EngineOptions> EngineOptionsOf(const HydrateOptions& options);

/// The options once a statement has set one of the bounds that may change while weir runs: `name`
/// is its flag's, with underscores. What EngineOptionsOf() refuses may be among them.
/// Errors: kUsage and kInvalid for another name, or a value that the flag would not take.
Result<HydrateOptions> AfterStatement(HydrateOptions options, const std::string& name,
                                      const std::string& value);

}  // namespace weir::app
