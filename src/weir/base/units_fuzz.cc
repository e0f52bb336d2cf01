// Sizes as people write them: any text is a size or an error, and a size is never negative.
#include <cstddef>

#include "weir/base/bytes.h"
#include "weir/base/units.h"

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  const auto parsed = weir::ParseByteSize(weir::AsText({data, size}));
  if (!parsed.ok()) {
    WEIR_ASSERT(parsed.error().code == weir::Code::kInvalid);
    return 0;
  }
  WEIR_ASSERT(parsed.value() >= 0);
  // What is printed can be read again; it is rounded to a tenth, so only up to half of that off.
  const auto again = weir::ParseByteSize(weir::FormatBytes(parsed.value()));
  WEIR_ASSERT(again.ok());
  WEIR_ASSERT(again.value() >= parsed.value() / 20 * 19);
  return 0;
}
