#include "weir/table/schema.h"

#include <fmt/format.h>

namespace weir::table {

std::string_view KindName(Kind kind) {
  switch (kind) {
    case Kind::kBool: return "bool";
    case Kind::kInt16: return "int16";
    case Kind::kInt32: return "int32";
    case Kind::kInt64: return "int64";
    case Kind::kFloat32: return "float32";
    case Kind::kFloat64: return "float64";
    case Kind::kDecimal: return "decimal";
    case Kind::kDate: return "date";
    case Kind::kTime: return "time";
    case Kind::kTimestamp: return "timestamp";
    case Kind::kTimestampTz: return "timestamptz";
    case Kind::kText: return "text";
    case Kind::kJson: return "json";
    case Kind::kBinary: return "binary";
    case Kind::kUuid: return "uuid";
    case Kind::kList: return "list";
  }
  return "unknown";
}

int64_t FixedWidth(Kind kind) {
  switch (kind) {
    case Kind::kBool: return 1;
    case Kind::kInt16: return 2;
    case Kind::kInt32:
    case Kind::kFloat32:
    case Kind::kDate: return 4;
    case Kind::kInt64:
    case Kind::kFloat64:
    case Kind::kTime:
    case Kind::kTimestamp:
    case Kind::kTimestampTz: return 8;
    case Kind::kDecimal:
    case Kind::kUuid: return 16;
    case Kind::kText:
    case Kind::kJson:
    case Kind::kBinary:
    case Kind::kList: return 0;
  }
  return 0;
}

std::string Type::Name() const {
  if (kind == Kind::kDecimal) return fmt::format("decimal({},{})", precision, scale);
  if (kind == Kind::kList) return fmt::format("list<{}>", element->Name());
  return std::string(KindName(kind));
}

}  // namespace weir::table
