#include "weir/file/output_folder.h"

#include <algorithm>
#include <set>

#include "weir/base/fault.h"
#include "weir/base/log.h"
#include "weir/sys/hash.h"

namespace weir::file {
namespace {

constexpr std::string_view kBuilding = ".building";

// What file systems take as one name.
constexpr size_t kMostNameBytes = 255;
// A run id has 24 bytes and its number in the group.
constexpr size_t kMostRunIdBytes = 40;
constexpr size_t kMostStemBytes = kMostNameBytes - kMostRunIdBytes - 2 - kBuilding.size();

std::string NameOf(const std::string& path) { return path.substr(path.rfind('/') + 1); }

uint32_t ShortHash(std::string_view text) {
  return static_cast<uint32_t>(sys::Xxh3(AsBytes(text)) & 0xFFFFFFFF);
}

// ".<name>." of the dot folders of a final path; a name too long for that gives its hash.
std::string StartOf(const std::string& final_name) {
  if (final_name.size() <= kMostStemBytes) return "." + final_name + ".";
  return fmt::format(".~{:016x}.", sys::Xxh3(AsBytes(final_name)));
}

// Dot folders of this final path: ".<name>.<run id>.building". A run id has no dots, so that those
// of an export whose name begins with this one's are left alone.
bool IsLeftover(const std::string& entry, const std::string& final_name) {
  const std::string start = StartOf(final_name);
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

// The names that a previous run of weir put into `path`.
// Errors: kNotFound, kCorrupt: no manifest, or none of ours; the message says which.
Result<std::set<std::string>> NamesOfRun(sys::Files& files, const std::string& path) {
  const std::string manifest_path = sys::JoinPath(path, kManifestName);
  if (!files.Exists(manifest_path)) {
    return Fail(Code::kNotFound, "its {} is missing", kManifestName);
  }
  WEIR_TRY(const std::string text, files.Read(manifest_path, kMostManifestBytes));
  const auto manifest = ParseManifest(text);
  if (!manifest.ok()) {
    if (manifest.error().code != Code::kCorrupt) {
      return Error(manifest.error()).In(fmt::format("'{}'", manifest_path));
    }
    return Fail(Code::kCorrupt, "its {} is {}", kManifestName, text.empty() ? "empty" : "damaged");
  }
  std::set<std::string> names = {kManifestName, kSuccessName};
  for (const FilePart& part : manifest.value().parts) {
    names.insert(part.path.substr(0, part.path.find('/')));
  }
  return names;
}

bool LooksLikeARuns(const std::string& entry) {
  return entry == kSuccessName || entry.starts_with("part-");
}

// A folder is swapped out and removed with all that is in it, so all of it must be ours.
Status CheckReplaceable(sys::Files& files, const std::string& path) {
  const sys::PathKind kind = files.KindOf(path);
  if (kind == sys::PathKind::kNone) return Ok();
  if (kind == sys::PathKind::kLink) {
    return Fail(Code::kInvalid,
                "'{}' is a symbolic link, which would be replaced by a folder; give the folder it "
                "leads to as the output, or remove the link",
                path);
  }
  if (kind != sys::PathKind::kFolder) {
    return Fail(Code::kInvalid, "'{}' is not a folder; move it away or choose another", path);
  }
  WEIR_TRY(const auto entries, files.List(path));
  const auto ours = NamesOfRun(files, path);
  if (!ours.ok() && ours.error().code != Code::kNotFound && ours.error().code != Code::kCorrupt) {
    return ours.error();
  }
  const auto of_a_run = std::find_if(entries.begin(), entries.end(), LooksLikeARuns);
  if (!ours.ok() && of_a_run != entries.end()) {
    return Fail(Code::kInvalid,
                "'{}' holds '{}', but {}, so nobody knows what weir wrote there; move the folder "
                "away or choose another output folder",
                path, *of_a_run, ours.error().message);
  }
  for (const std::string& entry : entries) {
    if (ours.ok() && ours.value().contains(entry)) continue;
    return Fail(Code::kInvalid,
                "'{}' holds '{}', which weir did not write; move it away or choose another output "
                "folder",
                path, entry);
  }
  return Ok();
}

}  // namespace

std::string PartName(std::string_view run_id, int part, std::string_view extension) {
  return fmt::format("part-{:05}-{:08x}.{}", part, ShortHash(run_id), extension);
}

Status CheckFolderName(const std::string& path) {
  const size_t bytes = NameOf(path).size();
  if (bytes <= kMostNameBytes) return Ok();
  return Fail(Code::kInvalid,
              "the folder's name '{}...' has {} bytes, and file systems take {}; export the table "
              "by weir run, under a shorter name",
              NameOf(path).substr(0, 40), bytes, kMostNameBytes);
}

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
  WEIR_DO(CheckFolderName(trimmed));
  WEIR_DO(files.MakeFolder(parent));
  WEIR_DO(CheckReplaceable(files, trimmed));
  WEIR_DO(RemoveLeftovers(files, parent, name));
  const std::string building =
      sys::JoinPath(parent, fmt::format("{}{}{}", StartOf(name), run_id, kBuilding));
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

// By their names: what was written through an open file may have lost its name, or been cut.
Status OutputFolder::CheckParts(const Manifest& manifest) const {
  for (const FilePart& part : manifest.parts) {
    const std::string path = PathOf(part.path);
    if (files_.KindOf(path) != sys::PathKind::kFile) {
      return Fail(Code::kCorrupt,
                  "'{}' was written and is gone; find out who removes files there, then run again",
                  path);
    }
    WEIR_TRY(const int64_t bytes, files_.SizeBytes(path));
    if (bytes == part.bytes) continue;
    return Fail(Code::kCorrupt,
                "'{}' was written with {} bytes and has {}; find out who changes files there, then "
                "run again",
                path, part.bytes, bytes);
  }
  return Ok();
}

Status OutputFolder::Publish(const Manifest& manifest) {
  WEIR_DO(FaultPoint("output_folder.parts_done"));
  WEIR_DO(CheckParts(manifest));
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
