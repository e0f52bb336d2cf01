#include "weir/sys/files.h"

#include <sys/resource.h>
#include <sys/stat.h>
#include <unistd.h>

#include <csignal>
#include <cstdlib>

namespace weir::sys {
namespace {

constexpr int64_t kLimit = 1 << 20;

// A folder of its own on the disk, removed at the end.
class DiskFolder {
 public:
  DiskFolder() {
    path_ = JoinPath(testing::TempDir(), "weir_files_XXXXXX");
    if (mkdtemp(path_.data()) == nullptr) std::abort();
  }
  ~DiskFolder() { (void)DiskFiles().Remove(path_); }
  const std::string& path() const { return path_; }

 private:
  std::string path_;
};

// Goal:   the disk and the memory version keep the same contract.
// Method: one suite, run over both, in an empty folder.
class FilesContract : public testing::TestWithParam<const char*> {
 protected:
  FilesContract() {
    if (std::string_view(GetParam()) == "disk") {
      files_ = std::make_unique<DiskFiles>();
      root_ = disk_folder_.path();
    } else {
      files_ = std::make_unique<MemoryFiles>();
      root_ = "/root";
      EXPECT_TRUE(files_->MakeFolder(root_).ok());
    }
  }

  std::string Path(std::string_view name) const {
    return name.empty() ? root_ : JoinPath(root_, name);
  }
  std::string Contents(std::string_view name) {
    auto contents = files_->Read(Path(name), kLimit);
    return contents.ok() ? contents.value() : "error: " + contents.error().message;
  }
  std::vector<std::string> Names(std::string_view name) {
    auto names = files_->List(Path(name));
    EXPECT_TRUE(names.ok());
    return names.ok() ? names.value() : std::vector<std::string>{};
  }
  // The code of a failure, whose message must name the path.
  static Code CodeOf(const Status& status, const std::string& path) {
    if (status.ok()) return Code::kUsage;  // No call here gives it.
    EXPECT_NE(status.error().message.find(path), std::string::npos) << status.error().message;
    return status.error().code;
  }
  template <typename T>
  static Code CodeOf(const Result<T>& result, const std::string& path) {
    return result.ok() ? Code::kUsage : CodeOf(Status(result.error()), path);
  }

