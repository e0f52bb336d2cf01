// The rules of hydration that take an engine to show (docs/decisions/hydration-rules.md). What
// costs time is counted, not timed: calls that allocate, files opened, bytes written.
#include <dlfcn.h>
#include <fcntl.h>
#include <gtest/gtest.h>
#include <sys/mman.h>

#include <cerrno>
#include <cstdarg>
#include <filesystem>
#include <map>
#include <thread>

#include "tests/support/engine_memory.h"
#include "tests/support/folder.h"
#include "tests/support/kept_table.h"
#include "weir/feed/tpch_source.h"
#include "weir/hydrate/engine.h"
#include "weir/sys/accounting.h"
#include "weir/sys/process.h"

namespace weir {
namespace {

// Calls of this program and of libraries that were linked to it, while counting is on.
struct CallCounts {
  std::atomic<bool> on{false};
  std::atomic<int64_t> large_allocations{0};  // malloc and its kind, of kLarge and more.
  std::atomic<int64_t> large_maps{0};         // mmap and mremap.
  std::atomic<int64_t> large_fills{0};        // madvise that fills memory in.
  std::atomic<int64_t> large_advice{0};       // Other madvise.
  std::atomic<int64_t> opens{0};
  std::atomic<int64_t> unlinks{0};

  static constexpr size_t kLarge = 64 << 10;

  void Start() {
    for (auto* count : {&large_allocations, &large_maps, &large_fills, &large_advice,
                              &opens, &unlinks}) {
      *count = 0;
    }
    on = true;
  }
  void Stop() { on = false; }
  void Count(std::atomic<int64_t>& count, size_t bytes = kLarge) {
    if (on.load(std::memory_order_relaxed) && bytes >= kLarge) ++count;
  }
};
CallCounts calls;

template <typename Function>
Function Real(const char* name) {
  return reinterpret_cast<Function>(dlsym(RTLD_NEXT, name));
}

}  // namespace
}  // namespace weir

// In front of the C library's.
extern "C" {
void* __libc_malloc(size_t);
void* __libc_calloc(size_t, size_t);
void* __libc_realloc(void*, size_t);
void* __libc_memalign(size_t, size_t);

void* malloc(size_t bytes) noexcept {
  weir::calls.Count(weir::calls.large_allocations, bytes);
  return __libc_malloc(bytes);
}
void* calloc(size_t count, size_t bytes) noexcept {
  weir::calls.Count(weir::calls.large_allocations, count * bytes);
  return __libc_calloc(count, bytes);
}
void* realloc(void* block, size_t bytes) noexcept {
  weir::calls.Count(weir::calls.large_allocations, bytes);
  return __libc_realloc(block, bytes);
}
void* aligned_alloc(size_t alignment, size_t bytes) noexcept {
  weir::calls.Count(weir::calls.large_allocations, bytes);
  return __libc_memalign(alignment, bytes);
}
int posix_memalign(void** block, size_t alignment, size_t bytes) noexcept {
  weir::calls.Count(weir::calls.large_allocations, bytes);
  *block = __libc_memalign(alignment, bytes);
  return *block == nullptr ? ENOMEM : 0;
}
void* mmap(void* at, size_t bytes, int protection, int flags, int fd, off_t offset) noexcept {
  static const auto real = weir::Real<decltype(&mmap)>("mmap");
  weir::calls.Count(weir::calls.large_maps, bytes);
  return real(at, bytes, protection, flags, fd, offset);
}
void* mremap(void* block, size_t before, size_t bytes, int flags, ...) noexcept {
  using Remap = void* (*)(void*, size_t, size_t, int, ...);
  static const auto real = weir::Real<Remap>("mremap");
  weir::calls.Count(weir::calls.large_maps, bytes);
  return real(block, before, bytes, flags);
}
int madvise(void* at, size_t bytes, int advice) noexcept {
  static const auto real = weir::Real<decltype(&madvise)>("madvise");
  weir::calls.Count(advice == MADV_POPULATE_WRITE ? weir::calls.large_fills
                                                  : weir::calls.large_advice,
                    bytes);
  return real(at, bytes, advice);
}
int open(const char* path, int flags, ...) {
  using Open = int (*)(const char*, int, ...);
  static const auto real = weir::Real<Open>("open");
  weir::calls.Count(weir::calls.opens);
  va_list rest;
  va_start(rest, flags);
  const int mode = va_arg(rest, int);
  va_end(rest);
  return real(path, flags, mode);
}
int unlink(const char* path) noexcept {
  static const auto real = weir::Real<decltype(&unlink)>("unlink");
  weir::calls.Count(weir::calls.unlinks);
  return real(path);
}
}  // extern "C"

