// Batchers and spines against a map, at every time that can be read.
#include <algorithm>
#include <cmath>
#include <map>
#include <random>

#include "tests/support/pool.h"
#include "tests/support/seeds.h"
#include "weir/delta/arranger.h"
#include "weir/delta/record_internal.h"
#include "weir/delta/spine.h"

namespace weir::delta {
namespace {

constexpr Time kAsOf = 100;

struct TestUpdate {
  std::string row;
  int32_t key_size;
  Time time;
  Diff diff;
};

using Rows = std::map<std::string, Diff>;

// The oracle: all updates, by row and time.
class UpdateMap {
 public:
  void Add(const TestUpdate& update) { all_[update.row][update.time] += update.diff; }
  // What is there at `time`, from row `from` on.
  Rows At(Time time, const std::string& from = "") const {
    Rows rows;
    for (auto row = all_.lower_bound(from); row != all_.end(); ++row) {
      Diff sum = 0;
      for (const auto& [when, diff] : row->second) sum += when <= time ? diff : 0;
      if (sum != 0) rows.emplace(row->first, sum);
    }
    return rows;
  }

 private:
  std::map<std::string, std::map<Time, Diff>> all_;
};

struct Setting {
  BatcherKind kind = BatcherKind::kSnapshot;
  int workers = 1;
  int64_t pool_bytes = mem::kUnlimited;
  int64_t chunk_bytes = 64 << 10;
  int64_t leaf_bytes = 64 << 10;
  int64_t range_bytes = 64 << 10;
  int64_t effort = 8;

  std::string Text() const {
    return fmt::format("{}, {} workers, pool {}, chunk {}, leaf {}, range {}, effort {}",
                       BatcherName(kind), workers, pool_bytes, chunk_bytes, leaf_bytes, range_bytes,
                       effort);
  }
};

// An arrangement as an engine has it: an arranger, and a spine per shard.
class Arrangement {
 public:
  explicit Arrangement(const Setting& setting)
      : workers_(setting.workers), spilling_(setting.pool_bytes) {
    ArrangerOptions options;
    options.kind = setting.kind;
    options.worker_count = workers_;
    options.as_of = kAsOf;
    options.ladder.chunk_bytes = setting.chunk_bytes;
    options.snapshot.leaf_bytes = setting.leaf_bytes;
    options.snapshot.range_bytes = setting.range_bytes;
    arranger_ = NewArranger(options, spilling_.pool(), blocks_);
    const SpineOptions spine{.leaf_bytes = setting.leaf_bytes, .effort = setting.effort};
    for (int at = 0; at < workers_; ++at) {
      spines_.push_back(std::make_unique<Spine>(spilling_.pool(), spine));
    }
  }

  // Updates of one time and diff.
  Status Push(std::span<const TestUpdate> updates) {
    table::EncodedRows rows(blocks_);
    rows.starts.Push(int64_t{0});
    for (const TestUpdate& update : updates) {
      const auto size = std::ssize(update.row);
      std::memcpy(rows.bytes.Extend(size + table::kRowSlack), update.row.data(),
                  update.row.size());
      rows.bytes.DropBack(table::kRowSlack);
      rows.starts.Push(rows.bytes.size());
      rows.key_sizes.Push(update.key_size);
      ++rows.row_count;
    }
    const int worker = next_worker_++ % workers_;
    WEIR_DO(arranger_->Push(worker, rows, updates.front().time, updates.front().diff));
    // One thread plays all workers: none may wait for another.
    for (int at = 0; at < workers_; ++at) WEIR_DO(arranger_->Receive(at));
    return Ok();
  }

  Status Seal(Time upper) {
    for (int at = 0; at < workers_; ++at) WEIR_DO(arranger_->Finish(at));
    for (int at = 0; at < workers_; ++at) {
      WEIR_DO(arranger_->Receive(at));
      WEIR_TRY(auto batch, arranger_->Seal(at, upper));
      EXPECT_EQ(batch->description().lower, spine(at).upper());
      EXPECT_EQ(batch->description().upper, Frontier(upper));
      WEIR_DO(spine(at).Insert(std::move(batch)));
    }
    return Ok();
  }

