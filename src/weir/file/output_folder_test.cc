#include "weir/file/output_folder.h"

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

}  // namespace
}  // namespace weir::file
