// MemoryFiles and FailingFiles: the versions of Files that tests use.
#include <algorithm>

#include "weir/sys/files.h"

namespace weir::sys {

class MemoryOutputFile final : public OutputFile {
 public:
  MemoryOutputFile(MemoryFiles& files, std::string path) : files_(files), path_(std::move(path)) {}

  Status Append(Bytes bytes) override {
    const std::lock_guard lock(files_.mutex_);
    const auto node = files_.nodes_.find(path_);
    if (node == files_.nodes_.end()) return Fail(Code::kNotFound, "'{}' was removed", path_);
    node->second.contents.append(AsText(bytes));
    size_bytes_ += static_cast<int64_t>(bytes.size());
    return Ok();
  }
  Status Sync() override { return Ok(); }
  Status Close() override { return Ok(); }
  int64_t size_bytes() const override { return size_bytes_; }

 private:
  MemoryFiles& files_;
  std::string path_;
  int64_t size_bytes_ = 0;
};

namespace {

class FailingOutputFile final : public OutputFile {
 public:
  FailingOutputFile(std::unique_ptr<OutputFile> below, FailingFiles& files)
      : below_(std::move(below)), files_(files) {}

  Status Append(Bytes bytes) override {
    WEIR_DO(files_.Step());
    return below_->Append(bytes);
  }
  Status Sync() override {
    WEIR_DO(files_.Step());
    return below_->Sync();
  }
  Status Close() override { return below_->Close(); }
  int64_t size_bytes() const override { return below_->size_bytes(); }

 private:
  std::unique_ptr<OutputFile> below_;
  FailingFiles& files_;
};

class MemoryFolderLock final : public FolderLock {
 public:
  explicit MemoryFolderLock(std::shared_ptr<FolderLock> held) : held_(std::move(held)) {}

