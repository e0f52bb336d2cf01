#include "weir/base/assert.h"

#include <cstdio>
#include <cstdlib>

namespace weir {

void AssertionFailed(const char* expression, const char* file, int line) {
  std::fprintf(stderr, "weir: broken invariant: %s (%s:%d)\n", expression, file, line);
  std::abort();
}

}  // namespace weir