namespace weir {
namespace {

constexpr double kScaleFactor = 0.05;  // 300,000 lineitems, 41 MB.
constexpr int64_t kMiB = 1 << 20;

using Tables = std::map<std::string, std::unique_ptr<test::KeptTable>>;

// Tables that others keep; ticks as the generator of TPC-H has them.
class KeptSource final : public feed::Source {
 public:
  KeptSource(const Tables& tables, std::optional<sys::Duration> tick_interval)
      : tables_(tables), ticks_(Tpch(tick_interval)) {}
  static std::unique_ptr<feed::Source> Tpch(std::optional<sys::Duration> tick_interval) {
    return feed::NewTpchSource(
        {.scale_factor = kScaleFactor, .seed = 5, .tick_interval = tick_interval});
  }

  std::vector<std::string> TableNames() const override { return {"lineitem"}; }
  const feed::SourceTable* Find(std::string_view name) const override {
    const auto found = tables_.find(std::string(name));
    return found == tables_.end() ? nullptr : found->second.get();
  }
  std::optional<sys::Duration> tick_interval() const override { return ticks_->tick_interval(); }
  std::vector<feed::TableChange> NextTick(mem::BlockAllocator& blocks) override {
    return ticks_->NextTick(blocks);
  }

 private:
  const Tables& tables_;
  const std::unique_ptr<feed::Source> ticks_;
};

// Two sorts, one of them of rows that come in order.
const std::vector<hydrate::IndexPlan> kIndexes = {
    {"by_part", "lineitem", {"l_partkey", "l_suppkey"}},
    {"by_order", "lineitem", {"l_orderkey", "l_linenumber"}},
    {"by_ship", "lineitem", {"l_shipdate"}},
};

class HydrationRule : public testing::Test {
 protected:
  using Engine = std::unique_ptr<hydrate::Engine>;

  HydrationRule() : below_(KeptSource::Tpch({})) {
    tables_["lineitem"] =
        std::make_unique<test::KeptTable>(*below_->Find("lineitem"), 4096, kept_);
  }

  hydrate::EngineOptions Options(int64_t memory_bytes = mem::kUnlimited) {
    hydrate::EngineOptions options;
    options.spill_folder = folder_.path();
    options.worker_count = 2;
    options.memory_bytes = memory_bytes;
    options.pool.reserve_bytes = 2 * kMiB;
    return options;
  }
  // An engine that has `more_bytes` beside what this process holds by now.
  hydrate::EngineOptions With(int64_t more_bytes) {
    return Options(test::EngineMemory(more_bytes));
  }

  Engine Make(const hydrate::EngineOptions& options,
              std::optional<sys::Duration> tick_interval = {}) {
    Engine engine = hydrate::Engine::Make(options, clock_).value();
    EXPECT_TRUE(
        engine->AddSource("t", std::make_unique<KeptSource>(tables_, tick_interval)).ok());
    AddIndexes(*engine);
    return engine;
  }
  static void AddIndexes(hydrate::Engine& engine) {
    for (const auto& plan : kIndexes) EXPECT_TRUE(engine.AddIndex(plan).ok());
  }
  void Hydrate(hydrate::Engine& engine) {
    const auto done = engine.Hydrate(stop_);
    ASSERT_TRUE(done.ok()) << done.error().message;
  }
  Engine Hydrated(const hydrate::EngineOptions& options) {
    Engine engine = Make(options);
    Hydrate(*engine);
    return engine;
  }
  // What lies in memory when nothing bounds it, beside the program.
  int64_t WorkingSet() {
    const Engine engine = Make(Options());
    const int64_t before = engine->budget().used_bytes();
    Hydrate(*engine);
    return engine->budget().peak_bytes() - before;
  }
  static std::vector<hydrate::Index::Digest> Digests(const hydrate::Engine& engine,
                                                     delta::Time time = 0) {
    std::vector<hydrate::Index::Digest> digests;
    for (const auto& plan : kIndexes) {
      digests.push_back(engine.FindIndex(plan.name)->DigestAt(time, {}).value());
    }
    return digests;
  }

