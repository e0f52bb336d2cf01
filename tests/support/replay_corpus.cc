// Feeds every file of a corpus to a fuzzer's entry point: what a fuzzer once found stays tested
// without one.
#include <algorithm>
#include <cstdint>
#include <cstdio>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <string>
#include <vector>

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size);

int main(int argc, char** argv) {
  std::vector<std::filesystem::path> inputs;
  for (int at = 1; at < argc; ++at) {
    std::error_code missing;
    for (const auto& entry : std::filesystem::directory_iterator(argv[at], missing)) {
      if (entry.is_regular_file()) inputs.push_back(entry.path());
    }
  }
  if (inputs.empty()) {
    std::fprintf(stderr, "replay_corpus: no input files; usage: FUZZER CORPUS_FOLDER...\n");
    return 1;
  }
  std::sort(inputs.begin(), inputs.end());
  for (const auto& input : inputs) {
    std::fprintf(stderr, "%s\n", input.c_str());  // The last name printed is the one that crashed.
    std::ifstream file(input, std::ios::binary);
    const std::string contents((std::istreambuf_iterator<char>(file)), {});
    LLVMFuzzerTestOneInput(reinterpret_cast<const uint8_t*>(contents.data()), contents.size());
  }
  std::printf("%zu inputs replayed\n", inputs.size());
  return 0;
}
