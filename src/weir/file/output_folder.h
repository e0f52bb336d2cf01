#pragma once
// OutputFolder: builds an export's folder out of sight and swaps it in whole.
#include <memory>
#include <string>
#include <string_view>

#include "weir/file/manifest.h"
#include "weir/sys/files.h"

namespace weir::file {

/// "part-00007-3f9ac21b.parquet": part 7 of run `run_id`. Names of two runs differ, so that who
/// reads by the manifest of one never meets a part of the other.
std::string PartName(std::string_view run_id, int part, std::string_view extension);

/// kInvalid when the last part of `path` is longer than a file system takes.
Status CheckFolderName(const std::string& path);

/// One run's output, in a dot folder beside `final_path` until Publish() gives it that name.
///
/// Invariant: a reader of final_path sees the previous run whole, or this one whole (decision
///            output-swap, I1). Destruction without Publish() removes what was built.
/// Crash:     the dot folder stays and is removed by the next Open() of the same final path.
/// Two runs:  the dot folder is locked while its run lives: nobody takes it for a dead one's.
class OutputFolder {
 public:
  /// Makes the dot folder, and removes those that dead runs left.
  /// Errors: kInvalid when final_path holds anything that weir did not write, is a link, or has a
  ///         name that is too long; kUnavailable when another run is at work on it.
  static Result<std::unique_ptr<OutputFolder>> Open(sys::Files& files,
                                                    const std::string& final_path,
                                                    const std::string& run_id);
  ~OutputFolder();
  OutputFolder(const OutputFolder&) = delete;
  OutputFolder& operator=(const OutputFolder&) = delete;

  /// Where to create the file that will be `name` in the final folder.
  std::string PathOf(const std::string& name) const { return sys::JoinPath(building_path_, name); }

  /// Writes the manifest, then _SUCCESS, and swaps the folder in: one rename exchange when there
  /// was a previous run, whose files are then removed.
  /// Errors: kCorrupt when a part is not what the manifest says: it was removed or cut meanwhile.
  Status Publish(const Manifest& manifest);

 private:
  Status CheckParts(const Manifest& manifest) const;
  OutputFolder(sys::Files& files, std::string final_path, std::string building_path,
               std::unique_ptr<sys::FolderLock> lock);

  sys::Files& files_;
  const std::string final_path_;
  const std::string building_path_;
  const std::unique_ptr<sys::FolderLock> lock_;  // On the folder that is being built.
  bool published_ = false;
};

}  // namespace weir::file