  DiskFolder disk_folder_;
  std::unique_ptr<Files> files_;
  std::string root_;
};

INSTANTIATE_TEST_SUITE_P(Both, FilesContract, testing::Values("disk", "memory"),
                         [](const auto& info) { return std::string(info.param); });

TEST_P(FilesContract, AFileGrowsAsItIsAppended) {
  auto file = files_->Create(Path("part"));
  ASSERT_TRUE(file.ok());
  EXPECT_TRUE(files_->Exists(Path("part")));
  ASSERT_TRUE(file.value()->Append(AsBytes("one ")).ok());
  ASSERT_TRUE(file.value()->Append(AsBytes("")).ok());
  ASSERT_TRUE(file.value()->Append(AsBytes(std::string_view("two\0", 4))).ok());
  EXPECT_EQ(file.value()->size_bytes(), 8);
  ASSERT_TRUE(file.value()->Sync().ok());
  ASSERT_TRUE(file.value()->Close().ok());
  EXPECT_EQ(Contents("part"), std::string("one two\0", 8));
  EXPECT_EQ(files_->SizeBytes(Path("part")).value(), 8);
}

TEST_P(FilesContract, CreateRefusesWhatIsThere) {
  ASSERT_TRUE(files_->WriteWhole(Path("part"), "old").ok());
  EXPECT_EQ(CodeOf(files_->Create(Path("part")), Path("part")), Code::kInvalid);
  EXPECT_EQ(CodeOf(files_->WriteWhole(Path("part"), "new"), Path("part")), Code::kInvalid);
  EXPECT_EQ(Contents("part"), "old");
}

TEST_P(FilesContract, WhatIsNotThereIsNotFound) {
  const std::string gone = Path("gone");
  EXPECT_FALSE(files_->Exists(gone));
  EXPECT_EQ(CodeOf(files_->Read(gone, kLimit), gone), Code::kNotFound);
  EXPECT_EQ(CodeOf(files_->List(gone), gone), Code::kNotFound);
  EXPECT_EQ(CodeOf(files_->SizeBytes(gone), gone), Code::kNotFound);
  EXPECT_EQ(CodeOf(files_->Create(gone + "/part"), gone), Code::kNotFound);
  EXPECT_EQ(files_->Rename(gone, Path("new")).error().code, Code::kNotFound);
  ASSERT_TRUE(files_->MakeFolder(Path("here")).ok());
  EXPECT_EQ(files_->Exchange(gone, Path("here")).error().code, Code::kNotFound);
  EXPECT_EQ(files_->Exchange(Path("here"), gone).error().code, Code::kNotFound);
  EXPECT_TRUE(files_->Remove(gone).ok());
}

TEST_P(FilesContract, ReadRefusesMoreThanItsLimit) {
  ASSERT_TRUE(files_->WriteWhole(Path("part"), "12345").ok());
  EXPECT_EQ(files_->Read(Path("part"), 5).value(), "12345");
  EXPECT_EQ(CodeOf(files_->Read(Path("part"), 4), Path("part")), Code::kInvalid);
}

TEST_P(FilesContract, FoldersComeWithTheirParents) {
  ASSERT_TRUE(files_->MakeFolder(Path("a/b/c")).ok());
  ASSERT_TRUE(files_->MakeFolder(Path("a/b/c")).ok());  // There already: fine.
  ASSERT_TRUE(files_->WriteWhole(Path("a/b/2"), "").ok());
  ASSERT_TRUE(files_->WriteWhole(Path("a/b/1"), "").ok());
  EXPECT_EQ(Names("a/b"), (std::vector<std::string>{"1", "2", "c"}));
  EXPECT_EQ(Names("a"), (std::vector<std::string>{"b"}));
  EXPECT_TRUE(files_->SyncFolder(Path("a/b")).ok());
  EXPECT_GT(files_->FreeBytes(Path("a")).value(), 0);
}

TEST_P(FilesContract, OneFolderIsMadeOnceAndInAFolderThatIsThere) {
  EXPECT_EQ(CodeOf(files_->MakeOneFolder(Path("a/b")), Path("a/b")), Code::kNotFound);
  EXPECT_TRUE(files_->MakeOneFolder(Path("a")).value());
  EXPECT_FALSE(files_->MakeOneFolder(Path("a")).value());
  EXPECT_TRUE(files_->MakeOneFolder(Path("a/b")).value());
}

TEST_P(FilesContract, ALockIsHeldOnceAndFollowsItsFolder) {
  ASSERT_TRUE(files_->MakeFolder(Path("a")).ok());
  auto lock = files_->TryLock(Path("a")).value();
  ASSERT_NE(lock, nullptr);
  EXPECT_EQ(files_->TryLock(Path("a")).value(), nullptr);
  ASSERT_TRUE(files_->Rename(Path("a"), Path("b")).ok());
  EXPECT_EQ(files_->TryLock(Path("b")).value(), nullptr);
  lock.reset();
  EXPECT_NE(files_->TryLock(Path("b")).value(), nullptr);
  EXPECT_EQ(CodeOf(files_->TryLock(Path("none")), Path("none")), Code::kNotFound);
}

TEST_P(FilesContract, RenameReplacesAFile) {
  ASSERT_TRUE(files_->WriteWhole(Path("new"), "new").ok());
  ASSERT_TRUE(files_->WriteWhole(Path("old"), "old").ok());
  ASSERT_TRUE(files_->Rename(Path("new"), Path("old")).ok());
  EXPECT_EQ(Contents("old"), "new");
  EXPECT_FALSE(files_->Exists(Path("new")));
}

TEST_P(FilesContract, RenameMovesAFolderWithAllInIt) {
  ASSERT_TRUE(files_->MakeFolder(Path("a/b")).ok());
  ASSERT_TRUE(files_->WriteWhole(Path("a/b/part"), "x").ok());
  ASSERT_TRUE(files_->WriteWhole(Path("ab"), "not in it").ok());
  ASSERT_TRUE(files_->Rename(Path("a"), Path("z")).ok());
  EXPECT_EQ(Contents("z/b/part"), "x");
  EXPECT_EQ(Contents("ab"), "not in it");
  EXPECT_FALSE(files_->Exists(Path("a")));
}

TEST_P(FilesContract, AFileIsNotAFolder) {
  ASSERT_TRUE(files_->WriteWhole(Path("part"), "x").ok());
  ASSERT_TRUE(files_->MakeFolder(Path("folder")).ok());
  const std::string part = Path("part");
  EXPECT_EQ(CodeOf(files_->Create(part + "/inner"), part), Code::kInvalid);
  EXPECT_EQ(CodeOf(files_->MakeFolder(part), part), Code::kInvalid);
  EXPECT_EQ(CodeOf(files_->MakeFolder(part + "/inner"), part), Code::kInvalid);
  EXPECT_EQ(CodeOf(files_->List(part), part), Code::kInvalid);
  EXPECT_EQ(CodeOf(files_->Read(Path("folder"), kLimit), Path("folder")), Code::kInvalid);
  EXPECT_EQ(CodeOf(files_->Rename(part, Path("folder")), Path("folder")), Code::kInvalid);
  EXPECT_EQ(CodeOf(files_->Rename(Path("folder"), part), part), Code::kInvalid);
  EXPECT_EQ(Contents("part"), "x");
}

TEST_P(FilesContract, RenameRefusesAFolderThatHoldsSomething) {
  ASSERT_TRUE(files_->MakeFolder(Path("next")).ok());
  ASSERT_TRUE(files_->MakeFolder(Path("live")).ok());
  ASSERT_TRUE(files_->WriteWhole(Path("live/part"), "old").ok());
  EXPECT_EQ(CodeOf(files_->Rename(Path("next"), Path("live")), Path("live")), Code::kInvalid);
  EXPECT_EQ(Contents("live/part"), "old");
  ASSERT_TRUE(files_->Remove(Path("live/part")).ok());
  EXPECT_TRUE(files_->Rename(Path("next"), Path("live")).ok());  // An empty one is replaced.
}

TEST_P(FilesContract, RenameIntoAMissingFolderIsNotFound) {
  ASSERT_TRUE(files_->WriteWhole(Path("part"), "x").ok());
  EXPECT_EQ(CodeOf(files_->Rename(Path("part"), Path("gone/part")), Path("gone")), Code::kNotFound);
  EXPECT_EQ(Contents("part"), "x");
}

TEST_P(FilesContract, ExchangeSwapsTwoFolders) {
  ASSERT_TRUE(files_->MakeFolder(Path("live")).ok());
  ASSERT_TRUE(files_->MakeFolder(Path(".next")).ok());
  ASSERT_TRUE(files_->WriteWhole(Path("live/part"), "old").ok());
  ASSERT_TRUE(files_->WriteWhole(Path(".next/part"), "new").ok());
  ASSERT_TRUE(files_->WriteWhole(Path(".next/more"), "more").ok());
  ASSERT_TRUE(files_->Exchange(Path(".next"), Path("live")).ok());
  EXPECT_EQ(Contents("live/part"), "new");
  EXPECT_EQ(Names("live"), (std::vector<std::string>{"more", "part"}));
  EXPECT_EQ(Contents(".next/part"), "old");
  EXPECT_EQ(Names(""), (std::vector<std::string>{".next", "live"}));
}

TEST_P(FilesContract, RemoveTakesAFolderWithAllInIt) {
  ASSERT_TRUE(files_->MakeFolder(Path("a/b")).ok());
  ASSERT_TRUE(files_->WriteWhole(Path("a/b/part"), "x").ok());
  ASSERT_TRUE(files_->WriteWhole(Path("ab"), "stays").ok());
  ASSERT_TRUE(files_->Remove(Path("a")).ok());
  EXPECT_FALSE(files_->Exists(Path("a/b/part")));
  EXPECT_FALSE(files_->Exists(Path("a")));
  EXPECT_EQ(Contents("ab"), "stays");
}

TEST_P(FilesContract, ReplaceWholeGivesTheNewContents) {
  ASSERT_TRUE(files_->ReplaceWhole(Path("state"), "one").ok());
  ASSERT_TRUE(files_->ReplaceWhole(Path("state"), "two").ok());
  EXPECT_EQ(Contents("state"), "two");
  // A try that died half-way left its fresh file behind.
  ASSERT_TRUE(files_->WriteWhole(Path(".state.new"), "half").ok());
  ASSERT_TRUE(files_->ReplaceWhole(Path("state"), "three").ok());
  EXPECT_EQ(Contents("state"), "three");
  EXPECT_EQ(Names(""), (std::vector<std::string>{"state"}));
}

TEST(DiskFiles, APipeIsRefusedAtOnceAndSoIsWhatIsNoFolder) {
  const DiskFolder folder;
  DiskFiles files;
  const std::string pipe = JoinPath(folder.path(), "pipe");
  ASSERT_EQ(mkfifo(pipe.c_str(), 0600), 0);
  const auto read = files.Read(pipe, kLimit);  // Nobody writes: a wait would not end.
  ASSERT_FALSE(read.ok());
  EXPECT_EQ(read.error().message,
            fmt::format("'{}' is a pipe or device; put a regular file there", pipe));
  EXPECT_EQ(files.KindOf(pipe), PathKind::kOther);

  const std::string link = JoinPath(folder.path(), "link");
  ASSERT_EQ(symlink("nowhere", link.c_str()), 0);
  EXPECT_EQ(files.KindOf(link), PathKind::kLink);
  for (const std::string& path : {pipe, link}) {
    const Status made = files.MakeFolder(path);
    ASSERT_FALSE(made.ok());
    EXPECT_EQ(made.error().message,
              fmt::format("'{}' is not a folder; move it away or choose another", path));
  }
}

// What the kernel says of a file system that cannot swap, it also says of a folder and one in it.
TEST(DiskFiles, AFileSystemThatCannotSwapIsNamed) {
  const DiskFolder folder;
  DiskFiles files;
  const std::string outer = JoinPath(folder.path(), "a");
  ASSERT_TRUE(files.MakeFolder(outer + "/b").ok());
  const Status swapped = files.Exchange(outer, outer + "/b");
  ASSERT_FALSE(swapped.ok());
  EXPECT_EQ(swapped.error().message,
            fmt::format("cannot swap in '{}/b': its file system cannot swap two folders; remove "
                        "what stands there, or choose a folder on another file system",
                        outer));
}

TEST(DiskFiles, AFileThatSomeoneCutsGetsNoHole) {
  const DiskFolder folder;
  DiskFiles files;
  const std::string path = JoinPath(folder.path(), "part");
  const auto file = files.Create(path).value();
  ASSERT_TRUE(file->Append(AsBytes("before")).ok());
  ASSERT_EQ(truncate(path.c_str(), 0), 0);
  ASSERT_TRUE(file->Append(AsBytes("after")).ok());
  EXPECT_EQ(files.SizeBytes(path).value(), 5);
}

TEST(DiskFiles, OthersMayNotRead) {
  const DiskFolder folder;
  DiskFiles files;
  const std::string inner = JoinPath(folder.path(), "a");
  ASSERT_TRUE(files.MakeFolder(inner).ok());
  ASSERT_TRUE(files.WriteWhole(JoinPath(inner, "part"), "x").ok());
  struct stat info {};
  ASSERT_EQ(stat(inner.c_str(), &info), 0);
  EXPECT_EQ(info.st_mode & 0777, 0700u);
  ASSERT_EQ(stat(JoinPath(inner, "part").c_str(), &info), 0);
  EXPECT_EQ(info.st_mode & 0777, 0600u);
}

TEST(DiskFiles, AFileThatMayNotGrowIsExhausted) {
  const DiskFolder folder;
  DiskFiles files;
  auto file = files.Create(JoinPath(folder.path(), "part"));
  ASSERT_TRUE(file.ok());
  rlimit before{};
  ASSERT_EQ(getrlimit(RLIMIT_FSIZE, &before), 0);
  const auto handler = std::signal(SIGXFSZ, SIG_IGN);  // The write fails instead.
  const rlimit small{4096, before.rlim_max};
  ASSERT_EQ(setrlimit(RLIMIT_FSIZE, &small), 0);
  const Status fits = file.value()->Append(AsBytes(std::string(4000, 'x')));
  const Status full = file.value()->Append(AsBytes(std::string(4000, 'x')));
  ASSERT_EQ(setrlimit(RLIMIT_FSIZE, &before), 0);
  std::signal(SIGXFSZ, handler);

  EXPECT_TRUE(fits.ok());
  ASSERT_FALSE(full.ok());
  EXPECT_EQ(full.error().code, Code::kExhausted);
  EXPECT_EQ(file.value()->size_bytes(), 4096);  // What fitted was written.
}

// Goal:   whatever step breaks, a reader of `state` sees the old contents or the new.
// Method: break each durable step of ReplaceWhole in turn, over both versions; then run it again.
TEST_P(FilesContract, ReplaceWholeBrokenAtAnyStepKeepsOldOrNew) {
  ASSERT_TRUE(files_->ReplaceWhole(Path("state"), "old").ok());
  int64_t steps = 0;
  {
    FailingFiles counting(*files_, INT64_MAX, Fail(Code::kUnavailable, "never"));
    ASSERT_TRUE(counting.ReplaceWhole(Path("state"), "old").ok());
    steps = counting.steps();
  }
  EXPECT_EQ(steps, 5);  // Create, Append, Sync, Rename, SyncFolder.
  for (int64_t good = 0; good < steps; ++good) {
    SCOPED_TRACE(good);
    FailingFiles failing(*files_, good, Fail(Code::kExhausted, "disk full"));
    const Status status = failing.ReplaceWhole(Path("state"), "new");
    ASSERT_FALSE(status.ok());
    EXPECT_EQ(status.error().code, Code::kExhausted);
    EXPECT_EQ(failing.steps(), good + 1);  // Nothing is tried after the failure.
    EXPECT_EQ(Contents("state"), good < 4 ? "old" : "new");
    ASSERT_TRUE(files_->ReplaceWhole(Path("state"), "old").ok());
    EXPECT_EQ(Names(""), (std::vector<std::string>{"state"}));
  }
}

// Writes down the folders that are made and synced.
class WatchedFiles final : public MemoryFiles {
 public:
  Result<bool> MakeOneFolder(const std::string& path) override {
    WEIR_TRY(const bool made, MemoryFiles::MakeOneFolder(path));
    if (made) steps_.push_back("make " + path);
    return made;
  }
  Status SyncFolder(const std::string& folder) override {
    steps_.push_back("sync " + folder);
    return MemoryFiles::SyncFolder(folder);
  }
  std::vector<std::string> TakeSteps() { return std::exchange(steps_, {}); }

