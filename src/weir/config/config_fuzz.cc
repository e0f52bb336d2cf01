// Any bytes given to the loader end in a Config or in one sentence; what it accepts is usable.
#include <cstdint>
#include <cstdlib>

#include "weir/base/assert.h"
#include "weir/config/config.h"
#include "weir/config/connection.h"

namespace weir::config {
namespace {

std::optional<std::string> FuzzEnv(const std::string& name) {
  if (name == "UNSET") return std::nullopt;
  return "postgresql://" + name;
}

void LoadAndUse(std::string_view text) {
  const auto loaded = LoadConfig(text, "fuzz.yaml", FuzzEnv);
  if (!loaded.ok()) {
    WEIR_ASSERT(loaded.error().code == Code::kUsage);
    WEIR_ASSERT(loaded.error().message.find('\n') == std::string::npos);
    return;
  }
  sys::MemoryFiles files;
  const Config& config = loaded.value();
  WEIR_ASSERT(!config.exports.empty());
  (void)ResolveConnection(config.source, files, FuzzEnv);
  for (const ExportConfig& one : config.exports) {
    const int subjects = one.table.has_value() + !one.query.empty() + !one.query_file.empty();
    WEIR_ASSERT(subjects == 1);
    WEIR_ASSERT(!OutputFolder(one, "2026-11-30").empty());
    WEIR_ASSERT(one.tuning.batch_size > 0);
    WEIR_ASSERT(one.row_groups.raw_bytes > 0 && one.row_groups.rows.value_or(1) > 0);
  }
}

}  // namespace
}  // namespace weir::config

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  weir::config::LoadAndUse({reinterpret_cast<const char*>(data), size});
  return 0;
}
