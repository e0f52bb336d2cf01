#include "weir/file/output_folder.h"

#include <set>

#include "weir/base/fault.h"
#include "weir/base/log.h"
#include "weir/sys/hash.h"

namespace weir::file {
namespace {

constexpr std::string_view kBuilding = ".building";

std::string NameOf(const std::string& path) { return path.substr(path.rfind('/') + 1); }

// Dot folders of this final path: ".<name>.<run id>.building". A run id has no dots, so that those
// of an export whose name begins with this one's are left alone.
bool IsLeftover(const std::string& entry, const std::string& final_name) {
  const std::string start = "." + final_name + ".";
  if (!entry.starts_with(start) || !entry.ends_with(kBuilding)) return false;
  if (entry.size() <= start.size() + kBuilding.size()) return false;
  const size_t run_id_bytes = entry.size() - start.size() - kBuilding.size();
  return entry.substr(start.size(), run_id_bytes).find('.') == entry.npos;
}

// Who is at work in such a folder holds its lock.
Status RemoveLeftovers(sys::Files& files, const std::string& parent,
                       const std::string& final_name) {
  WEIR_TRY(const auto entries, files.List(parent));
  for (const std::string& entry : entries) {
    if (!IsLeftover(entry, final_name)) continue;
    const std::string path = sys::JoinPath(parent, entry);
    const auto lock = files.TryLock(path);
    if (!lock.ok() && lock.error().code == Code::kNotFound) continue;  // Its run has just ended.
    if (!lock.ok()) return lock.error();
    if (lock.value() == nullptr) {
      return Fail(Code::kUnavailable,
                  "another run is writing '{}' now (its files are in '{}'); wait until it ends, or "
                  "give the two exports folders of their own",
                  sys::JoinPath(parent, final_name), entry);
    }
    WEIR_DO(files.Remove(path));
  }
  return Ok();
}

// The names that a previous run of weir put into `path`; none when its manifest is not one of ours.
Result<std::set<std::string>> NamesOfRun(sys::Files& files, const std::string& path) {
  const std::string manifest_path = sys::JoinPath(path, kManifestName);
  if (!files.Exists(manifest_path)) return std::set<std::string>();
  WEIR_TRY(const std::string text, files.Read(manifest_path, kMostManifestBytes));
  const auto manifest = ParseManifest(text);
  if (!manifest.ok()) {
    if (manifest.error().code == Code::kCorrupt) return std::set<std::string>();
    return Error(manifest.error()).In(fmt::format("'{}'", manifest_path));
  }
  std::set<std::string> names = {kManifestName, kSuccessName};
  for (const FilePart& part : manifest.value().parts) {
    names.insert(part.path.substr(0, part.path.find('/')));
  }
  return names;
}

// A folder is swapped out and removed with all that is in it, so all of it must be ours.
Status CheckReplaceable(sys::Files& files, const std::string& path) {
  if (!files.Exists(path)) return Ok();
  WEIR_TRY(const auto entries, files.List(path));
  WEIR_TRY(const auto ours, NamesOfRun(files, path));
  for (const std::string& entry : entries) {
    if (ours.contains(entry)) continue;
    return Fail(Code::kInvalid,
                "'{}' holds '{}', which weir did not write; move it away or choose another output "
                "folder",
                path, entry);
  }
  return Ok();
}

}  // namespace

OutputFolder::OutputFolder(sys::Files& files, std::string final_path, std::string building_path,
                           std::unique_ptr<sys::FolderLock> lock)
    : files_(files),
      final_path_(std::move(final_path)),
      building_path_(std::move(building_path)),
      lock_(std::move(lock)) {}

OutputFolder::~OutputFolder() {
  if (published_) return;
  if (auto removed = files_.Remove(building_path_); !removed.ok()) {
    LogWarn("{}", removed.error().message);
  }
}

Result<std::unique_ptr<OutputFolder>> OutputFolder::Open(sys::Files& files,
                                                         const std::string& final_path,
                                                         const std::string& run_id) {
  std::string trimmed = final_path;
  while (trimmed.size() > 1 && trimmed.back() == '/') trimmed.pop_back();
  const std::string parent = sys::ParentPath(trimmed);
  const std::string name = NameOf(trimmed);
  WEIR_DO(files.MakeFolder(parent));
  WEIR_DO(CheckReplaceable(files, trimmed));
  WEIR_DO(RemoveLeftovers(files, parent, name));
  const std::string building =
      sys::JoinPath(parent, fmt::format(".{}.{}{}", name, run_id, kBuilding));
  WEIR_DO(files.MakeFolder(building));
  WEIR_TRY(auto lock, files.TryLock(building));
  // A run that began at the same moment may have seen the folder before it was locked.
  if (lock == nullptr || !files.Exists(building)) {
    return Fail(Code::kUnavailable, "another run began to write '{}' at the same moment; run again",
                trimmed);
  }
  return std::unique_ptr<OutputFolder>(
      new OutputFolder(files, trimmed, building, std::move(lock)));
}

Status OutputFolder::Publish(const Manifest& manifest) {
  WEIR_DO(FaultPoint("output_folder.parts_done"));
  const std::string json = ManifestJson(manifest);
  WEIR_DO(files_.WriteWhole(PathOf(kManifestName), json));
  WEIR_DO(FaultPoint("output_folder.manifest_done"));
  WEIR_DO(
      files_.WriteWhole(PathOf(kSuccessName), fmt::format("{:016x}\n", sys::Xxh3(AsBytes(json)))));
  WEIR_DO(files_.SyncFolder(building_path_));
  WEIR_DO(FaultPoint("output_folder.success_done"));
  WEIR_DO(CheckReplaceable(files_, final_path_));  // It may have changed during a long run.
  const std::string parent = sys::ParentPath(final_path_);
  const bool replaces = files_.Exists(final_path_);
  if (replaces) {
    WEIR_DO(files_.Exchange(building_path_, final_path_));
  } else {
    WEIR_DO(files_.Rename(building_path_, final_path_));
  }
  published_ = true;
  WEIR_DO(files_.SyncFolder(parent));
  WEIR_DO(FaultPoint("output_folder.swapped"));
  if (!replaces) return Ok();
  // The previous run, by the name it now has. The new one is in place whether it goes or not.
  if (const auto removed = files_.Remove(building_path_); !removed.ok()) {
    LogWarn("{}", removed.error().message);
  }
  return Ok();
}

}  // namespace weir::file
