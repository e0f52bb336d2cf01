#include "tests/support/folder.h"

#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <sstream>

#include "weir/base/assert.h"

namespace weir::test {

TempFolder::TempFolder() {
  const char* parent = std::getenv("TMPDIR");
  path_ = parent != nullptr && *parent == '/' ? parent : "/tmp";
  path_ += "/weir-test-XXXXXX";
  WEIR_ASSERT(mkdtemp(path_.data()) != nullptr);
}

TempFolder::~TempFolder() {
  std::error_code ignored;
  std::filesystem::remove_all(path_, ignored);
}

std::string TempFolder::Path(std::string_view name) const {
  return path_ + "/" + std::string(name);
}

std::string TempFolder::Write(std::string_view name, std::string_view contents) const {
  std::ofstream file(Path(name), std::ios::binary);
  file << contents;
  file.close();
  WEIR_ASSERT(file.good());
  return Path(name);
}

std::string TempFolder::Read(std::string_view name) const {
  std::ifstream file(Path(name), std::ios::binary);
  WEIR_ASSERT(file.good());
  std::stringstream contents;
  contents << file.rdbuf();
  return contents.str();
}

std::string FirstPart(const std::string& folder) {
  std::string first;
  std::error_code error;
  for (const auto& entry : std::filesystem::directory_iterator(folder, error)) {
    const std::string path = entry.path().string();
    const bool part = entry.path().filename().string().starts_with("part-");
    if (part && (first.empty() || path < first)) first = path;
  }
  return first;
}

}  // namespace weir::test
