#pragma once
// TempFolder: a folder that is gone when the test is over.
#include <string>
#include <string_view>

namespace weir::test {

/// A new empty folder of mode 0700 under $TMPDIR or /tmp, removed with all in it at the end.
class TempFolder {
 public:
  TempFolder();
  ~TempFolder();
  TempFolder(const TempFolder&) = delete;
  TempFolder& operator=(const TempFolder&) = delete;

  const std::string& path() const { return path_; }
  /// "<path>/<name>".
  std::string Path(std::string_view name) const;
  /// Writes a file in it and returns its path.
  std::string Write(std::string_view name, std::string_view contents) const;
  /// The contents of a file in it; aborts when there is none.
  std::string Read(std::string_view name) const;

 private:
  std::string path_;
};

/// The path of the first part in an output folder; empty when there is none.
std::string FirstPart(const std::string& folder);

}  // namespace weir::test
