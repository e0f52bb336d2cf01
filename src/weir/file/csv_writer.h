#pragma once
// CsvWriter: batches as RFC 4180 text, with NULL told from the empty string.
#include "weir/file/table_writer.h"
#include "weir/sys/files.h"
#include "weir/table/schema.h"

namespace weir::file {

/// Opens `path` in `files` for rows of `schema`.
///
/// Form:    header line of names; CRLF between records; fields with a comma, a quote or a line
///          break are quoted and quotes doubled. NULL is an empty field, the empty string is "".
///          Values print as PostgreSQL's text: t and f, shortest float that reads back, ISO dates,
///          timestamptz in UTC as +00, bytea as \x hex, lists as array literals.
/// Memory:  one output buffer of 256 KiB.
/// Requires: `files` outlives the writer.
Result<std::unique_ptr<TableWriter>> NewCsvWriter(sys::Files& files, const std::string& path,
                                                  const std::string& relative_path,
                                                  const table::Schema& schema, Yield yield = {});

}  // namespace weir::file
