#include "weir/feed/snapshot.h"

#include <filesystem>
#include <numeric>
#include <thread>

#include "tests/support/folder.h"
#include "weir/feed/tpch_snapshot.h"
#include "weir/sys/hash.h"
#include "weir/table/row_codec.h"

namespace weir::feed {
namespace {

class SnapshotTest : public testing::Test {
 protected:
  struct Content {
    int64_t rows = 0;
    uint64_t sum = 0;        // Of the hashes of all rows, in any order.
    uint64_t sequence = 0;   // In theirs.
  };

  Content Read(TableScan& scan, const table::Schema& schema) {
    Content content;
    std::vector<int> columns(schema.columns.size());
    std::iota(columns.begin(), columns.end(), 0);
    const table::RowCodec codec(schema, columns, {});
    for (;;) {
      const auto reader = scan.Next(1000, blocks_).value();
      if (reader == nullptr) return content;
      for (;;) {
        const table::Batch batch = reader->Next().value();
        if (batch.row_count == 0) break;
        table::EncodedRows rows(blocks_);
        codec.Encode(batch, 0, batch.row_count, rows);
        for (int64_t at = 0; at < rows.row_count; ++at) {
          const uint64_t hash = sys::Xxh3(rows.row(at));
          content.sum += hash;
          content.sequence = content.sequence * 31 + hash;
          ++content.rows;
        }
      }
    }
  }

  void Write(RowOrder order, const std::string& folder) {
    ASSERT_TRUE(WriteTpchSnapshot(generator_, order, 1, files_, folder, blocks_).ok());
  }

  test::TempFolder folder_;
  sys::DiskFiles files_;
  mem::Budget budget_{"test", mem::kUnlimited};
  mem::BlockAllocator blocks_{budget_, 0};
  TpchGenerator generator_{0.002, 7};
};

TEST_F(SnapshotTest, EitherOrderHoldsTheSameRows) {
  const std::string generated = folder_.Path("generated");
  const std::string shuffled = folder_.Path("shuffled");
  const std::string again = folder_.Path("again");
  Write(RowOrder::kGenerated, generated);
  Write(RowOrder::kShuffled, shuffled);
  Write(RowOrder::kShuffled, again);
  for (int at = 0; at < kTpchTableCount; ++at) {
    const std::string name(TpchTableName(static_cast<TpchTable>(at)));
    std::vector<Content> contents;
    for (const auto& folder : {generated, shuffled, again}) {
      const auto snapshot = Snapshot::Open(files_, sys::JoinPath(folder, name), blocks_).value();
      const auto scan = snapshot->NewScan();
      contents.push_back(Read(*scan, snapshot->schema()));
      EXPECT_EQ(contents.back().rows, snapshot->row_count()) << name;
    }
    EXPECT_GT(contents[0].rows, 0);
    EXPECT_EQ(contents[1].sum, contents[0].sum) << name;
    EXPECT_NE(contents[1].sequence, contents[0].sequence) << name;
    EXPECT_EQ(contents[2].sequence, contents[1].sequence) << name;
  }
}

TEST_F(SnapshotTest, ThreadsShareOneScan) {
  const std::string folder = folder_.Path("tpch");
  const TpchGenerator larger(0.1, 7);
  ASSERT_TRUE(WriteTpchSnapshot(larger, RowOrder::kGenerated, 1, files_, folder, blocks_).ok());
  const auto snapshot = Snapshot::Open(files_, folder + "/lineitem", blocks_).value();
  const auto alone = snapshot->NewScan();
  const Content want = Read(*alone, snapshot->schema());
  const auto scan = snapshot->NewScan();
  Content both[2];
  std::thread other([&] { both[1] = Read(*scan, snapshot->schema()); });
  both[0] = Read(*scan, snapshot->schema());
  other.join();
  EXPECT_EQ(both[0].rows + both[1].rows, want.rows);
  EXPECT_EQ(both[0].sum + both[1].sum, want.sum);
}

TEST_F(SnapshotTest, WhatIsNoSnapshotIsRefused) {
  const auto missing = Snapshot::Open(files_, folder_.Path("missing"), blocks_);
  ASSERT_FALSE(missing.ok());
  EXPECT_EQ(missing.error().code, Code::kNotFound);
}

std::string OnlyPart(const std::string& folder) {
  for (const auto& entry : std::filesystem::directory_iterator(folder)) {
    if (entry.path().extension() == ".parquet") return entry.path();
  }
  ADD_FAILURE() << folder << " has no part";
  return {};
}

// A manifest that promises other rows than are there would make "hydrated" a lie.
TEST_F(SnapshotTest, PartsAreHeldAgainstTheManifest) {
  const std::string folder = folder_.Path("tpch");
  Write(RowOrder::kGenerated, folder);
  const std::string part = OnlyPart(folder + "/orders");
  const auto opened = Snapshot::Open(files_, folder + "/orders", blocks_).value();
  std::filesystem::copy_file(OnlyPart(folder + "/customer"), part,
                             std::filesystem::copy_options::overwrite_existing);
  const auto again = Snapshot::Open(files_, folder + "/orders", blocks_);
  ASSERT_FALSE(again.ok());
  EXPECT_EQ(again.error().code, Code::kCorrupt);
  EXPECT_NE(again.error().message.find("300 rows where its manifest has 3000"), std::string::npos)
      << again.error().message;
  const auto reader = opened->NewScan()->Next(100, blocks_);  // One that was opened before.
  ASSERT_FALSE(reader.ok());
  EXPECT_EQ(reader.error().code, Code::kCorrupt);
  EXPECT_NE(reader.error().message.find("other columns"), std::string::npos);
}

}  // namespace
}  // namespace weir::feed
