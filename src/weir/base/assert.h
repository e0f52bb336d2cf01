#pragma once
// Assertions for broken invariants: WEIR_ASSERT aborts in every build, WEIR_DCHECK only in debug
// builds.

namespace weir {

/// Prints the expression and where it stands to stderr, then aborts.
[[noreturn]] void AssertionFailed(const char* expression, const char* file, int line);

}  // namespace weir

#define WEIR_ASSERT(expression) \
  ((expression) ? void(0) : ::weir::AssertionFailed(#expression, __FILE__, __LINE__))

#ifdef NDEBUG
#define WEIR_DCHECK(expression) (void(sizeof((expression) ? 1 : 0)))
#else
#define WEIR_DCHECK(expression) WEIR_ASSERT(expression)
#endif
