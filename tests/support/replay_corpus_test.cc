// A fuzzer's entry point that shows what replay_corpus.cc gave it.
#include <cstddef>
#include <cstdint>
#include <cstdio>

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* /*data*/, size_t size) {
  std::fprintf(stderr, "input of %zu bytes\n", size);
  return 0;
}