  Result<Rows> ReadAt(Time time, const std::string& from = "") const {
    Rows rows;
    for (int at = 0; at < workers_; ++at) {
      WEIR_TRY(const auto cursor, spines_[static_cast<size_t>(at)]->ReadAt(time, AsBytes(from)));
      std::string last;
      for (Update update;;) {
        WEIR_TRY(const bool more, cursor->Next(update));
        if (!more) break;
        const std::string row(AsText(update.row));
        EXPECT_LT(last, row);
        EXPECT_NE(update.diff, 0);
        EXPECT_EQ(ShardOf(update.row.first(static_cast<size_t>(update.key_size)), workers_), at);
        EXPECT_TRUE(rows.emplace(row, update.diff).second);
        last = row;
      }
    }
    return rows;
  }

  Spine& spine(int at) { return *spines_[static_cast<size_t>(at)]; }
  int workers() const { return workers_; }
  test::SpillingPool& spilling() { return spilling_; }

 private:
  const int workers_;
  mem::Budget budget_{"blocks", mem::kUnlimited};
  mem::BlockAllocator blocks_{budget_, 1 << 20};
  test::SpillingPool spilling_;
  std::unique_ptr<Arranger> arranger_;
  std::vector<std::unique_ptr<Spine>> spines_;
  int next_worker_ = 0;
};

// Updates in the order in which they are pushed, and when they are sealed.
class History {
 public:
  struct Phase {
    std::vector<std::vector<TestUpdate>> pushes;  // Of one time and diff each.
    Time upper;
  };

  // A snapshot at kAsOf, then a few phases of three times each.
  History(uint64_t seed, int snapshot_rows, int phases) : rng_(seed) {
    std::vector<TestUpdate> snapshot;
    for (int at = 0; at < snapshot_rows; ++at) {
      snapshot.push_back({NewRow(), kKeySize, kAsOf, 1});
      if (rng_() % 50 == 0) snapshot.push_back(snapshot[rng_() % snapshot.size()]);  // Once more.
      live_.push_back(snapshot.back().row);
    }
    if (rng_() % 3 == 0) {
      std::sort(snapshot.begin(), snapshot.end(),
                [](const auto& a, const auto& b) { return a.row < b.row; });
    }
    Phase first;
    for (size_t at = 0; at < snapshot.size(); at += 300) {
      const auto begin = snapshot.begin() + static_cast<int64_t>(at);
      first.pushes.emplace_back(begin, begin + std::min<int64_t>(300, snapshot.end() - begin));
    }
    AddChanges(first, kAsOf, snapshot_rows / 10);
    first.upper = kAsOf + 1;
    phases_.push_back(std::move(first));
    for (int phase = 0; phase < phases; ++phase) {
      Phase next;
      const Time lower = phases_.back().upper;
      next.upper = lower + 1 + rng_() % 3;
      AddChanges(next, lower, static_cast<int>(rng_() % 400));
      phases_.push_back(std::move(next));
    }
  }

  const std::vector<Phase>& phases() const { return phases_; }

 private:
  static constexpr int32_t kKeySize = 4;

  // Three rows in ten are of one key; one in twenty is of kilobytes.
  std::string NewRow() {
    const uint64_t key = rng_() % 10 < 3 ? 42 : rng_() % 1000;
    const uint64_t length = rng_() % 20 == 0 ? rng_() % 6000 : rng_() % 300;
    return fmt::format("{:03}\x1f{:x}", key, rng_()) + std::string(length, 'v') + '\0';
  }

  // Rows that go, rows that come, and both at once, at times from `lower` on: some are early.
  void AddChanges(Phase& phase, Time lower, int count) {
    for (int at = 0; at < count; ++at) {
      const Time time = lower + rng_() % 4;
      if (rng_() % 2 == 0 && !live_.empty()) {
        const size_t gone = rng_() % live_.size();
        phase.pushes.push_back({{live_[gone], kKeySize, time, -1}});
        std::swap(live_[gone], live_.back());
        if (rng_() % 10 != 0) live_.pop_back();  // Else it goes twice over.
      }
      if (rng_() % 2 == 0) {
        live_.push_back(rng_() % 8 == 0 && !live_.empty() ? live_[rng_() % live_.size()]
                                                          : NewRow());
        const Diff diff = rng_() % 10 == 0 ? 3 : 1;
        phase.pushes.push_back({{live_.back(), kKeySize, time, diff}});
      }
    }
  }

