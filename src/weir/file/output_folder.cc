#include "weir/file/output_folder.h"

#include "weir/base/fault.h"
#include "weir/base/log.h"
#include "weir/sys/hash.h"

namespace weir::file {
namespace {

constexpr std::string_view kBuilding = ".building";

std::string NameOf(const std::string& path) { return path.substr(path.rfind('/') + 1); }

// Dot folders of this final path: ".<name>.<run id>.building".
bool IsLeftover(const std::string& entry, const std::string& final_name) {
  return entry.starts_with("." + final_name + ".") && entry.ends_with(kBuilding);
}

Status RemoveLeftovers(sys::Files& files, const std::string& parent,
                       const std::string& final_name) {
  WEIR_TRY(const auto entries, files.List(parent));
  for (const std::string& entry : entries) {
    if (IsLeftover(entry, final_name)) WEIR_DO(files.Remove(sys::JoinPath(parent, entry)));
  }
  return Ok();
}

// Only an empty folder, or one that a manifest of ours says is ours, may be replaced.
Status CheckReplaceable(sys::Files& files, const std::string& path) {
  if (!files.Exists(path)) return Ok();
  WEIR_TRY(const auto entries, files.List(path));
  if (entries.empty() || files.Exists(sys::JoinPath(path, kManifestName))) return Ok();
  return Fail(
      Code::kInvalid,
      "'{}' holds files that weir did not write ('{}' and others); move them away or choose "
      "another output folder",
      path, entries.front());
}

}  // namespace

OutputFolder::OutputFolder(sys::Files& files, std::string final_path, std::string building_path)
    : files_(files), final_path_(std::move(final_path)), building_path_(std::move(building_path)) {}

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
  return std::unique_ptr<OutputFolder>(new OutputFolder(files, trimmed, building));
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
  if (replaces)
    WEIR_DO(files_.Remove(building_path_));  // The previous run, by the name it now has.
  return Ok();
}

}  // namespace weir::file
