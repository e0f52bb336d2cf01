#include "weir/hydrate/build.h"

#include <pthread.h>

#include <map>
#include <numeric>

#include "tests/support/pool.h"
#include "weir/feed/snapshot.h"
#include "weir/feed/tpch_snapshot.h"
#include "weir/sys/hash.h"

namespace weir::hydrate {
namespace {

constexpr delta::Time kAsOf = 1000;

const std::vector<IndexPlan> kLineitemIndexes = {
    {"by_line", "lineitem", {"l_orderkey", "l_linenumber"}},
    {"by_order", "lineitem", {"l_orderkey"}},
    {"by_part_and_supplier", "lineitem", {"l_partkey", "l_suppkey"}},
    {"by_mode", "lineitem", {"l_shipmode", "l_comment"}}};

class BuildTest : public testing::Test {
 protected:
  struct Engine {
    explicit Engine(int64_t pool_bytes) : spilling(pool_bytes) {}

    test::SpillingPool spilling;
    std::vector<std::unique_ptr<Index>> indexes;
  };

  std::unique_ptr<Engine> Make(int64_t pool_bytes, int workers, const table::Schema& schema) {
    auto engine = std::make_unique<Engine>(pool_bytes);
    for (const auto& plan : kLineitemIndexes) {
      engine->indexes.push_back(
          Index::Make(plan, schema, workers, engine->spilling.pool()).value());
    }
    return engine;
  }

  Status Build(const feed::Snapshot& snapshot, Engine& engine,
                           const BuildOptions& options) {
    std::vector<Index*> indexes;
    for (const auto& index : engine.indexes) indexes.push_back(index.get());
    return BuildIndexes(snapshot, indexes, options, engine.spilling.pool(), blocks_, clock_,
                        stop_);
  }

  std::unique_ptr<feed::Snapshot> Lineitem(double scale_factor, feed::RowOrder order) {
    const std::string folder = folder_.Path("tpch");
    const feed::TpchGenerator generator(scale_factor, 7);
    EXPECT_TRUE(
        feed::WriteTpchSnapshot(generator, order, 1, files_, folder, blocks_).ok());
    return feed::Snapshot::Open(files_, folder + "/lineitem", blocks_).value();
  }

  // The digest that an index should have, from the rows as they are read.
  Index::Digest Expected(const feed::Snapshot& snapshot, const Index& index) {
    Index::Digest digest;
    const auto scan = snapshot.NewScan();
    while (const auto reader = scan->Next(4096, blocks_).value()) {
      for (;;) {
        const table::Batch batch = reader->Next().value();
        if (batch.row_count == 0) break;
        table::EncodedRows rows(blocks_);
        index.codec().Encode(batch, 0, batch.row_count, rows);
        for (int64_t at = 0; at < rows.row_count; ++at) digest.sum += sys::Xxh3(rows.row(at));
        digest.rows += rows.row_count;
      }
    }
    return digest;
  }