  test::TempFolder folder_;
  sys::ManualClock clock_;
  sys::Stop stop_;
  mem::Budget budget_{"kept", mem::kUnlimited};
  mem::BlockAllocator kept_{budget_, 0};
  const std::unique_ptr<feed::Source> below_;
  Tables tables_;
};

// D1. Indexes that take the place of others like them ask the system for no memory at all.
TEST_F(HydrationRule, D1MemoryIsAskedForOnce) {
  hydrate::EngineOptions options = Options();
  options.worker_count = 1;  // How many buffers several have in hand at once is a matter of luck.
  const Engine engine = Hydrated(options);
  for (const auto& plan : kIndexes) ASSERT_TRUE(engine->DropIndex(plan.name).ok());
  AddIndexes(*engine);
  calls.Start();
  Hydrate(*engine);
  calls.Stop();
  EXPECT_EQ(calls.large_allocations, 0);
  EXPECT_EQ(calls.large_maps, 0);
  EXPECT_EQ(calls.large_fills, 0);
  EXPECT_EQ(calls.large_advice, 0);
}

// D17, D18. However much is spilled: no file but the one that is there, and hardly any memory goes
// back to the kernel.
TEST_F(HydrationRule, D17AndD18SpillingOpensNoFileAndReturnsLittleMemory) {
  const Engine engine = Make(With(48 * kMiB));
  calls.Start();
  Hydrate(*engine);
  calls.Stop();
  const auto counters = engine->counters();
  EXPECT_GT(counters.extent_raw_bytes_written, 40 * kMiB);
  EXPECT_EQ(calls.opens, 0);
  EXPECT_EQ(calls.unlinks, 0);
  const int64_t built = 3 * tables_["lineitem"]->value_bytes();
  EXPECT_LE(calls.large_advice, built / (1 << 20));
  EXPECT_LE(calls.large_maps, 100);
  EXPECT_EQ(calls.large_allocations, 0);
}

// D2. A budget that is never hit changes nothing: no page goes out, nobody waits or helps.
TEST_F(HydrationRule, D2ABudgetThatIsNotHitCostsNothing) {
  const Engine unlimited = Hydrated(Options());
  const int64_t enough = 2 * WorkingSet();
  const sys::Accounting before = sys::ReadAccounting();
  const Engine bounded = Hydrated(With(enough));
  const sys::Accounting after = sys::ReadAccounting();
  const auto counters = bounded->counters();
  EXPECT_EQ(counters.extent_bytes_written, 0);
  EXPECT_EQ(counters.producer_evictions, 0);
  for (const auto wait : {sys::Wait::kSpill, sys::Wait::kRead, sys::Wait::kBudget}) {
    EXPECT_EQ(after.of(wait), before.of(wait)) << sys::WaitName(wait);
  }
  EXPECT_EQ(Digests(*bounded), Digests(*unlimited));
}

// D6. Nothing is written while the process is within its limit, to the last tenth.
TEST_F(HydrationRule, D6NothingIsWrittenAtNineTenthsOfTheLimit) {
  const int64_t working_set = WorkingSet();
  const Engine engine = Hydrated(With(working_set * 10 / 9));
  EXPECT_EQ(engine->counters().extent_bytes_written, 0);
  EXPECT_EQ(engine->counters().eager_backs, 0);
}

// D11. Most pages die young: they are never written.
TEST_F(HydrationRule, D11MostPagesAreNeverWritten) {
  const Engine engine = Hydrated(With(WorkingSet() * 2 / 3));
  const auto counters = engine->counters();
  EXPECT_GT(counters.extent_bytes_written, 0);
  EXPECT_GT(counters.writes_elided + counters.live_pages, counters.inserts / 2);
}

// D19. What is written is what does not fit, once as rows and once as leaves.
TEST_F(HydrationRule, D19WritesNoMoreThanWhatDoesNotFit) {
  const int64_t working_set = WorkingSet();
  for (const int pressure : {2, 4}) {
    const int64_t room = working_set / pressure;
    const Engine engine = Hydrated(With(room));
    const double written = static_cast<double>(engine->counters().extent_raw_bytes_written) /
                           static_cast<double>(working_set);
    EXPECT_LE(written, 2 * (1 - 1.0 / pressure) + 0.1);
  }
}

// D8. As many objects hydrate at a time as fit by estimate, from one scan.
TEST_F(HydrationRule, D8MemoryDecidesHowManyHydrateAtATime) {
  const auto scans = [&](hydrate::EngineOptions options, int concurrency) {
    options.concurrency = concurrency;
    const int64_t before = tables_["lineitem"]->scan_count();
    Hydrated(options);
    return tables_["lineitem"]->scan_count() - before;
  };
  EXPECT_EQ(scans(Options(), 0), 1);
  EXPECT_EQ(scans(Options(), 1), 3);
  EXPECT_EQ(scans(Options(), 2), 2);
  EXPECT_EQ(scans(With(64 * kMiB), 0), 3);
  EXPECT_EQ(scans(With(130 * kMiB), 0), 2);
}

// D9. What is usable is the least that the machine and control groups allow; swap does not count.
TEST_F(HydrationRule, D9MemoryIsWhatControlGroupsAllow) {
  const auto put = [&](const std::string& path, const std::string& text) {
    std::filesystem::create_directories(std::filesystem::path(folder_.Path(path)).parent_path());
    folder_.Write(path, text);
  };
  const int64_t machine = sys::UsableMemoryBytes(folder_.path());  // No groups at all.
  EXPECT_GT(machine, 512 * kMiB);
  put("proc/self/cgroup", "0::/a/b\n");
  put("sys/fs/cgroup/a/b/memory.max", "max\n");
  put("sys/fs/cgroup/a/b/memory.swap.max", "1000000\n");
  EXPECT_EQ(sys::UsableMemoryBytes(folder_.path()), machine);
  put("sys/fs/cgroup/a/b/memory.max", "999999999999999\n");
  EXPECT_EQ(sys::UsableMemoryBytes(folder_.path()), machine);
  put("sys/fs/cgroup/a/b/memory.max", "400000000\n");
  EXPECT_EQ(sys::UsableMemoryBytes(folder_.path()), 400'000'000);
  put("sys/fs/cgroup/a/memory.max", "300000000\n");  // One above it is tighter.
  EXPECT_EQ(sys::UsableMemoryBytes(folder_.path()), 300'000'000);
  put("proc/self/cgroup", "4:cpu,cpuacct:/x\n3:memory:/c\n");  // Version 1.
  put("sys/fs/cgroup/memory/c/memory.limit_in_bytes", "200000000\n");
  put("sys/fs/cgroup/memory/c/memory.memsw.limit_in_bytes", "900000000\n");
  EXPECT_EQ(sys::UsableMemoryBytes(folder_.path()), 200'000'000);
}

// D9. The pool's share is of the memory that the process may use, and has a floor.
TEST_F(HydrationRule, D9AShareOfMemoryHasAFloor) {
  hydrate::EngineOptions options = With(int64_t{4} << 30);
  options.budget_fraction = 0.001;
  options.concurrency = 3;
  const Engine engine = Make(options);
  for (const std::string column : {"l_suppkey", "l_comment", "l_receiptdate", "l_partkey"}) {
    EXPECT_TRUE(engine->AddIndex({column, "lineitem", {column}}).ok());
  }
  Hydrate(*engine);
  const auto counters = engine->counters();
  EXPECT_GT(counters.extent_bytes_written, 0);
  EXPECT_LE(counters.resident_bytes, hydrate::kLeastPoolBytes);
  EXPECT_GT(counters.resident_bytes, hydrate::kLeastPoolBytes / 2);
}

// Looks at a condition all the time, on a thread of its own.
class Watcher {
 public:
  explicit Watcher(std::function<void()> look)
      : thread_([this, look = std::move(look)] {
          while (!done_) {
            look();
            ++looks_;
            std::this_thread::yield();
          }
        }) {}
  int64_t Stop() {
    done_ = true;
    thread_.join();
    return looks_;
  }

