// Spines whose spill file breaks, at random moments.
#include <map>
#include <random>

#include "tests/support/faulty_pool.h"
#include "tests/support/seeds.h"
#include "weir/delta/ladder_batcher.h"
#include "weir/delta/spine.h"

namespace weir::delta {
namespace {

using test::FileFault;

constexpr mem::PoolOptions kNoThreads = {.spill_threads = 0};
constexpr int kBatches = 12;

class SpineFault : public testing::TestWithParam<uint64_t> {
 protected:
  // Random updates at `time`, which `want_` holds too.
  Result<std::unique_ptr<Batch>> NewBatch(mem::Pool& pool, Time time) {
    LadderBatcher batcher(pool, {.chunk_bytes = 128 << 10}, time);
    for (int at = 0; at < 6'000; ++at) {
      std::string row = fmt::format("k{:03}\x1f{:04}", rng_() % 1000, rng_() % 5000);
      row += std::string(rng_() % 600, 'v') + '\0';
      const auto size = row.size();
      row.append(table::kRowSlack, '\0');
      const Update update{AsBytes(row).first(size), 5, time, rng_() % 8 == 0 ? -1 : 1};
      WEIR_DO(batcher.Add(update));
      auto& count = want_[row.substr(0, size)];
      if ((count += update.diff) == 0) want_.erase(row.substr(0, size));
    }
    return batcher.Seal(time + 1);
  }

  std::mt19937_64 rng_{GetParam()};
  std::map<std::string, Diff> want_;
};

// Goal:   a batch whose insertion met an error is in its spine all the same, and merges that failed
//         are made anew.
// Method: a pool smaller than what the spine holds, whose file fails in every insertion but the
//         last; then against a map.
TEST_P(SpineFault, ABatchIsInWhateverItsMergesMeet) {
  SCOPED_TRACE(fmt::format("to repeat: WEIR_SEED={}", GetParam()));
  test::FaultyPool faulty(8 << 20, kNoThreads);
  Spine spine(faulty.pool(), {.leaf_bytes = 64 << 10});
  int failed = 0;
  for (Time time = 0; time < kBatches; ++time) {
    auto batch = NewBatch(faulty.pool(), time);
    ASSERT_TRUE(batch.ok()) << batch.error().message;
    if (time + 1 < kBatches) {
      faulty.file().Inject(rng_() % 2 == 0 ? FileFault::kWrite : FileFault::kRead, rng_());
    }
    const Status inserted = spine.Insert(std::move(batch).value());
    if (!inserted.ok()) {
      ++failed;
      EXPECT_EQ(inserted.error().code, Code::kUnavailable) << inserted.error().message;
    }
    faulty.file().Inject(FileFault::kNone);
  }
  for (bool more = true; more;) more = spine.Work(10'000).value();
  EXPECT_GT(failed, 0);
  std::map<std::string, Diff> read;
  const auto cursor = spine.ReadAt(kBatches - 1, {}).value();
  for (Update update; cursor->Next(update).value();) {
    read[std::string(AsText(update.row))] += update.diff;
  }
  std::erase_if(read, [](const auto& row) { return row.second == 0; });
  EXPECT_TRUE(read == want_);
}

INSTANTIATE_TEST_SUITE_P(Seeds, SpineFault, testing::ValuesIn(test::Seeds(3)));

}  // namespace
}  // namespace weir::delta
