#include "weir/base/assert.h"
#include "weir/table/row_form_internal.h"

namespace weir::table {
namespace {

// Bytes 0 and 1 of a text in a key stand as 1 1 and 1 2, so that the 0 at its end is the lowest.
constexpr uint8_t kTextEnd = 0;
constexpr uint8_t kEscape = 1;

constexpr uint8_t kListEnd = 0;
constexpr uint8_t kListItem = 1;

constexpr int64_t kFrameBytes = 6;  // Of a text or list: tag and length, or tag and end.

// Two moves that overlap, or sixteen bytes at a time: most texts are short, and a call for each
// costs more than the copy.
uint8_t* PutBytes(Bytes text, uint8_t* to) {
  const size_t size = text.size();
  const uint8_t* const from = text.data();
  if (size >= 16) {
    for (size_t at = 0; at + 16 < size; at += 16) std::memcpy(to + at, from + at, 16);
    std::memcpy(to + size - 16, from + size - 16, 16);
  } else if (size >= 8) {
    std::memcpy(to, from, 8);
    std::memcpy(to + size - 8, from + size - 8, 8);
  } else if (size >= 4) {
    std::memcpy(to, from, 4);
    std::memcpy(to + size - 4, from + size - 4, 4);
  } else {
    for (size_t at = 0; at < size; ++at) to[at] = from[at];
  }
  return to + size;
}

bool NeedsEscapes(Bytes text) {
  bool any = false;
  for (const uint8_t byte : text) any |= byte <= kEscape;
  return any;
}

uint8_t* PutKeyText(Bytes text, uint8_t* to) {
  if (!NeedsEscapes(text)) [[likely]] {
    to = PutBytes(text, to);
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
  return PutBytes(text, PutLength(static_cast<uint32_t>(text.size()), to));
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
    PutValues(element, true, *data.element, at, {&to, 1});
  }
  *to++ = kListEnd;
  return to;
}

const uint8_t* TakeList(RowForm form, const uint8_t* from, ColumnBuilder& builder) {
  const RowForm element = FormOf(builder.element().type(), ElementInKey(form));
  while (*from++ == kListItem) TakeValues(element, true, {&from, 1}, builder.element());
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
uint8_t* PutFloat(Bits bits, uint8_t* to) {
  const auto ordered = static_cast<uint64_t>(OrderedBits(bits));
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

namespace {

int64_t MostValueBytes(RowForm form, const ColumnData& data, int64_t row) {
  if (data.element != nullptr) {
    const bool in_key = ElementInKey(form);
    const RowForm element = FormOf(data.element->type, in_key);
    int64_t bytes = kFrameBytes;
    for (int32_t at = data.OffsetAt(row); at < data.OffsetAt(row + 1); ++at) {
      bytes += 1 + MostValueBytes(element, *data.element, at);
    }
    return bytes;
  }
  const int64_t most = MostFormBytes(form);
  if (most != 0) return most;
  const auto size = static_cast<int64_t>(data.BytesAt(row).size());
  return kFrameBytes + (form == RowForm::kKeyText ? 2 * size : size);
}

// Where the values of a column are, read out of it once: bytes that are written may be anywhere as
// far as the compiler knows.
struct Values {
  explicit Values(const ColumnData& data)
      : bytes(data.values.has_value() ? data.values->data() : nullptr),
        offsets(data.offsets.has_value() ? data.offsets->data() : nullptr) {}

  template <typename T>
  T At(int64_t row) const {
    T value;
    std::memcpy(&value, bytes + row * static_cast<int64_t>(sizeof(T)), sizeof value);
    return value;
  }
  Bytes TextAt(int64_t row) const {
    int32_t ends[2];
    std::memcpy(ends, offsets + row * 4, sizeof ends);
    return {bytes + ends[0], static_cast<size_t>(ends[1] - ends[0])};
  }

  const uint8_t* bytes;
  const uint8_t* offsets;
};

// One value that is not null.
template <RowForm form>
uint8_t* PutPlain(const ColumnData& data, const Values& values, int64_t row, uint8_t* to) {
  if constexpr (form == RowForm::kByte) {
    *to = values.At<uint8_t>(row);
    return to + 1;
  } else if constexpr (form == RowForm::kInt16) {
    return PutInt(values.At<int16_t>(row), to);
  } else if constexpr (form == RowForm::kInt32) {
    return PutInt(values.At<int32_t>(row), to);
  } else if constexpr (form == RowForm::kInt64) {
    return PutInt(values.At<int64_t>(row), to);
  } else if constexpr (form == RowForm::kInt128) {
    return PutInt128(values.At<Int128>(row), to);
  } else if constexpr (form == RowForm::kFloat32) {
    return PutFloat(values.At<uint32_t>(row), to);
  } else if constexpr (form == RowForm::kFloat64) {
    return PutFloat(values.At<uint64_t>(row), to);
  } else if constexpr (form == RowForm::kUuid) {
    std::memcpy(to, values.bytes + row * 16, 16);
    return to + 16;
  } else if constexpr (form == RowForm::kKeyText) {
    return PutKeyText(values.TextAt(row), to);
  } else if constexpr (form == RowForm::kText) {
    return PutText(values.TextAt(row), to);
  } else {
    return PutList(form, data, row, to);
  }
}

template <RowForm form>
void PutAll(bool nullable, const ColumnData& data, int64_t first, std::span<uint8_t*> ends) {
  const Values values(data);
  const bool some_null = nullable && data.validity.has_value();
  const bool tagged = nullable && IsTagged(form);
  for (uint8_t*& end : ends) {
    const int64_t row = first++;
    uint8_t* to = end;
    if (some_null && data.IsNull(row)) {
      *to = kNullTag;
      end = to + 1;
      continue;
    }
    if (tagged) *to++ = kPresentTag;
    end = PutPlain<form>(data, values, row, to);
  }
}

}  // namespace

void PutValues(RowForm form, bool nullable, const ColumnData& data, int64_t first,
               std::span<uint8_t*> ends) {
  switch (form) {
    case RowForm::kByte: return PutAll<RowForm::kByte>(nullable, data, first, ends);
    case RowForm::kInt16: return PutAll<RowForm::kInt16>(nullable, data, first, ends);
    case RowForm::kInt32: return PutAll<RowForm::kInt32>(nullable, data, first, ends);
    case RowForm::kInt64: return PutAll<RowForm::kInt64>(nullable, data, first, ends);
    case RowForm::kInt128: return PutAll<RowForm::kInt128>(nullable, data, first, ends);
    case RowForm::kFloat32: return PutAll<RowForm::kFloat32>(nullable, data, first, ends);
    case RowForm::kFloat64: return PutAll<RowForm::kFloat64>(nullable, data, first, ends);
    case RowForm::kUuid: return PutAll<RowForm::kUuid>(nullable, data, first, ends);
    case RowForm::kKeyText: return PutAll<RowForm::kKeyText>(nullable, data, first, ends);
    case RowForm::kText: return PutAll<RowForm::kText>(nullable, data, first, ends);
    case RowForm::kKeyList: return PutAll<RowForm::kKeyList>(nullable, data, first, ends);
    case RowForm::kList: return PutAll<RowForm::kList>(nullable, data, first, ends);
  }
}

void AddMostBytes(RowForm form, const ColumnData& data, int64_t first, std::span<int64_t> bytes) {
  const bool text = form == RowForm::kKeyText || form == RowForm::kText;
  if (!text) {
    for (int64_t& each : bytes) each += MostValueBytes(form, data, first++);
    return;
  }
  const Values values(data);
  const int64_t times = form == RowForm::kKeyText ? 2 : 1;
  for (int64_t& each : bytes) each += kFrameBytes + times * std::ssize(values.TextAt(first++));
}

namespace {

// One value that is not null.
template <RowForm form>
const uint8_t* TakePlain(const uint8_t* from, ColumnBuilder& builder) {
  if constexpr (form == RowForm::kByte) {
    builder.AppendValue(*from);
    return from + 1;
  } else if constexpr (form == RowForm::kInt16) {
    return TakeIntAs<int16_t>(from, builder);
  } else if constexpr (form == RowForm::kInt32) {
    return TakeIntAs<int32_t>(from, builder);
  } else if constexpr (form == RowForm::kInt64) {
    return TakeIntAs<int64_t>(from, builder);
  } else if constexpr (form == RowForm::kInt128) {
    Int128 value;
    from = TakeInt128(from, value);
    builder.AppendValue(value);
    return from;
  } else if constexpr (form == RowForm::kFloat32) {
    return TakeFloat<uint32_t>(from, builder);
  } else if constexpr (form == RowForm::kFloat64) {
    return TakeFloat<uint64_t>(from, builder);
  } else if constexpr (form == RowForm::kUuid) {
    std::memcpy(builder.AppendFixed(16), from, 16);
    return from + 16;
  } else if constexpr (form == RowForm::kKeyText) {
    return TakeKeyText(from, builder);
  } else if constexpr (form == RowForm::kText) {
    return TakeText(from, builder);
  } else {
    return TakeList(form, from, builder);
  }
}

template <RowForm form>
void TakeAll(bool nullable, std::span<const uint8_t*> rows, ColumnBuilder& builder) {
  const bool tagged = nullable && IsTagged(form);
  for (const uint8_t*& from : rows) {
    if (nullable && *from == kNullTag) {
      builder.AppendNull();
      ++from;
      continue;
    }
    if (tagged) ++from;
    from = TakePlain<form>(from, builder);
  }
}

}  // namespace

void TakeValues(RowForm form, bool nullable, std::span<const uint8_t*> rows,
                ColumnBuilder& builder) {
  switch (form) {
    case RowForm::kByte: return TakeAll<RowForm::kByte>(nullable, rows, builder);
    case RowForm::kInt16: return TakeAll<RowForm::kInt16>(nullable, rows, builder);
    case RowForm::kInt32: return TakeAll<RowForm::kInt32>(nullable, rows, builder);
    case RowForm::kInt64: return TakeAll<RowForm::kInt64>(nullable, rows, builder);
    case RowForm::kInt128: return TakeAll<RowForm::kInt128>(nullable, rows, builder);
    case RowForm::kFloat32: return TakeAll<RowForm::kFloat32>(nullable, rows, builder);
    case RowForm::kFloat64: return TakeAll<RowForm::kFloat64>(nullable, rows, builder);
    case RowForm::kUuid: return TakeAll<RowForm::kUuid>(nullable, rows, builder);
    case RowForm::kKeyText: return TakeAll<RowForm::kKeyText>(nullable, rows, builder);
    case RowForm::kText: return TakeAll<RowForm::kText>(nullable, rows, builder);
    case RowForm::kKeyList: return TakeAll<RowForm::kKeyList>(nullable, rows, builder);
    case RowForm::kList: return TakeAll<RowForm::kList>(nullable, rows, builder);
  }
}

}  // namespace weir::table
