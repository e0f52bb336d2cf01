#include "weir/file/output_folder.h"

#include <functional>
#include <optional>

#include "tests/support/folder.h"

namespace weir::file {
namespace {

constexpr const char* kFolder = "out/public.t";

Manifest ManifestOf(const std::string& run_id) {
  Manifest manifest;
  manifest.run_id = run_id;
  manifest.export_name = "t";
  manifest.status = "success";
  manifest.format = "csv";
  manifest.parts = {{"part-00000.csv", 1, static_cast<int64_t>(run_id.size()), "0"}};
  return manifest;
}

// One run: a part that holds the run's id, then the manifest.
Status RunOnce(sys::Files& files, const std::string& run_id, const std::string& path = kFolder) {
  WEIR_TRY(const auto folder, OutputFolder::Open(files, path, run_id));
  WEIR_DO(files.WriteWhole(folder->PathOf("part-00000.csv"), run_id));
  return folder->Publish(ManifestOf(run_id));
}

// Which run a reader sees: its id, or nothing; checks that it is whole.
std::string RunSeen(sys::Files& files) {
  if (!files.Exists(kFolder)) return "";
  const auto manifest = ReadManifest(files, kFolder);
  EXPECT_TRUE(manifest.ok()) << manifest.error().message;
  if (!manifest.ok()) return "broken";
  const auto part = files.Read(std::string(kFolder) + "/part-00000.csv", 100);
  EXPECT_TRUE(part.ok());
  EXPECT_EQ(part.value(), manifest.value().run_id);
  EXPECT_TRUE(files.Exists(std::string(kFolder) + "/_SUCCESS"));
  return manifest.value().run_id;
}

TEST(OutputFolder, PublishesWholeAndReplacesWhole) {
  sys::MemoryFiles files;
  ASSERT_TRUE(RunOnce(files, "r1").ok());
  EXPECT_EQ(RunSeen(files), "r1");
  ASSERT_TRUE(RunOnce(files, "r2").ok());
  EXPECT_EQ(RunSeen(files), "r2");
  EXPECT_EQ(files.List("out").value(), (std::vector<std::string>{"public.t"}));
}

TEST(OutputFolder, ASlashAtTheEndOfThePathIsFine) {
  sys::MemoryFiles files;
  {
    const auto folder = OutputFolder::Open(files, std::string(kFolder) + "//", "r1").value();
    ASSERT_TRUE(files.WriteWhole(folder->PathOf("part-00000.csv"), "r1").ok());
    ASSERT_TRUE(folder->Publish(ManifestOf("r1")).ok());
  }
  EXPECT_EQ(RunSeen(files), "r1");
}

TEST(OutputFolder, GoneWithoutPublishLeavesNothing) {
  sys::MemoryFiles files;
  {
    const auto folder = OutputFolder::Open(files, kFolder, "r1").value();
    ASSERT_TRUE(files.WriteWhole(folder->PathOf("part-00000.csv"), "half").ok());
    EXPECT_FALSE(files.Exists(kFolder));
  }
  EXPECT_TRUE(files.List("out").value().empty());
}

// Two state files know nothing of each other's runs: what is being built must not be taken for a
// dead run's.
TEST(OutputFolder, ARunAtWorkIsLeftAlone) {
  sys::MemoryFiles files;
  {
    const auto first = OutputFolder::Open(files, kFolder, "r1").value();
    ASSERT_TRUE(files.WriteWhole(first->PathOf("part-00000.csv"), "r1").ok());
    const Status second = RunOnce(files, "r2");
    ASSERT_FALSE(second.ok());
    EXPECT_EQ(second.error().code, Code::kUnavailable);
    EXPECT_TRUE(second.error().message.starts_with("another run is writing 'out/public.t' now"))
        << second.error().message;
    ASSERT_TRUE(first->Publish(ManifestOf("r1")).ok());
  }
  EXPECT_EQ(RunSeen(files), "r1");
  EXPECT_TRUE(RunOnce(files, "r2").ok());
}

TEST(OutputFolder, WhatSomeonePutsThereDuringARunIsNotRemoved) {
  sys::MemoryFiles files;
  ASSERT_TRUE(RunOnce(files, "r1").ok());
  {
    const auto folder = OutputFolder::Open(files, kFolder, "r2").value();
    ASSERT_TRUE(files.WriteWhole(folder->PathOf("part-00000.csv"), "r2").ok());
    ASSERT_TRUE(files.WriteWhole(std::string(kFolder) + "/mine.txt", "mine").ok());
    const Status published = folder->Publish(ManifestOf("r2"));
    ASSERT_FALSE(published.ok());
    EXPECT_EQ(published.error().code, Code::kInvalid);
  }
  EXPECT_EQ(RunSeen(files), "r1");
  EXPECT_EQ(files.Read(std::string(kFolder) + "/mine.txt", 10).value(), "mine");
}

// Writes down the folders that are synced.
class WatchedFiles final : public sys::MemoryFiles {
 public:
  Status SyncFolder(const std::string& folder) override {
    synced.push_back(folder);
    return MemoryFiles::SyncFolder(folder);
  }
  std::vector<std::string> synced;
};

TEST(OutputFolder, EveryNameOnTheWayToTheFolderIsSynced) {
  using Names = std::vector<std::string>;
  WatchedFiles files;
  ASSERT_TRUE(RunOnce(files, "r1", "/srv/out/t").ok());
  EXPECT_EQ(files.synced,
            (Names{"/", "/srv", "/srv/out", "/srv/out/.t.r1.building", "/srv/out"}));
  files.synced.clear();
  ASSERT_TRUE(RunOnce(files, "r2", "/srv/out/t").ok());
  EXPECT_EQ(files.synced, (Names{"/srv/out", "/srv/out/.t.r2.building", "/srv/out"}));
}

// Goal:   whatever step fails, a reader sees the old run whole or the new one whole, and what is
//         left over goes with the next run.
TEST(OutputFolder, AFailureAtAnyStepLeavesTheOldOrTheNewRunWhole) {
  for (const char* before : {"", "r1"}) {
    for (int64_t steps = 0;; ++steps) {
      SCOPED_TRACE(fmt::format("previous run '{}', {} steps", before, steps));
      ASSERT_LT(steps, 50);
      sys::MemoryFiles below;
      if (*before != '\0') {
        ASSERT_TRUE(RunOnce(below, before).ok());
      }
      sys::FailingFiles files(below, steps, {Code::kExhausted, "the disk is full"});
      const auto done = RunOnce(files, "r2");
      const std::string seen = RunSeen(below);
      if (done.ok()) {
        EXPECT_EQ(seen, "r2");
        break;
      }
      EXPECT_EQ(done.error().message, "the disk is full");
      EXPECT_TRUE(seen == before || seen == "r2") << seen;
      ASSERT_TRUE(RunOnce(below, "r3").ok());
      EXPECT_EQ(RunSeen(below), "r3");
      EXPECT_EQ(below.List("out").value(), (std::vector<std::string>{"public.t"}));
    }
  }
}

TEST(OutputFolder, LeftoversOfTheSameFolderAreRemovedAndOthersKept) {
  sys::MemoryFiles files;
  const std::vector<std::string> others = {
      ".public.t2.r0.building", ".public.t.sub.r0.building",  // Runs of other exports.
      ".public.t.r0.backup", "public.t.r0.building", ".building"};
  ASSERT_TRUE(files.MakeFolder("out/.public.t.r0.building").ok());
  ASSERT_TRUE(files.WriteWhole("out/.public.t.r0.building/part-00000.csv", "half").ok());
  for (const auto& name : others) ASSERT_TRUE(files.MakeFolder("out/" + name).ok());
  ASSERT_TRUE(RunOnce(files, "r1").ok());
  EXPECT_FALSE(files.Exists("out/.public.t.r0.building"));
  for (const auto& name : others) EXPECT_TRUE(files.Exists("out/" + name)) << name;
}

TEST(OutputFolder, AnEmptyFolderIsTaken) {
  sys::MemoryFiles files;
  ASSERT_TRUE(files.MakeFolder(kFolder).ok());
  ASSERT_TRUE(RunOnce(files, "r1").ok());
  EXPECT_EQ(RunSeen(files), "r1");
}

std::string Refusal(const std::string& name) {
  return fmt::format("'{}' holds '{}', which weir did not write; move it away or choose another "
                     "output folder",
                     kFolder, name);
}

// What is not ours is never removed: each of these must still be there afterwards.
TEST(OutputFolder, ForeignFoldersAreRefusedAndKept) {
  const std::string path(kFolder);
  const std::vector<std::pair<std::string, std::string>> contents = {
      {"letter.txt", "dear"},
      {"manifest.json", "{\"name\": \"a web page's manifest\"}"},
      {"manifest.json", "not json"},
  };
  for (const auto& [name, text] : contents) {
    sys::MemoryFiles files;
    ASSERT_TRUE(files.MakeFolder(path).ok());
    ASSERT_TRUE(files.WriteWhole(path + "/" + name, text).ok());
    const auto done = RunOnce(files, "r1");
    ASSERT_FALSE(done.ok()) << text;
    EXPECT_EQ(done.error().code, Code::kInvalid);
    EXPECT_EQ(done.error().message, Refusal(name));
    EXPECT_EQ(files.Read(path + "/" + name, 100).value(), text);
  }
}

TEST(OutputFolder, AForeignFileAmongOursIsRefusedAndKept) {
  const std::string path(kFolder);
  sys::MemoryFiles files;
  ASSERT_TRUE(RunOnce(files, "r1").ok());
  ASSERT_TRUE(files.WriteWhole(path + "/notes.txt", "mine").ok());
  const auto done = RunOnce(files, "r2");
  ASSERT_FALSE(done.ok());
  EXPECT_EQ(done.error().message, Refusal("notes.txt"));
  EXPECT_EQ(files.Read(path + "/notes.txt", 100).value(), "mine");
  EXPECT_EQ(RunSeen(files), "r1");
}

TEST(OutputFolder, AFileInTheFoldersPlaceIsRefused) {
  sys::MemoryFiles files;
  ASSERT_TRUE(files.MakeFolder("out").ok());
  ASSERT_TRUE(files.WriteWhole(kFolder, "a file").ok());
  EXPECT_EQ(RunOnce(files, "r1").error().code, Code::kInvalid);
  EXPECT_EQ(files.Read(kFolder, 100).value(), "a file");
}

TEST(OutputFolder, NamesOfPartsAreThoseOfOneRun) {
  const std::string name = PartName("20261130T111535-3f9ac2-1", 7, "parquet");
  EXPECT_TRUE(name.starts_with("part-00007-")) << name;
  EXPECT_TRUE(name.ends_with(".parquet")) << name;
  EXPECT_EQ(name.size(), std::string("part-00007-01234567.parquet").size());
  EXPECT_EQ(name, PartName("20261130T111535-3f9ac2-1", 7, "parquet"));
  EXPECT_NE(name, PartName("20261130T111535-3f9ac2-2", 7, "parquet"));
}

// Goal: who read the manifest of one run finds its parts or nothing, never another run's.
TEST(OutputFolder, APartIsNeverAnotherRunsByTheSameName) {
  sys::MemoryFiles files;
  ASSERT_TRUE(RunOnce(files, "r0").ok());  // With a name as weir wrote them at first.
  std::string before = "part-00000.csv";
  for (const char* run_id : {"r1", "r2"}) {
    const auto folder = OutputFolder::Open(files, kFolder, run_id).value();
    Manifest manifest = ManifestOf(run_id);
    manifest.parts[0].path = PartName(run_id, 0, "csv");
    ASSERT_TRUE(files.WriteWhole(folder->PathOf(manifest.parts[0].path), run_id).ok());
    ASSERT_TRUE(folder->Publish(manifest).ok());
    EXPECT_FALSE(files.Exists(std::string(kFolder) + "/" + before));
    before = manifest.parts[0].path;
  }
}

// Parts that are not, by their names, what was written: the run fails, and the old one stays.
TEST(OutputFolder, PartsThatWereRemovedOrCutAreNotPublished) {
  const std::vector<std::pair<std::function<void(sys::Files&, const std::string&)>, std::string>>
      deeds = {
          {[](sys::Files& files, const std::string& part) { (void)files.Remove(part); },
           "was written and is gone"},
          {[](sys::Files& files, const std::string& part) {
             (void)files.Remove(part);
             (void)files.MakeFolder(part);
           },
           "was written and is gone"},
          {[](sys::Files& files, const std::string& part) {
             (void)files.Remove(part);
             (void)files.WriteWhole(part, "");
           },
           "was written with 2 bytes and has 0"},
      };
  for (const auto& [deed, words] : deeds) {
    sys::MemoryFiles files;
    ASSERT_TRUE(RunOnce(files, "r1").ok());
    {
      const auto folder = OutputFolder::Open(files, kFolder, "r2").value();
      ASSERT_TRUE(files.WriteWhole(folder->PathOf("part-00000.csv"), "r2").ok());
      deed(files, folder->PathOf("part-00000.csv"));
      const Status published = folder->Publish(ManifestOf("r2"));
      ASSERT_FALSE(published.ok());
      EXPECT_EQ(published.error().code, Code::kCorrupt);
      EXPECT_NE(published.error().message.find(words), std::string::npos)
          << published.error().message;
    }
    EXPECT_EQ(RunSeen(files), "r1");
    EXPECT_EQ(files.List("out").value(), (std::vector<std::string>{"public.t"}));
  }
}

TEST(OutputFolder, ARunWithoutItsManifestIsRefusedAndKept) {
  const std::string path(kFolder);
  const std::vector<std::pair<std::optional<std::string>, std::string>> manifests = {
      {std::nullopt, "missing"}, {"", "empty"}, {"{\"version\": 1", "damaged"}};
  for (const auto& [text, state] : manifests) {
    sys::MemoryFiles files;
    ASSERT_TRUE(RunOnce(files, "r1").ok());
    ASSERT_TRUE(files.Remove(path + "/manifest.json").ok());
    if (text) {
      ASSERT_TRUE(files.WriteWhole(path + "/manifest.json", *text).ok());
    }
    const auto done = RunOnce(files, "r2");
    ASSERT_FALSE(done.ok());
    EXPECT_EQ(done.error().code, Code::kInvalid);
    EXPECT_EQ(done.error().message,
              fmt::format("'{}' holds '_SUCCESS', but its manifest.json is {}, so nobody knows "
                          "what weir wrote there; move the folder away or choose another output "
                          "folder",
                          kFolder, state));
    EXPECT_EQ(files.Read(path + "/part-00000.csv", 100).value(), "r1");
  }
}

// The dot folder's name is longer than the final one, which may be as long as the disk allows.
TEST(OutputFolder, NamesUpToTheFileSystemsLimitAreBuiltAndTidied) {
  const test::TempFolder folder;
  sys::DiskFiles files;
  for (const size_t bytes : {204, 205, 255}) {
    const std::string path = folder.Path(std::string(bytes, 'x'));
    std::string building;
    {
      const auto open = OutputFolder::Open(files, path, "20261130T111535-3f9ac2-1");
      ASSERT_TRUE(open.ok()) << open.error().message;
      building = sys::ParentPath(open.value()->PathOf("a"));
    }
    ASSERT_TRUE(files.MakeFolder(building).ok());  // As a run that died leaves it.
    ASSERT_TRUE(RunOnce(files, "20261130T111535-3f9ac2-2", path).ok());
    EXPECT_FALSE(files.Exists(building));
    EXPECT_TRUE(files.Exists(path + "/_SUCCESS"));
  }
  const auto refused = OutputFolder::Open(files, folder.Path(std::string(256, 'x')), "r1");
  ASSERT_FALSE(refused.ok());
  EXPECT_EQ(refused.error().code, Code::kInvalid);
}

}  // namespace
}  // namespace weir::file
