#pragma once
// Seeds for property tests: few by default, one alone when a failure is to be repeated.
#include <cstdint>
#include <vector>

namespace weir::test {

/// 1, 2, ... `count`, and 25 times as many under WEIR_LONG; or only $WEIR_SEED where that is set.
/// WEIR_SEEDS=n runs n of them instead.
/// Print the seed with SCOPED_TRACE so that a failure tells how to repeat it.
std::vector<uint64_t> Seeds(int count);

}  // namespace weir::test