 private:
  std::atomic<bool> done_{false};
  int64_t looks_ = 0;
  std::thread thread_;
};

// D14, D16. At any moment the ledger is what the kernel says that the process holds, within 5 % and
// 32 MiB; and what it holds is within the limit.
TEST_F(HydrationRule, D14AndD16TheLedgerIsTheMemoryThatIsHeld) {
  const int64_t working_set = WorkingSet();
  for (const int64_t room : {mem::kUnlimited, working_set * 2 / 3, working_set / 3, 48 * kMiB}) {
    const Engine engine = Make(room == mem::kUnlimited ? Options() : With(room));
    const mem::Budget& ledger = engine->budget();
    int64_t worst = 0;
    int64_t most = 0;
    Watcher watcher([&] {
      const int64_t held = sys::ReadProcessUsage().anonymous_bytes;
      const int64_t apart = std::abs(ledger.used_bytes() - held);
      worst = std::max(worst, apart - held / 20);
      most = std::max(most, held);
    });
    Hydrate(*engine);
    EXPECT_GT(watcher.Stop(), 20);
    EXPECT_LE(worst, 32 * kMiB);
    EXPECT_LE(most, ledger.limit_bytes());
  }
}

// D16. Spilled bytes bypass the page cache, where the file system lets them.
TEST_F(HydrationRule, D16SpilledBytesBypassThePageCache) {
  const int probe = open(folder_.path().c_str(), O_TMPFILE | O_RDWR | O_DIRECT, 0600);
  if (probe < 0) GTEST_SKIP() << "this file system has no O_DIRECT";
  close(probe);
  const Engine engine = Make(With(48 * kMiB));
  int direct = 0;
  for (const auto& entry : std::filesystem::directory_iterator("/proc/self/fd")) {
    std::error_code gone;
    const auto target = std::filesystem::read_symlink(entry.path(), gone).string();
    if (!target.starts_with(folder_.path())) continue;
    const int fd = std::stoi(entry.path().filename().string());
    EXPECT_TRUE(target.ends_with(" (deleted)"));
    EXPECT_NE(fcntl(fd, F_GETFL) & O_DIRECT, 0);
    ++direct;
  }
  EXPECT_EQ(direct, 1);
}

// D25. An object is hydrated when all its rows are in, and not before: whether its source ends at
// once or ticks for ever, whose frontier moves on.
TEST_F(HydrationRule, D25HydratedMeansThatAllRowsAreIn) {
  for (const bool ticks : {false, true}) {
    const auto interval = ticks ? std::optional<sys::Duration>(std::chrono::seconds(1))
                                : std::optional<sys::Duration>();
    const Engine engine = Make(With(64 * kMiB), interval);
    Watcher watcher([&] {
      for (const auto& status : engine->statuses()) {
        if (status.stage != hydrate::Stage::kHydrated) continue;
        EXPECT_EQ(status.rows_read, status.rows_expected);
        EXPECT_EQ(status.frontier, delta::Time{1});
      }
    });
    Hydrate(*engine);
    EXPECT_GT(watcher.Stop(), 10);
    const auto before = Digests(*engine);
    clock_.Advance(std::chrono::seconds(3));
    ASSERT_TRUE(engine->ApplyDueTicks(stop_).ok());
    for (const auto& status : engine->statuses()) {
      EXPECT_EQ(status.stage, hydrate::Stage::kHydrated);
      EXPECT_EQ(status.frontier, delta::Time{ticks ? 3001U : 1U});
    }
    EXPECT_EQ(Digests(*engine, ticks ? 3000 : 0) == before, !ticks);
  }
}

}  // namespace
}  // namespace weir
