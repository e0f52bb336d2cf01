// Batchers and spines whose spill file breaks, at random moments.
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

// Goal:   a row that found no room may be pushed again: nothing is lost that went in before, and
//         nothing is in twice. A batch that met an error is in its spine all the same.
// Method: writes that fail in turns; every failed call is repeated once the file is mended; then
//         against a map.
TEST(BatcherFault, WhatFailedIsDoneAgain) {
  int64_t failed_pushes = 0;
  int64_t failed_inserts = 0;
  for (const uint64_t seed : test::Seeds(3)) {
    SCOPED_TRACE(fmt::format("to repeat: WEIR_SEED={}", seed));
    std::mt19937_64 rng(seed);
    test::FaultyPool faulty((4 + 4) << 20, kNoThreads);  // Two buffers of 2 MiB, and four.
    Spine spine(faulty.pool(), {.leaf_bytes = 64 << 10});
    std::map<std::string, Diff> want;
    Time time = 0;
    LadderBatcher batcher(faulty.pool(), {.chunk_bytes = 128 << 10});
    for (; time < 3; ++time) {
      for (int at = 0; at < 12'000; ++at) {
        std::string row = fmt::format("k{:03}\x1f{:04}", rng() % 1000, rng() % 5000);
        row += std::string(rng() % 600, 'v') + '\0';
        const auto size = row.size();
        row.append(table::kRowSlack, '\0');
        const Update update{AsBytes(row).first(size), 5, time, rng() % 8 == 0 ? -1 : 1};
        if (rng() % 100 == 0) {
          faulty.file().Inject(rng() % 2 == 0 ? FileFault::kWrite : FileFault::kRead, rng());
        }
        if (const Status pushed = batcher.Add(update); !pushed.ok()) {
          ++failed_pushes;
          EXPECT_EQ(pushed.error().code, Code::kUnavailable) << pushed.error().message;
          faulty.file().Inject(FileFault::kNone);
          const Status again = batcher.Add(update);
          ASSERT_TRUE(again.ok()) << again.error().message;
        }
        auto& count = want[row.substr(0, size)];
        if ((count += update.diff) == 0) want.erase(row.substr(0, size));
      }
      faulty.file().Inject(FileFault::kNone);
      auto batch = batcher.Seal(time + 1);
      ASSERT_TRUE(batch.ok()) << batch.error().message;
      faulty.file().Inject(FileFault::kWrite, seed);
      failed_inserts += spine.Insert(std::move(batch).value()).ok() ? 0 : 1;
      faulty.file().Inject(FileFault::kNone);
    }
    for (bool more = true; more;) more = spine.Work(10'000).value();
    std::map<std::string, Diff> read;
    const auto cursor = spine.ReadAt(time - 1, {}).value();
    for (Update update; cursor->Next(update).value();) {
      read.emplace(AsText(update.row), update.diff);
    }
    EXPECT_TRUE(read == want);
  }
  EXPECT_GT(failed_pushes, 30);
  EXPECT_GT(failed_inserts, 0);
}

}  // namespace
}  // namespace weir::delta
