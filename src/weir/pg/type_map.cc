#include "weir/pg/type_map.h"

#include <optional>

namespace weir::pg {
namespace {

using table::Kind;
using table::Type;

constexpr int kMostPrecision = 38;  // Decimal digits in an int128.
constexpr uint32_t kNumericOid = 1700;

// Built-in type OIDs are fixed: PostgreSQL's pg_type.dat.
std::optional<Kind> PlainKind(uint32_t oid) {
  switch (oid) {
    case 16: return Kind::kBool;
    case 21: return Kind::kInt16;
    case 23: return Kind::kInt32;
    case 20: return Kind::kInt64;
    case 700: return Kind::kFloat32;
    case 701: return Kind::kFloat64;
    case 17: return Kind::kBinary;
    case 25:
    case 1043:
    case 1042:
    case 19: return Kind::kText;  // text, varchar, bpchar, name.
    case 114:
    case 3802: return Kind::kJson;  // json, jsonb.
    case 1082: return Kind::kDate;
    case 1083: return Kind::kTime;
    case 1114: return Kind::kTimestamp;
    case 1184: return Kind::kTimestampTz;
    case 2950: return Kind::kUuid;
    default: return std::nullopt;
  }
}

Error NotYet(const CatalogType& type, std::string_view why) {
  return Fail(Code::kInvalid, "type {} is not supported yet{}", type.name, why);
}

// numeric's typmod: precision in the upper 16 bits, an 11-bit signed scale below (numeric.c).
Result<Type> MapNumeric(const CatalogType& type) {
  if (type.typmod < 4) return NotYet(type, " without a declared precision");
  int precision = ((type.typmod - 4) >> 16) & 0xffff;
  int scale = ((type.typmod - 4) & 0x7ff);
  if (scale >= 1024) scale -= 2048;
  if (scale < 0) {
    precision -= scale;  // numeric(5,-2) holds up to seven digits, the last two of them zero.
    scale = 0;
  }
  if (scale > precision) precision = scale;  // numeric(3,5) is 0.00xxx.
  if (precision > kMostPrecision) return NotYet(type, " with more than 38 digits");
  return Type{.kind = Kind::kDecimal, .precision = precision, .scale = scale, .element = {}};
}

}  // namespace

Result<Type> MapType(const CatalogType& type) {
  if (type.element_oid != 0) {
    CatalogType element = type;
    element.oid = type.element_oid;
    element.typtype = type.element_typtype;
    element.element_oid = 0;
    WEIR_TRY(Type mapped, MapType(element));
    return Type{.kind = Kind::kList,
                .precision = 0,
                .scale = 0,
                .element = std::make_shared<const Type>(std::move(mapped))};
  }
  if (type.typtype == 'e')
    return Type{.kind = Kind::kText, .precision = 0, .scale = 0, .element = {}};
  if (type.oid == kNumericOid) return MapNumeric(type);
  if (type.typtype == 'b') {
    if (const auto kind = PlainKind(type.oid)) {
      return Type{.kind = *kind, .precision = 0, .scale = 0, .element = {}};
    }
  }
  return NotYet(type, "");
}

}  // namespace weir::pg
