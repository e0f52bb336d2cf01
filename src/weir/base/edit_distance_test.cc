#include "weir/base/edit_distance.h"

#include <algorithm>
#include <cstdlib>
#include <random>
#include <string>

#include <fmt/format.h>

namespace weir {
namespace {

// base is below the folder with test::Seeds.
uint64_t Seed() {
  const char* given = std::getenv("WEIR_SEED");
  return given != nullptr ? std::strtoull(given, nullptr, 10) : std::random_device{}();
}

// The definition, without a table: what the last bytes of both may have come from.
size_t SlowDistance(std::string_view a, std::string_view b) {
  if (a.empty() || b.empty()) return a.size() + b.size();
  const auto less = [](std::string_view text, size_t by) {
    return text.substr(0, text.size() - by);
  };
  size_t best = SlowDistance(less(a, 1), less(b, 1)) + (a.back() == b.back() ? 0 : 1);
  best = std::min(best, SlowDistance(less(a, 1), b) + 1);
  best = std::min(best, SlowDistance(a, less(b, 1)) + 1);
  if (a.size() > 1 && b.size() > 1 && a.back() == b[b.size() - 2] && b.back() == a[a.size() - 2]) {
    best = std::min(best, SlowDistance(less(a, 2), less(b, 2)) + 1);
  }
  return best;
}

TEST(EditDistance, AgreesWithItsDefinition) {
  const uint64_t seed = Seed();
  SCOPED_TRACE(fmt::format("to repeat: WEIR_SEED={}", seed));
  std::mt19937_64 rng(seed);
  const auto word = [&] {
    std::string text(rng() % 6, ' ');
    for (char& c : text) c = static_cast<char>('a' + rng() % 3);
    return text;
  };
  for (int round = 0; round < 500; ++round) {
    const std::string a = word();
    const std::string b = word();
    EXPECT_EQ(EditDistance(a, b), SlowDistance(a, b)) << a << " " << b;
    EXPECT_EQ(EditDistance(a, b), EditDistance(b, a)) << a << " " << b;
  }
  EXPECT_EQ(EditDistance("Batch_Size", "batch_size"), 0u);
}

}  // namespace
}  // namespace weir