  std::mt19937_64 rng_;
  std::vector<std::string> live_;
  std::vector<Phase> phases_;
};

Setting RandomSetting(std::mt19937_64& rng, BatcherKind kind, int64_t pool_bytes) {
  Setting setting;
  setting.kind = kind;
  setting.pool_bytes = pool_bytes;
  setting.workers = 1 + static_cast<int>(rng() % 4);
  setting.chunk_bytes = int64_t{64 << 10} << rng() % 3;
  setting.leaf_bytes = int64_t{64 << 10} << rng() % 3;
  setting.range_bytes = int64_t{16 << 10} << rng() % 6;
  setting.effort = 1 + static_cast<int64_t>(rng() % 8);
  return setting;
}

// Reads at every time that may be asked for; and from some row at one of them.
void ExpectAllTimes(const Arrangement& arrangement, const UpdateMap& oracle, Time since, Time upper,
                    const std::string& from) {
  for (Time time = since; time < upper; ++time) {
    const auto read = arrangement.ReadAt(time);
    ASSERT_TRUE(read.ok()) << read.error().message;
    ASSERT_TRUE(read.value() == oracle.At(time)) << "at " << time;
  }
  const auto read = arrangement.ReadAt(since, from);
  ASSERT_TRUE(read.ok()) << read.error().message;
  ASSERT_TRUE(read.value() == oracle.At(since, from)) << "from " << from;
}

// Plays a history; reads back after every phase. The error of the first push or seal that fails.
Status Play(const History& history, Arrangement& arrangement, std::mt19937_64 rng) {
  UpdateMap oracle;
  Time since = kAsOf;
  for (const History::Phase& phase : history.phases()) {
    for (const auto& push : phase.pushes) {
      WEIR_DO(arrangement.Push(push));
      for (const TestUpdate& update : push) oracle.Add(update);
    }
    WEIR_DO(arrangement.Seal(phase.upper));
    if (rng() % 3 == 0) since += rng() % (phase.upper - since);
    const bool work = rng() % 2 == 0;
    for (int at = 0; at < arrangement.workers(); ++at) {
      arrangement.spine(at).AllowTimeCompaction(since);
      if (work) WEIR_DO(arrangement.spine(at).Work(static_cast<int64_t>(rng() % 3000)));
    }
    const auto& some = phase.pushes.empty() ? history.phases()[0].pushes : phase.pushes;
    const std::string row = some[rng() % some.size()].front().row;
    ExpectAllTimes(arrangement, oracle, since, phase.upper, row.substr(0, rng() % row.size()));
    if (testing::Test::HasFatalFailure()) return Ok();
  }
  for (int at = 0; at < arrangement.workers(); ++at) {
    for (bool more = true; more;) {
      WEIR_TRY(more, arrangement.spine(at).Work(1'000'000));
    }
  }
  ExpectAllTimes(arrangement, oracle, since, history.phases().back().upper, "5");
  return Ok();
}

constexpr BatcherKind kKinds[] = {BatcherKind::kLegacy, BatcherKind::kPaged,
                                  BatcherKind::kSnapshot};

// Goal:   an arrangement is a map at every time, whatever batcher, workers, sizes and memory.
// Method: a snapshot with duplicates and one key of 30 % of the rows, then retractions, new rows
//         and both again at several times, some ahead of their seal; spines that let go of times
//         and merge at random; read back at every time after each seal.
TEST(Oracle, AnArrangementIsAMapAtEveryTime) {
  for (const uint64_t seed : test::Seeds(3)) {
    SCOPED_TRACE(fmt::format("to repeat: WEIR_SEED={}", seed));
    const History history(seed, 10'000, 6);
    for (const BatcherKind kind : kKinds) {
      std::mt19937_64 rng(seed * 100 + static_cast<uint64_t>(kind));
      const int64_t pool_bytes = rng() % 4 == 0 ? mem::kUnlimited : 14 << 20;
      const Setting setting = RandomSetting(rng, kind, pool_bytes);
      SCOPED_TRACE(setting.Text());
      Arrangement arrangement(setting);
      const Status played = Play(history, arrangement, rng);
      ASSERT_TRUE(played.ok()) << played.error().message;
      ASSERT_FALSE(HasFatalFailure());
    }
  }
}

// Goal:   the same answer at every budget, from the least that works; less is refused, not wrong.
// Method: budgets rising from one that holds nothing but the buffers of the spill threads.
TEST(Oracle, TheSameAnswerAtEveryBudget) {
  for (const uint64_t seed : test::Seeds(1)) {
    SCOPED_TRACE(fmt::format("to repeat: WEIR_SEED={}", seed));
    const History history(seed, 8'000, 2);
    for (const BatcherKind kind : {BatcherKind::kPaged, BatcherKind::kSnapshot}) {
      int worked = 0;
      int64_t spilled = 0;
      for (int64_t kibibytes = 8 << 10; kibibytes <= 64 << 10; kibibytes += kibibytes / 4) {
        Setting setting;
        setting.kind = kind;
        setting.workers = 2;
        setting.pool_bytes = kibibytes << 10;
        SCOPED_TRACE(setting.Text());
        Arrangement arrangement(setting);
        const Status played = Play(history, arrangement, std::mt19937_64(seed));
        ASSERT_FALSE(HasFatalFailure());
        EXPECT_LE(arrangement.spilling().budget().peak_bytes(), setting.pool_bytes);
        if (!played.ok()) {
          EXPECT_EQ(played.error().code, Code::kExhausted) << played.error().message;
          EXPECT_EQ(worked, 0) << "less memory was enough";
          continue;
        }
        ++worked;
        spilled += arrangement.spilling().pool().counters().extent_bytes_written;
      }
      EXPECT_GE(worked, 6);
      EXPECT_GT(spilled, 0);
    }
  }
}

// D26. Rows from one byte to 64 MiB go through every batcher and back, within the budget.
TEST(HydrationRule, D26RowsOfAnyWidthObeyTheBudget) {
  constexpr int64_t kLimit = 304 << 20;  // The widest four times: a merge holds three at once.
  std::mt19937_64 rng(26);
  std::vector<std::vector<TestUpdate>> pushes;
  UpdateMap oracle;
  for (int at = 0; at < 40; ++at) {
    const double log2 = std::uniform_real_distribution<>(0, 24.3)(rng);
    const auto width = at == 20 ? size_t{64} << 20 : static_cast<size_t>(std::exp2(log2));
    std::string row = at == 0 ? "!" : fmt::format("{:02}", at * 37 % 40);
    row += std::string(at == 0 ? 0 : width, 'w');
    pushes.push_back({{row, 1, kAsOf, 1}});
    oracle.Add(pushes.back().front());
  }
  for (const BatcherKind kind : {BatcherKind::kPaged, BatcherKind::kSnapshot}) {
    Setting setting;
    setting.kind = kind;
    setting.pool_bytes = kLimit;
    SCOPED_TRACE(setting.Text());
    Arrangement arrangement(setting);
    for (const auto& push : pushes) {
      const Status pushed = arrangement.Push(push);
      ASSERT_TRUE(pushed.ok()) << pushed.error().message;
    }
    const Status sealed = arrangement.Seal(kAsOf + 1);
    ASSERT_TRUE(sealed.ok()) << sealed.error().message;
    const auto read = arrangement.ReadAt(kAsOf);
    ASSERT_TRUE(read.ok()) << read.error().message;
    EXPECT_TRUE(read.value() == oracle.At(kAsOf));
    EXPECT_LE(arrangement.spilling().budget().peak_bytes(), kLimit);
  }
}

}  // namespace
}  // namespace weir::delta
