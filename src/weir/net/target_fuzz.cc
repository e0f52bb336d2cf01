// Targets and URLs as anybody may send them: any text is one or an error, and what was read is
// written so that it is read back the same.
#include <cstddef>

#include "weir/base/assert.h"
#include "weir/base/bytes.h"
#include "weir/net/target.h"

using weir::Code;

namespace {

void CheckTarget(std::string_view text) {
  const auto target = weir::net::ParseTarget(text);
  if (!target.ok()) return WEIR_ASSERT(target.error().code == Code::kInvalid);
  WEIR_ASSERT(!target.value().segments.empty());
  for (const std::string& segment : target.value().segments) {
    WEIR_ASSERT(segment != "." && segment != "..");
    WEIR_ASSERT(segment.find('\0') == std::string::npos);
  }
  const std::string written = weir::net::FormatTarget(target.value());
  if (written.size() > weir::net::kMostTargetBytes) return;  // Encoding makes it up to 3 as long.
  const auto again = weir::net::ParseTarget(written);
  WEIR_ASSERT(again.ok());
  WEIR_ASSERT(again.value() == target.value());
}

void CheckUrl(std::string_view text) {
  const auto url = weir::net::ParseUrl(text);
  if (!url.ok()) return WEIR_ASSERT(url.error().code == Code::kInvalid);
  WEIR_ASSERT(!url.value().host.empty() && url.value().port != 0);
  const std::string written =
      (url.value().tls ? "https://" : "http://") + url.value().authority() + url.value().path;
  if (written.size() > weir::net::kMostTargetBytes) return;
  const auto again = weir::net::ParseUrl(written);
  WEIR_ASSERT(again.ok());
  WEIR_ASSERT(again.value() == url.value());
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  const std::string_view text = weir::AsText({data, size});
  CheckTarget(text);
  CheckUrl(text);
  const auto endpoint = weir::net::ParseEndpoint(text);
  WEIR_ASSERT(endpoint.ok() || endpoint.error().code == Code::kUsage);
  return 0;
}
