#include "tests/support/seeds.h"

#include <cstdlib>
#include <numeric>

namespace weir::test {

std::vector<uint64_t> Seeds(int count) {
  if (const char* one = std::getenv("WEIR_SEED")) return {std::strtoull(one, nullptr, 10)};
  constexpr int kLongFactor = 25;
  if (std::getenv("WEIR_LONG") != nullptr) count *= kLongFactor;
  if (const char* many = std::getenv("WEIR_SEEDS")) count = std::atoi(many);
  std::vector<uint64_t> seeds(static_cast<size_t>(count));
  std::iota(seeds.begin(), seeds.end(), uint64_t{1});
  return seeds;
}

}  // namespace weir::test
