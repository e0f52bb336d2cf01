#pragma once
// The seed tables: content_items, 20 wide columns; narrow, 5 integers; wide_value and wide_columns,
// which strain memory. Same rows in every run.
#include <cstdint>
#include <functional>
#include <string>

#include "weir/base/result.h"
#include "weir/sys/stop.h"

namespace weir::experiment {

/// The size of content_items in the throttle experiment.
inline constexpr int64_t kContentItemsRows = 1'928'176;
inline constexpr int64_t kNarrowRows = 10'000'000;
inline constexpr int64_t kWideValueRows = 1'001;  ///< 1,000 small ones around the wide one.
inline constexpr int64_t kWideColumnsRows = 2'000;
inline constexpr int64_t kWideColumnBytes = 10'240;  ///< Of each of its 200 texts.

/// Told after every range of rows, from the calling thread: rows there now, rows there will be.
using SeedProgress = std::function<void(int64_t rows_done, int64_t rows)>;

/// Fills content_items with rows 1 to `rows`, in the database and schema that `url` connects to,
/// frozen and analysed. A table of the same size that an earlier call completed is taken as it is;
/// any other of that name is refused and left alone.
///
/// Cost:   44 µs of CPU per row on one server process; a table of kContentItemsRows is 1.4 GB.
/// Errors: kInvalid   another table of that name is there, or `rows` is not positive.
///         kCancelled stop was asked for; nothing is left behind.
///         of Connection otherwise.
Status SeedContentItems(const std::string& url, int64_t rows, const SeedProgress& progress,
                        const sys::Stop& stop);

/// The same for narrow. Cost: about 2 µs per row; 60 B/row.
Status SeedNarrow(const std::string& url, int64_t rows, const SeedProgress& progress,
                  const sys::Stop& stop);

/// The same for wide_value: kWideValueRows rows, the middle one with a text of `megabytes` MB.
Status SeedWideValue(const std::string& url, int64_t megabytes, const sys::Stop& stop);

/// The same for wide_columns: 200 texts of kWideColumnBytes a row. Cost: 2.4 MB per row.
Status SeedWideColumns(const std::string& url, int64_t rows, const SeedProgress& progress,
                       const sys::Stop& stop);

}  // namespace weir::experiment
