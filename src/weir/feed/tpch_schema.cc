#include <array>

#include "weir/feed/tpch_generator.h"

namespace weir::feed {
namespace {

using table::Kind;

struct Field {
  std::string_view name;
  Kind kind;
};

table::Schema SchemaOf(std::span<const Field> fields) {
  table::Schema schema;
  for (const Field& field : fields) {
    table::Column column;
    column.name = field.name;
    column.attnum = static_cast<int>(schema.columns.size()) + 1;
    column.nullable = false;
    column.type.kind = field.kind;
    if (field.kind == Kind::kDecimal) {
      column.type.precision = 15;
      column.type.scale = 2;
    }
    column.pg_type = field.kind == Kind::kDecimal ? "numeric(15,2)"
                     : field.kind == Kind::kInt64 ? "bigint"
                     : field.kind == Kind::kInt32 ? "integer"
                     : field.kind == Kind::kDate  ? "date"
                                                  : "text";
    schema.columns.push_back(std::move(column));
  }
  return schema;
}

constexpr Field kRegionFields[] = {
    {"r_regionkey", Kind::kInt64}, {"r_name", Kind::kText}, {"r_comment", Kind::kText}};
constexpr Field kNationFields[] = {{"n_nationkey", Kind::kInt64},
                                   {"n_name", Kind::kText},
                                   {"n_regionkey", Kind::kInt64},
                                   {"n_comment", Kind::kText}};
constexpr Field kSupplierFields[] = {
    {"s_suppkey", Kind::kInt64}, {"s_name", Kind::kText},       {"s_address", Kind::kText},
    {"s_nationkey", Kind::kInt64}, {"s_phone", Kind::kText}, {"s_acctbal", Kind::kDecimal},
    {"s_comment", Kind::kText}};
constexpr Field kPartFields[] = {
    {"p_partkey", Kind::kInt64}, {"p_name", Kind::kText}, {"p_mfgr", Kind::kText},
    {"p_brand", Kind::kText},    {"p_type", Kind::kText}, {"p_size", Kind::kInt32},
    {"p_container", Kind::kText}, {"p_retailprice", Kind::kDecimal}, {"p_comment", Kind::kText}};
constexpr Field kPartsuppFields[] = {{"ps_partkey", Kind::kInt64},
                                     {"ps_suppkey", Kind::kInt64},
                                     {"ps_availqty", Kind::kInt32},
                                     {"ps_supplycost", Kind::kDecimal},
                                     {"ps_comment", Kind::kText}};
constexpr Field kCustomerFields[] = {
    {"c_custkey", Kind::kInt64},   {"c_name", Kind::kText},  {"c_address", Kind::kText},
    {"c_nationkey", Kind::kInt64}, {"c_phone", Kind::kText}, {"c_acctbal", Kind::kDecimal},
    {"c_mktsegment", Kind::kText}, {"c_comment", Kind::kText}};
constexpr Field kOrdersFields[] = {
    {"o_orderkey", Kind::kInt64},     {"o_custkey", Kind::kInt64},
    {"o_orderstatus", Kind::kText},   {"o_totalprice", Kind::kDecimal},
    {"o_orderdate", Kind::kDate},     {"o_orderpriority", Kind::kText},
    {"o_clerk", Kind::kText},         {"o_shippriority", Kind::kInt32},
    {"o_comment", Kind::kText}};
constexpr Field kLineitemFields[] = {
    {"l_orderkey", Kind::kInt64},      {"l_partkey", Kind::kInt64},
    {"l_suppkey", Kind::kInt64},       {"l_linenumber", Kind::kInt32},
    {"l_quantity", Kind::kDecimal},    {"l_extendedprice", Kind::kDecimal},
    {"l_discount", Kind::kDecimal},    {"l_tax", Kind::kDecimal},
    {"l_returnflag", Kind::kText},     {"l_linestatus", Kind::kText},
    {"l_shipdate", Kind::kDate},       {"l_commitdate", Kind::kDate},
    {"l_receiptdate", Kind::kDate},    {"l_shipinstruct", Kind::kText},
    {"l_shipmode", Kind::kText},       {"l_comment", Kind::kText}};

constexpr std::string_view kNames[kTpchTableCount] = {
    "region", "nation", "supplier", "part", "partsupp", "customer", "orders", "lineitem"};

}  // namespace

std::string_view TpchTableName(TpchTable table) { return kNames[static_cast<size_t>(table)]; }

const table::Schema& TpchSchema(TpchTable table) {
  static const std::array<table::Schema, kTpchTableCount> kSchemas = {
      SchemaOf(kRegionFields),   SchemaOf(kNationFields),   SchemaOf(kSupplierFields),
      SchemaOf(kPartFields),     SchemaOf(kPartsuppFields), SchemaOf(kCustomerFields),
      SchemaOf(kOrdersFields),   SchemaOf(kLineitemFields)};
  return kSchemas[static_cast<size_t>(table)];
}

}  // namespace weir::feed
