#pragma once
// Units as people write and read them: bytes, durations, rates.
#include <chrono>
#include <cstdint>
#include <string>
#include <string_view>

#include "weir/base/result.h"

namespace weir {

inline constexpr int64_t kKiB = int64_t{1} << 10;
inline constexpr int64_t kMiB = int64_t{1} << 20;
inline constexpr int64_t kGiB = int64_t{1} << 30;

/// "512", "64KB", "256MB", "2GiB", "1.5 GB": powers of 1024, as in PostgreSQL's settings.
/// Errors: kInvalid with the text and an example.
Result<int64_t> ParseByteSize(std::string_view text);

/// 1536 -> "1.5 KiB".
std::string FormatBytes(int64_t bytes);

/// 1928176 -> "1,928,176".
std::string FormatCount(int64_t count);

/// 61234 ms -> "1 min 1 s", 4210 ms -> "4.2 s", 12 ms -> "12 ms".
std::string FormatDuration(std::chrono::milliseconds duration);

}  // namespace weir
