// Any bytes are split into statements that split into themselves, or refused in one sentence.
#include <cstdint>
#include <string>

#include "weir/base/assert.h"
#include "weir/base/bytes.h"
#include "weir/sql/statement_splitter.h"

namespace weir::sql {
namespace {

void SplitAndCheck(std::string_view text) {
  const auto split = SplitStatements(text);
  if (!split.ok()) {
    WEIR_ASSERT(split.error().code == Code::kUsage);
    WEIR_ASSERT(split.error().message.starts_with("line "));
    WEIR_ASSERT(split.error().message.find('\n') == std::string::npos);
    return;
  }
  if (text.starts_with("\xef\xbb\xbf")) text.remove_prefix(3);
  const char* end = text.data();
  for (const StatementText& one : split.value()) {
    WEIR_ASSERT(one.text.data() >= end && !one.text.empty());
    end = one.text.data() + one.text.size();
    WEIR_ASSERT(end <= text.data() + text.size());
    WEIR_ASSERT(one.at == After({}, text.substr(0, one.text.data() - text.data())));
    const std::string alone = ";" + std::string(one.text);  // A byte order mark only begins a file.
    const auto again = SplitStatements(alone);
    WEIR_ASSERT(again.ok() && again.value().size() == 1);
    WEIR_ASSERT(again.value()[0].text == one.text);
  }
}

}  // namespace
}  // namespace weir::sql

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  weir::sql::SplitAndCheck(weir::AsText({data, size}));
  return 0;
}
