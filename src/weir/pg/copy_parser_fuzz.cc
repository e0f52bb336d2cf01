// Any bytes given to the parser as a COPY stream end in whole rows or in one sentence.
//
// Input: a byte of column count, two bytes per column (kind and flags, scale), a byte that seeds
// the sizes of pieces, then the stream.
#include <cstdint>
#include <random>

#include "weir/base/assert.h"
#include "weir/pg/copy_parser.h"

namespace weir::pg {
namespace {

constexpr int64_t kMostValueBytes = 4096;
constexpr size_t kMostColumns = 12;
constexpr int kScalarKinds = static_cast<int>(table::Kind::kList);

table::Type TypeOf(uint8_t kind, uint8_t scale) {
  table::Type type;
  type.kind = static_cast<table::Kind>(kind % kScalarKinds);
  if (type.kind == table::Kind::kDecimal) {
    type.precision = 38;
    type.scale = scale % 39;
  }
  return type;
}

// Bits of the first byte: 0-4 kind, 5 list, 6 not null, 7 jsonb.
CopyColumn ColumnOf(uint8_t bits, uint8_t scale) {
  CopyColumn column;
  column.column.name = "c";
  column.column.type = TypeOf(bits & 31, scale);
  column.is_jsonb = (bits & 128) != 0 && column.column.type.kind == table::Kind::kJson;
  column.column.nullable = (bits & 64) == 0;
  if ((bits & 32) != 0) {
    table::Type list;
    list.kind = table::Kind::kList;
    list.element = std::make_shared<const table::Type>(column.column.type);
    column.column.type = std::move(list);
  }
  return column;
}

void CheckColumn(const table::ColumnData& column, int64_t rows) {
  WEIR_ASSERT(column.length == rows);
  int64_t nulls = 0;
  for (int64_t row = 0; row < rows; ++row) nulls += column.IsNull(row) ? 1 : 0;
  WEIR_ASSERT(nulls == column.null_count);
  const int64_t width = table::FixedWidth(column.type.kind);
  if (width != 0) {
    WEIR_ASSERT(column.values->size() == rows * width);
    return;
  }
  WEIR_ASSERT(column.OffsetAt(0) == 0);
  for (int64_t row = 0; row < rows; ++row) {
    WEIR_ASSERT(column.OffsetAt(row) <= column.OffsetAt(row + 1));
  }
  if (column.element != nullptr) {
    CheckColumn(*column.element, column.OffsetAt(rows));
  } else {
    WEIR_ASSERT(column.values->size() == column.OffsetAt(rows));
  }
}

void CheckError(const Error& error) {
  WEIR_ASSERT(error.code == Code::kCorrupt || error.code == Code::kInvalid);
  WEIR_ASSERT(!error.message.empty() && error.message.find('\n') == std::string::npos);
}

void TakeAndCheck(CopyParser& parser) {
  const int64_t rows = parser.batch_rows();
  const table::Batch batch = parser.TakeBatch();
  WEIR_ASSERT(batch.row_count == rows);
  for (const table::ColumnData& column : batch.columns) CheckColumn(column, rows);
}

void ParseInPieces(CopyParser& parser, Bytes stream, uint8_t seed) {
  std::minstd_rand random(seed);
  while (!stream.empty()) {
    // Seed 0: all at once.
    const size_t wanted = seed == 0 ? stream.size() : 1 + random() % 64;
    const Bytes piece = stream.subspan(0, std::min(wanted, stream.size()));
    stream = stream.subspan(piece.size());
    const Status fed = parser.Feed(piece);
    if (!fed.ok()) return CheckError(fed.error());
    if (random() % 8 == 0) TakeAndCheck(parser);
  }
  const Status ended = parser.End();
  if (!ended.ok()) CheckError(ended.error());
  TakeAndCheck(parser);
}

}  // namespace
}  // namespace weir::pg

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  using namespace weir;
  Bytes input(data, size);
  if (input.empty()) return 0;
  const size_t count = input[0] % (pg::kMostColumns + 1);
  if (input.size() < 2 + 2 * count) return 0;
  std::vector<pg::CopyColumn> columns;
  for (size_t at = 0; at < count; ++at) {
    columns.push_back(pg::ColumnOf(input[1 + 2 * at], input[2 + 2 * at]));
  }
  const uint8_t seed = input[1 + 2 * count];
  mem::Budget budget("fuzz", mem::kUnlimited);  // Aborts unless all memory comes back.
  mem::BlockAllocator blocks(budget, 0);
  pg::CopyParser parser(std::move(columns), blocks, pg::kMostValueBytes);
  pg::ParseInPieces(parser, input.subspan(2 + 2 * count), seed);
  return 0;
}
