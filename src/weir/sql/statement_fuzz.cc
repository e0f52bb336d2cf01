// Any bytes given to the parser end in statements that can be used, or in one sentence.
#include <cstdint>

#include "weir/base/assert.h"
#include "weir/base/bytes.h"
#include "weir/sql/statement.h"

namespace weir::sql {
namespace {

void Check(const CreateSource& source) {
  WEIR_ASSERT(!source.name.empty() && source.name.size() <= kMaxNameBytes);
  if (const auto* folder = std::get_if<ParquetFolder>(&source.from)) {
    WEIR_ASSERT(!folder->path.empty());
    return;
  }
  const auto& load = std::get<TpchLoad>(source.from);
  WEIR_ASSERT(load.scale_factor > 0 && load.scale_factor <= kMaxScaleFactor);
  if (load.tick_interval.has_value()) {
    WEIR_ASSERT(load.tick_interval->count() > 0 && *load.tick_interval <= kMaxTickInterval);
  }
}

void Check(const CreateIndex& index) {
  WEIR_ASSERT(!index.name.empty() && index.name.size() <= kMaxNameBytes);
  WEIR_ASSERT(!index.table.table.empty() && !index.key_columns.empty());
}

void Check(const AlterSource& alter) { WEIR_ASSERT(!alter.name.empty()); }
void Check(const DropSource& drop) { WEIR_ASSERT(!drop.name.empty()); }
void Check(const DropIndex& drop) { WEIR_ASSERT(!drop.name.empty()); }
void Check(const AlterSystem& set) { WEIR_ASSERT(!set.name.empty()); }

void ParseAndCheck(std::string_view text) {
  const auto parsed = ParseStatements(text);
  if (!parsed.ok()) {
    WEIR_ASSERT(parsed.error().code == Code::kUsage);
    WEIR_ASSERT(parsed.error().message.starts_with("line "));
    WEIR_ASSERT(parsed.error().message.find('\n') == std::string::npos);
    return;
  }
  for (const Statement& statement : parsed.value()) {
    WEIR_ASSERT(!statement.text.empty());
    std::visit([](const auto& body) { Check(body); }, statement.body);
  }
}

}  // namespace
}  // namespace weir::sql

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  weir::sql::ParseAndCheck(weir::AsText({data, size}));
  return 0;
}
