#include "weir/base/assert.h"
#include "weir/table/row_form_internal.h"

namespace weir::table {
namespace {

// Bytes 0 and 1 of a text in a key stand as 1 1 and 1 2, so that the 0 at its end is the lowest.
constexpr uint8_t kTextEnd = 0;
constexpr uint8_t kEscape = 1;

constexpr uint8_t kListEnd = 0;
constexpr uint8_t kListItem = 1;

bool NeedsEscapes(Bytes text) {
  bool any = false;
  for (const uint8_t byte : text) any |= byte <= kEscape;
  return any;
}

uint8_t* PutKeyText(Bytes text, uint8_t* to) {
  if (!NeedsEscapes(text)) [[likely]] {
    if (!text.empty()) std::memcpy(to, text.data(), text.size());
    to += text.size();
  } else {
    for (const uint8_t byte : text) {
      if (byte <= kEscape) *to++ = kEscape;
      *to++ = byte <= kEscape ? static_cast<uint8_t>(byte + 1) : byte;
    }
  }
  *to++ = kTextEnd;
  return to;
}

const uint8_t* TakeKeyText(const uint8_t* from, ColumnBuilder& builder) {
  const uint8_t* end = from;
  while (*end != kTextEnd) ++end;
  const Bytes written(from, end);
  if (std::memchr(from, kEscape, written.size()) == nullptr) [[likely]] {
    builder.AppendBytes(from, static_cast<int64_t>(written.size()));
    return end + 1;
  }
  std::string text;
  for (size_t at = 0; at < written.size(); ++at) {
    const bool escaped = written[at] == kEscape;
    text += static_cast<char>(escaped ? written[++at] - 1 : written[at]);
  }
  builder.AppendBytes(AsBytes(text).data(), static_cast<int64_t>(text.size()));
  return end + 1;
}

uint8_t* PutText(Bytes text, uint8_t* to) {
  to = PutLength(static_cast<uint32_t>(text.size()), to);
  if (!text.empty()) std::memcpy(to, text.data(), text.size());
  return to + text.size();
}

const uint8_t* TakeText(const uint8_t* from, ColumnBuilder& builder) {
  uint32_t length;
  from = TakeLength(from, length);
  builder.AppendBytes(from, length);
  return from + length;
}

bool ElementInKey(RowForm form) { return form == RowForm::kKeyList; }

uint8_t* PutList(RowForm form, const ColumnData& data, int64_t row, uint8_t* to) {
  const RowForm element = FormOf(data.element->type, ElementInKey(form));
  for (int32_t at = data.OffsetAt(row); at < data.OffsetAt(row + 1); ++at) {
    *to++ = kListItem;
    to = PutValue(element, true, *data.element, at, to);
  }
  *to++ = kListEnd;
  return to;
}

const uint8_t* TakeList(RowForm form, const uint8_t* from, ColumnBuilder& builder) {
  const RowForm element = FormOf(builder.element().type(), ElementInKey(form));
  while (*from++ == kListItem) from = TakeValue(element, true, from, builder.element());
  builder.AppendList();
  return from;
}

template <typename T>
const uint8_t* TakeIntAs(const uint8_t* from, ColumnBuilder& builder) {
  int64_t value;
  from = TakeInt(from, value);
  builder.AppendValue(static_cast<T>(value));
  return from;
}

template <typename Bits>
uint8_t* PutFloat(const ColumnData& data, int64_t row, uint8_t* to) {
  const auto ordered = static_cast<uint64_t>(OrderedBits(data.At<Bits>(row)));
  StoreBigEndian(to, ordered << (64 - 8 * sizeof(Bits)));
  return to + sizeof(Bits);
}

template <typename Bits>
const uint8_t* TakeFloat(const uint8_t* from, ColumnBuilder& builder) {
  const uint64_t ordered = LoadBigEndian(from) >> (64 - 8 * sizeof(Bits));
  builder.AppendValue(FromOrderedBits(static_cast<Bits>(ordered)));
  return from + sizeof(Bits);
}

}  // namespace

RowForm FormOf(const Type& type, bool in_key) {
  switch (type.kind) {
    case Kind::kBool: return RowForm::kByte;
    case Kind::kInt16: return RowForm::kInt16;
    case Kind::kInt32:
    case Kind::kDate: return RowForm::kInt32;
    case Kind::kInt64:
    case Kind::kTime:
    case Kind::kTimestamp:
    case Kind::kTimestampTz: return RowForm::kInt64;
    case Kind::kDecimal: return RowForm::kInt128;
    case Kind::kFloat32: return RowForm::kFloat32;
    case Kind::kFloat64: return RowForm::kFloat64;
    case Kind::kUuid: return RowForm::kUuid;
    case Kind::kText:
    case Kind::kJson:
    case Kind::kBinary: return in_key ? RowForm::kKeyText : RowForm::kText;
    case Kind::kList: return in_key ? RowForm::kKeyList : RowForm::kList;
  }
  WEIR_ASSERT(false);
}

int64_t MostFormBytes(RowForm form) {
  switch (form) {
    case RowForm::kByte: return 1;
    case RowForm::kInt16: return 3;
    case RowForm::kInt32: return 5;
    case RowForm::kInt64: return 9;
    case RowForm::kInt128: return 17;
    case RowForm::kFloat32: return 5;
    case RowForm::kFloat64: return 9;
    case RowForm::kUuid: return 17;
    case RowForm::kKeyText:
    case RowForm::kText:
    case RowForm::kKeyList:
    case RowForm::kList: return 0;
  }
  WEIR_ASSERT(false);
}

int64_t MostValueBytes(RowForm form, const ColumnData& data, int64_t row) {
  constexpr int64_t kFrame = 6;  // Tag and length, or tag and end.
  if (data.element != nullptr) {
    const bool in_key = ElementInKey(form);
    const RowForm element = FormOf(data.element->type, in_key);
    int64_t bytes = kFrame;
    for (int32_t at = data.OffsetAt(row); at < data.OffsetAt(row + 1); ++at) {
      bytes += 1 + MostValueBytes(element, *data.element, at);
    }
    return bytes;
  }
  const int64_t most = MostFormBytes(form);
  if (most != 0) return most;
  const auto size = static_cast<int64_t>(data.BytesAt(row).size());
  return kFrame + (form == RowForm::kKeyText ? 2 * size : size);
}

uint8_t* PutValue(RowForm form, bool nullable, const ColumnData& data, int64_t row, uint8_t* to) {
  if (nullable) {
    if (data.IsNull(row)) {
      *to = kNullTag;
      return to + 1;
    }
    if (IsTagged(form)) *to++ = kPresentTag;
  }
  switch (form) {
    case RowForm::kByte: *to = data.At<uint8_t>(row); return to + 1;
    case RowForm::kInt16: return PutInt(data.At<int16_t>(row), to);
    case RowForm::kInt32: return PutInt(data.At<int32_t>(row), to);
    case RowForm::kInt64: return PutInt(data.At<int64_t>(row), to);
    case RowForm::kInt128: return PutInt128(data.At<Int128>(row), to);
    case RowForm::kFloat32: return PutFloat<uint32_t>(data, row, to);
    case RowForm::kFloat64: return PutFloat<uint64_t>(data, row, to);
    case RowForm::kUuid: std::memcpy(to, data.values->data() + row * 16, 16); return to + 16;
    case RowForm::kKeyText: return PutKeyText(data.BytesAt(row), to);
    case RowForm::kText: return PutText(data.BytesAt(row), to);
    case RowForm::kKeyList:
    case RowForm::kList: return PutList(form, data, row, to);
  }
  WEIR_ASSERT(false);
}

const uint8_t* TakeValue(RowForm form, bool nullable, const uint8_t* from,
                         ColumnBuilder& builder) {
  if (nullable) {
    if (*from == kNullTag) {
      builder.AppendNull();
      return from + 1;
    }
    if (IsTagged(form)) ++from;
  }
  switch (form) {
    case RowForm::kByte: builder.AppendValue(*from); return from + 1;
    case RowForm::kInt16: return TakeIntAs<int16_t>(from, builder);
    case RowForm::kInt32: return TakeIntAs<int32_t>(from, builder);
    case RowForm::kInt64: return TakeIntAs<int64_t>(from, builder);
    case RowForm::kInt128: {
      Int128 value;
      from = TakeInt128(from, value);
      builder.AppendValue(value);
      return from;
    }
    case RowForm::kFloat32: return TakeFloat<uint32_t>(from, builder);
    case RowForm::kFloat64: return TakeFloat<uint64_t>(from, builder);
    case RowForm::kUuid: std::memcpy(builder.AppendFixed(16), from, 16); return from + 16;
    case RowForm::kKeyText: return TakeKeyText(from, builder);
    case RowForm::kText: return TakeText(from, builder);
    case RowForm::kKeyList:
    case RowForm::kList: return TakeList(form, from, builder);
  }
  WEIR_ASSERT(false);
}

}  // namespace weir::table
