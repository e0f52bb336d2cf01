#pragma once
// The type map: what a PostgreSQL type becomes, decided from the catalog before anything is read.
#include <cstdint>
#include <string>
#include <string_view>

#include "weir/base/result.h"
#include "weir/table/schema.h"

namespace weir::pg {

/// What pg_type and pg_attribute say of a column's type.
struct CatalogType {
  uint32_t oid = 0;
  char typtype = 'b';  ///< b base, c composite, d domain, e enum, p pseudo, r range, m multirange.
  uint32_t element_oid = 0;   ///< Of a true array type, else 0.
  char element_typtype = 'b';
  int32_t typmod = -1;
  std::string name;           ///< As format_type() prints it.
};

/// The column type that carries every value of `type` exactly.
/// Errors: kInvalid "type X is not supported yet" for the rest.
Result<table::Type> MapType(const CatalogType& type);

}  // namespace weir::pg