 private:
  std::vector<std::string> steps_;
};

TEST(Files, EachFolderInWhichANameAppearedIsSyncedBeforeTheNextIsMade) {
  using Steps = std::vector<std::string>;
  WatchedFiles files;
  ASSERT_TRUE(files.MakeFolder("/a/b").ok());
  EXPECT_EQ(files.TakeSteps(), (Steps{"make /a", "sync /", "make /a/b", "sync /a"}));
  ASSERT_TRUE(files.MakeFolder("/a/b/c/d").ok());
  EXPECT_EQ(files.TakeSteps(),
            (Steps{"make /a/b/c", "sync /a/b", "make /a/b/c/d", "sync /a/b/c"}));
  ASSERT_TRUE(files.MakeFolder("/a/b/c").ok());
  EXPECT_EQ(files.TakeSteps(), Steps{});
  ASSERT_TRUE(files.MakeFolder("here").ok());
  EXPECT_EQ(files.TakeSteps(), (Steps{"make here", "sync ."}));
}

// Goal:   a folder whose name might not survive is a failure, and the next try makes the rest.
TEST_P(FilesContract, MakeFolderBrokenAtAnyStepFailsAndCanBeRepeated) {
  for (int64_t good = 0; good < 6; ++good) {  // Three folders, each made and then synced.
    SCOPED_TRACE(good);
    FailingFiles failing(*files_, good, Fail(Code::kUnavailable, "device gone"));
    EXPECT_EQ(failing.MakeFolder(Path("a/b/c")).error().message, "device gone");
    EXPECT_EQ(failing.steps(), good + 1);
    EXPECT_EQ(files_->Exists(Path("a/b/c")), good == 5);
    ASSERT_TRUE(files_->MakeFolder(Path("a/b/c")).ok());
    ASSERT_TRUE(files_->Remove(Path("a")).ok());
  }
  FailingFiles enough(*files_, 6, Fail(Code::kUnavailable, "device gone"));
  EXPECT_TRUE(enough.MakeFolder(Path("a/b/c")).ok());
}

TEST(FailingFiles, FailsEveryDurableStepOnceBroken) {
  MemoryFiles memory;
  ASSERT_TRUE(memory.MakeFolder("/a").ok());
  ASSERT_TRUE(memory.WriteWhole("/a/part", "x").ok());
  FailingFiles files(memory, 2, Fail(Code::kUnavailable, "device gone"));
  auto file = files.Create("/a/new");
  ASSERT_TRUE(file.ok());
  ASSERT_TRUE(file.value()->Append(AsBytes("1")).ok());
  EXPECT_EQ(file.value()->Append(AsBytes("2")).error().message, "device gone");
  EXPECT_FALSE(file.value()->Sync().ok());
  EXPECT_FALSE(files.Create("/a/other").ok());
  EXPECT_FALSE(files.MakeFolder("/b").ok());
  EXPECT_FALSE(files.Rename("/a/part", "/a/moved").ok());
  EXPECT_FALSE(files.Exchange("/a/part", "/a/new").ok());
  EXPECT_FALSE(files.SyncFolder("/a").ok());
  // Nothing of that happened, and reading still works.
  EXPECT_EQ(files.Read("/a/new", kLimit).value(), "1");
  EXPECT_EQ(files.List("/a").value(), (std::vector<std::string>{"new", "part"}));
  EXPECT_FALSE(files.Exists("/b"));
}

TEST(Paths, JoinAndParent) {
  EXPECT_EQ(JoinPath("a", "b"), "a/b");
  EXPECT_EQ(JoinPath("a/", "b"), "a/b");
  EXPECT_EQ(JoinPath("", "b"), "b");
  EXPECT_EQ(ParentPath("a/b"), "a");
  EXPECT_EQ(ParentPath("a/b/"), "a");
  EXPECT_EQ(ParentPath("b"), ".");
  EXPECT_EQ(ParentPath("/b"), "/");
  EXPECT_EQ(ParentPath("/"), "/");
}

}  // namespace
}  // namespace weir::sys
