#include "weir/hydrate/build.h"

#include <map>
#include <numeric>

#include "tests/support/folder.h"
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
    std::unique_ptr<mem::Budget> budget;
    std::unique_ptr<mem::Frames> frames;
    std::unique_ptr<mem::Pool> pool;
    std::vector<std::unique_ptr<Index>> indexes;

    ~Engine() { indexes.clear(), pool.reset(), frames.reset(); }
    std::vector<Index*> pointers() const {
      std::vector<Index*> pointers;
      for (const auto& index : indexes) pointers.push_back(index.get());
      return pointers;
    }
  };

  std::unique_ptr<Engine> Make(int64_t pool_bytes, int workers, const table::Schema& schema) {
    auto engine = std::make_unique<Engine>();
    engine->budget = std::make_unique<mem::Budget>("pool", pool_bytes);
    engine->frames = std::make_unique<mem::Frames>(*engine->budget, int64_t{1} << 32);
    auto file = std::make_unique<sys::FailingScratchFile>(
        sys::OpenScratchFile(folder_.path()).value(),
        Error{Code::kUnavailable, "the device is gone"});
    file_ = file.get();
    engine->pool =
        mem::Pool::Make(*engine->frames,
                        std::make_unique<mem::ExtentStore>(std::move(file), int64_t{1} << 40),
                        {.reserve_bytes = 2 << 20})
            .value();
    for (const auto& plan : kLineitemIndexes) {
      engine->indexes.push_back(Index::Make(plan, schema, workers, *engine->pool).value());
    }
    return engine;
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
    feed::Snapshot::Scan scan(snapshot);
    while (const auto reader = scan.Next(4096, blocks_).value()) {
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
  sys::FailingScratchFile* file_ = nullptr;
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
        const auto times = BuildIndexes(*snapshot, engine->pointers(), options, *engine->pool,
                                        blocks_, clock_, stop_);
        ASSERT_TRUE(times.ok()) << times.error().message;
        for (size_t at = 0; at < engine->indexes.size(); ++at) {
          const Index& index = *engine->indexes[at];
          if (want.size() == at) want.push_back(Expected(*snapshot, index));
          EXPECT_EQ(index.stage(), Stage::kHydrated);
          EXPECT_EQ(index.rows_read(), snapshot->row_count());
          EXPECT_TRUE(index.DigestAt(kAsOf).value() == want[at])
              << index.plan().name << " " << delta::BatcherName(kind) << " " << workers;
        }
        if (pool_bytes != mem::kUnlimited && kind != delta::BatcherKind::kLegacy) {
          EXPECT_GT(engine->pool->counters().extent_bytes_written, 0);
          EXPECT_LE(engine->budget->peak_bytes(), pool_bytes);
        }
      }
    }
  }
}

// All workers end, and the indexes say so.
TEST_F(BuildTest, AFailingDeviceFailsTheBuild) {
  const auto snapshot = Lineitem(0.05, feed::RowOrder::kShuffled);
  const auto engine = Make(40 << 20, 3, snapshot->schema());
  file_->Fail(sys::FailingScratchFile::Step::kWrite, 3, 1'000'000);
  BuildOptions options;
  options.worker_count = 3;
  const auto times = BuildIndexes(*snapshot, engine->pointers(), options, *engine->pool, blocks_,
                                  clock_, stop_);
  ASSERT_FALSE(times.ok());
  EXPECT_EQ(times.error().message, "the device is gone");
  EXPECT_EQ(engine->indexes.back()->stage(), Stage::kFailed);
}

TEST_F(BuildTest, AStoppedBuildEnds) {
  const auto snapshot = Lineitem(0.01, feed::RowOrder::kShuffled);
  const auto engine = Make(mem::kUnlimited, 2, snapshot->schema());
  stop_.Ask(15);
  BuildOptions options;
  options.worker_count = 2;
  const auto times = BuildIndexes(*snapshot, engine->pointers(), options, *engine->pool, blocks_,
                                  clock_, stop_);
  ASSERT_FALSE(times.ok());
  EXPECT_EQ(times.error().code, Code::kUnavailable);
}

TEST_F(BuildTest, AKeyColumnHasToBeThere) {
  const auto snapshot = Lineitem(0.001, feed::RowOrder::kShuffled);
  const auto engine = Make(mem::kUnlimited, 1, snapshot->schema());
  const auto index = Index::Make({"i", "lineitem", {"l_orderkey", "l_colour"}},
                                 snapshot->schema(), 1, *engine->pool);
  ASSERT_FALSE(index.ok());
  EXPECT_EQ(index.error().message, "index i: table lineitem has no column l_colour");
}

}  // namespace
}  // namespace weir::hydrate
