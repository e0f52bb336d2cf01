#pragma once
// Schema: the columns of a table as weir carries them, and where each came from.
#include <cstdint>
#include <memory>
#include <string>
#include <vector>

namespace weir::table {

/// What a column's values are, independent of who stores them.
enum class Kind : uint8_t {
  kBool,         ///< One byte, 0 or 1.
  kInt16,
  kInt32,
  kInt64,
  kFloat32,
  kFloat64,
  kDecimal,      ///< int128, the value times 10^scale.
  kDate,         ///< int32, days since 1970-01-01.
  kTime,         ///< int64, microseconds since midnight.
  kTimestamp,    ///< int64, microseconds since 1970-01-01 in no time zone.
  kTimestampTz,  ///< int64, microseconds since 1970-01-01 UTC.
  kText,         ///< UTF-8.
  kJson,         ///< UTF-8 that parses as JSON.
  kBinary,
  kUuid,         ///< 16 bytes.
  kList,         ///< Any number of `element`, each of which may be null.
};

std::string_view KindName(Kind kind);

/// Bytes per value; 0 for text, json, binary and lists.
int64_t FixedWidth(Kind kind);

struct Type {
  Kind kind = Kind::kText;
  int precision = 0;                    ///< Decimals: total digits, 1 to 38.
  int scale = 0;                        ///< Decimals: digits after the point, 0 to precision.
  std::shared_ptr<const Type> element;  ///< Lists only.

  /// "decimal(12,2)", "list<text>": for messages, manifests and schemas.
  std::string Name() const;
};

struct Column {
  std::string name;
  int attnum = 0;            ///< pg_attribute.attnum; 0 when computed.
  std::string pg_type;       ///< As format_type() prints it: "numeric(12,2)".
  int32_t typmod = -1;
  bool nullable = true;
  Type type;
  std::string policy;        ///< The named policy that chose `type`; empty for the default.
};

struct Schema {
  std::vector<Column> columns;
};

}  // namespace weir::table