  test::TempFolder folder_;
  sys::DiskFiles files_;
  sys::RealClock clock_;
  sys::Stop stop_;
  mem::Budget budget_{"test", mem::kUnlimited};
  mem::BlockAllocator blocks_{budget_, 16 << 20};
};

// Goal:   every index holds the rows of its table, whatever builds it, on however many workers, in
//         whatever memory, from rows in any order.
// Method: digests against a sum over the rows as they are read.
TEST_F(BuildTest, IndexesHoldTheRowsOfTheirTable) {
  for (const auto order : {feed::RowOrder::kGenerated, feed::RowOrder::kShuffled}) {
    const auto snapshot = Lineitem(0.02, order);
    std::vector<Index::Digest> want;
    for (const auto kind : {delta::BatcherKind::kLegacy, delta::BatcherKind::kPaged,
                            delta::BatcherKind::kSnapshot}) {
      for (const auto& [workers, pool_bytes] :
           {std::pair{1, mem::kUnlimited}, std::pair{3, int64_t{24} << 20}}) {
        const auto engine = Make(pool_bytes, workers, snapshot->schema());
        BuildOptions options;
        options.batcher = kind;
        options.worker_count = workers;
        options.as_of = kAsOf;
        options.ladder.chunk_bytes = 128 << 10;
        const Status built = Build(*snapshot, *engine, options);
        ASSERT_TRUE(built.ok()) << built.error().message;
        for (size_t at = 0; at < engine->indexes.size(); ++at) {
          const Index& index = *engine->indexes[at];
          if (want.size() == at) want.push_back(Expected(*snapshot, index));
          EXPECT_EQ(index.stage(), Stage::kHydrated);
          EXPECT_EQ(index.rows_read(), snapshot->row_count());
          EXPECT_TRUE(index.DigestAt(kAsOf, stop_).value() == want[at])
              << index.plan().name << " " << delta::BatcherName(kind) << " " << workers;
        }
        if (pool_bytes != mem::kUnlimited && kind != delta::BatcherKind::kLegacy) {
          EXPECT_GT(engine->spilling.pool().counters().extent_bytes_written, 0);
          EXPECT_LE(engine->spilling.budget().peak_bytes(), pool_bytes);
        }
      }
    }
  }
}

// All workers end, and the indexes say so.
TEST_F(BuildTest, AFailingDeviceFailsTheBuild) {
  const auto snapshot = Lineitem(0.05, feed::RowOrder::kShuffled);
  const auto engine = Make(40 << 20, 3, snapshot->schema());
  engine->spilling.file().Fail(sys::FailingScratchFile::Step::kWrite, 3, 1'000'000);
  BuildOptions options;
  options.worker_count = 3;
  const Status built = Build(*snapshot, *engine, options);
  ASSERT_FALSE(built.ok());
  EXPECT_TRUE(built.error().message.ends_with(": the device is gone")) << built.error().message;
  EXPECT_EQ(engine->indexes.back()->stage(), Stage::kFailed);
}

TEST_F(BuildTest, AStoppedBuildEnds) {
  const auto snapshot = Lineitem(0.01, feed::RowOrder::kShuffled);
  const auto engine = Make(mem::kUnlimited, 2, snapshot->schema());
  stop_.Ask(15);
  BuildOptions options;
  options.worker_count = 2;
  const Status built = Build(*snapshot, *engine, options);
  ASSERT_FALSE(built.ok());
  EXPECT_EQ(built.error().code, Code::kCancelled);
  EXPECT_EQ(engine->indexes.front()->stage(), Stage::kFailed);
}

// The workers that were started do not wait for those that were not.
TEST_F(BuildTest, WorkersThatCannotBeStartedFailTheBuild) {
  const auto snapshot = Lineitem(0.001, feed::RowOrder::kShuffled);
  const auto engine = Make(mem::kUnlimited, 3, snapshot->schema());
  pthread_attr_t before;
  pthread_attr_t huge;
  ASSERT_EQ(pthread_getattr_default_np(&before), 0);
  ASSERT_EQ(pthread_attr_init(&huge), 0);
  ASSERT_EQ(pthread_attr_setstacksize(&huge, size_t{1} << 50), 0);  // More than addresses reach.
  ASSERT_EQ(pthread_setattr_default_np(&huge), 0);
  BuildOptions options;
  options.worker_count = 3;
  const Status built = Build(*snapshot, *engine, options);
  ASSERT_EQ(pthread_setattr_default_np(&before), 0);
  ASSERT_FALSE(built.ok());
  EXPECT_EQ(built.error().code, Code::kExhausted);
  EXPECT_EQ(engine->indexes.front()->stage(), Stage::kFailed);
}

TEST_F(BuildTest, AKeyColumnHasToBeThere) {
  const auto snapshot = Lineitem(0.001, feed::RowOrder::kShuffled);
  const auto engine = Make(mem::kUnlimited, 1, snapshot->schema());
  const auto index = Index::Make({"i", "lineitem", {"l_orderkey", "l_colour"}},
                                 snapshot->schema(), 1, engine->spilling.pool());
  ASSERT_FALSE(index.ok());
  EXPECT_EQ(index.error().message, "index i: table lineitem has no column l_colour");
}

}  // namespace
}  // namespace weir::hydrate