 private:
  std::shared_ptr<FolderLock> held_;  // The folder knows of it for as long as it is alive.
};

bool IsUnder(const std::string& path, const std::string& folder) {
  return path.size() > folder.size() && path.compare(0, folder.size(), folder) == 0 &&
         path[folder.size()] == '/';
}

}  // namespace

Status MemoryFiles::CheckParent(std::string_view doing, const std::string& path) const {
  bool missing = false;
  for (std::string at = ParentPath(path); at != "." && at != "/"; at = ParentPath(at)) {
    const auto node = nodes_.find(at);
    if (node == nodes_.end()) {
      missing = true;
    } else if (!node->second.folder) {
      return Fail(Code::kInvalid, "cannot {} '{}': '{}' is not a folder", doing, path, at);
    }
  }
  if (missing) return Fail(Code::kNotFound, "cannot {} '{}': no such folder", doing, path);
  return Ok();
}

Result<std::unique_ptr<OutputFile>> MemoryFiles::Create(const std::string& path) {
  const std::lock_guard lock(mutex_);
  WEIR_DO(CheckParent("create", path));
  if (!nodes_.emplace(path, Node{}).second) {
    return Fail(Code::kInvalid, "cannot create '{}': it exists", path);
  }
  return std::unique_ptr<OutputFile>(std::make_unique<MemoryOutputFile>(*this, path));
}

Result<std::string> MemoryFiles::Read(const std::string& path, int64_t limit_bytes) {
  const std::lock_guard lock(mutex_);
  const auto node = nodes_.find(path);
  if (node == nodes_.end()) return Fail(Code::kNotFound, "cannot open '{}': not there", path);
  if (node->second.folder) return Fail(Code::kInvalid, "cannot read '{}': it is a folder", path);
  if (static_cast<int64_t>(node->second.contents.size()) > limit_bytes) {
    return Fail(Code::kInvalid, "'{}' is longer than {} bytes", path, limit_bytes);
  }
  return node->second.contents;
}

PathKind MemoryFiles::KindOf(const std::string& path) {
  const std::lock_guard lock(mutex_);
  const auto node = nodes_.find(path);
  if (node == nodes_.end()) return PathKind::kNone;
  return node->second.folder ? PathKind::kFolder : PathKind::kFile;
}

Result<std::vector<std::string>> MemoryFiles::List(const std::string& folder) {
  const std::lock_guard lock(mutex_);
  const auto listed = nodes_.find(folder);
  if (listed == nodes_.end()) return Fail(Code::kNotFound, "cannot list '{}': not there", folder);
  if (!listed->second.folder) return Fail(Code::kInvalid, "'{}' is not a folder", folder);
  std::vector<std::string> names;
  for (const auto& [path, node] : nodes_) {
    if (IsUnder(path, folder) && path.find('/', folder.size() + 1) == path.npos) {
      names.push_back(path.substr(folder.size() + 1));
    }
  }
  return names;
}

Result<int64_t> MemoryFiles::SizeBytes(const std::string& path) {
  const std::lock_guard lock(mutex_);
  const auto node = nodes_.find(path);
  if (node == nodes_.end()) return Fail(Code::kNotFound, "cannot look at '{}': not there", path);
  return static_cast<int64_t>(node->second.contents.size());
}

Result<bool> MemoryFiles::MakeOneFolder(const std::string& path) {
  const std::lock_guard lock(mutex_);
  WEIR_DO(CheckParent("make folder", path));
  const auto [node, made] = nodes_.emplace(path, Node{.folder = true, .contents = {}});
  if (!node->second.folder) return Fail(Code::kInvalid, "cannot make folder '{}': a file", path);
  return made;
}

Status MemoryFiles::CheckReplace(const std::string& from, const std::string& to) const {
  const auto source = nodes_.find(from);
  if (source == nodes_.end()) return Fail(Code::kNotFound, "cannot rename '{}': not there", from);
  WEIR_DO(CheckParent("rename to", to));
  const auto target = nodes_.find(to);
  if (target == nodes_.end()) return Ok();
  if (source->second.folder != target->second.folder) {
    return Fail(Code::kInvalid, "cannot rename to '{}': one is a file, one a folder", to);
  }
  const auto inner = nodes_.upper_bound(to + "/");
  if (inner != nodes_.end() && IsUnder(inner->first, to)) {
    return Fail(Code::kInvalid, "cannot rename to '{}': the folder is not empty", to);
  }
  return Ok();
}

void MemoryFiles::Move(const std::string& from, const std::string& to) {
  std::map<std::string, Node> moved;
  for (auto at = nodes_.begin(); at != nodes_.end();) {
    if (at->first == from || IsUnder(at->first, from)) {
      moved.emplace(to + at->first.substr(from.size()), std::move(at->second));
      at = nodes_.erase(at);
    } else {
      ++at;
    }
  }
  for (auto& [path, node] : moved) nodes_.insert_or_assign(path, std::move(node));
}

Status MemoryFiles::Rename(const std::string& from, const std::string& to) {
  const std::lock_guard lock(mutex_);
  WEIR_DO(CheckReplace(from, to));
  Move(from, to);
  return Ok();
}

Status MemoryFiles::Exchange(const std::string& a, const std::string& b) {
  const std::lock_guard lock(mutex_);
  if (!nodes_.contains(a) || !nodes_.contains(b)) {
    return Fail(Code::kNotFound, "cannot swap '{}' and '{}': one is not there", a, b);
  }
  const std::string between = a + ".swap";
  Move(a, between);
  Move(b, a);
  Move(between, b);
  return Ok();
}

Status MemoryFiles::Remove(const std::string& path) {
  const std::lock_guard lock(mutex_);
  std::erase_if(nodes_, [&](const auto& node) {
    return node.first == path || IsUnder(node.first, path);
  });
  return Ok();
}

Status MemoryFiles::SyncFolder(const std::string&) { return Ok(); }

Result<int64_t> MemoryFiles::FreeBytes(const std::string&) { return int64_t{1} << 40; }

Result<std::unique_ptr<FolderLock>> MemoryFiles::TryLock(const std::string& folder) {
  const std::lock_guard lock(mutex_);
  const auto node = nodes_.find(folder);
  if (node == nodes_.end() || !node->second.folder) {
    return Fail(Code::kNotFound, "cannot lock '{}': no such folder", folder);
  }
  if (!node->second.lock.expired()) return std::unique_ptr<FolderLock>();
  const auto held = std::make_shared<FolderLock>();
  node->second.lock = held;
  return std::unique_ptr<FolderLock>(std::make_unique<MemoryFolderLock>(held));
}

FailingFiles::FailingFiles(Files& below, int64_t steps_before_failure, Error error)
    : below_(below), steps_before_failure_(steps_before_failure), error_(std::move(error)) {}

Status FailingFiles::Step() {
  const std::lock_guard lock(mutex_);
  if (steps_++ >= steps_before_failure_) return error_;
  return Ok();
}

Result<std::unique_ptr<OutputFile>> FailingFiles::Create(const std::string& path) {
  WEIR_DO(Step());
  WEIR_TRY(auto file, below_.Create(path));
  return std::unique_ptr<OutputFile>(std::make_unique<FailingOutputFile>(std::move(file), *this));
}

Result<std::string> FailingFiles::Read(const std::string& path, int64_t limit_bytes) {
  return below_.Read(path, limit_bytes);
}
PathKind FailingFiles::KindOf(const std::string& path) { return below_.KindOf(path); }
Result<std::vector<std::string>> FailingFiles::List(const std::string& folder) {
  return below_.List(folder);
}
Result<int64_t> FailingFiles::SizeBytes(const std::string& path) { return below_.SizeBytes(path); }
Result<bool> FailingFiles::MakeOneFolder(const std::string& path) {
  WEIR_DO(Step());
  return below_.MakeOneFolder(path);
}
Status FailingFiles::Rename(const std::string& from, const std::string& to) {
  WEIR_DO(Step());
  return below_.Rename(from, to);
}
Status FailingFiles::Exchange(const std::string& a, const std::string& b) {
  WEIR_DO(Step());
  return below_.Exchange(a, b);
}
Status FailingFiles::Remove(const std::string& path) { return below_.Remove(path); }
Status FailingFiles::SyncFolder(const std::string& folder) {
  WEIR_DO(Step());
  return below_.SyncFolder(folder);
}
Result<int64_t> FailingFiles::FreeBytes(const std::string& folder) {
  return below_.FreeBytes(folder);
}
Result<std::unique_ptr<FolderLock>> FailingFiles::TryLock(const std::string& folder) {
  return below_.TryLock(folder);
}

}  // namespace weir::sys
