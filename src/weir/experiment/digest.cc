#include "weir/experiment/digest.h"

#include <algorithm>

#include "weir/file/content_hash.h"
#include "weir/file/manifest.h"
#include "weir/file/parquet_reader.h"
#include "weir/pg/catalog.h"
#include "weir/pg/session.h"

namespace weir::experiment {
namespace {

constexpr int64_t kReadRows = 1'024;  // Rows of 5 KB: batches of 5 MB.

}  // namespace

Result<std::string> DigestOfTable(const std::string& url, const std::string& table,
                                  const sys::Stop& stop) {
  WEIR_TRY(pg::Target target, pg::Target::Parse(url));
  WEIR_TRY(const auto connection,
           pg::Connection::Open(std::move(target), "weir/bench", stop, pg::kNoBound));
  WEIR_TRY(const pg::TableName name, pg::ResolveTable(*connection, {"", table}));
  WEIR_TRY(const pg::TableInfo info, pg::DescribeTable(*connection, name));
  std::vector<std::string> columns;
  for (const pg::CatalogColumn& column : info.columns) {
    columns.push_back(connection->QuoteName(column.name));
  }
  WEIR_DO(pg::BeginReadOnly(*connection, pg::Isolation::kReadCommitted,
                            {.application_name = "weir/bench"}));
  const std::string quoted =
      connection->QuoteName(name.schema) + "." + connection->QuoteName(name.name);
  WEIR_TRY(const pg::Row row, connection->QueryRow(file::ContentHashSql(quoted, columns)));
  return fmt::format("{}:{}", row[0].value_or(""), row[1].value_or(""));
}

Result<std::string> DigestOfFiles(sys::Files& files, const std::string& folder,
                                  mem::BlockAllocator& blocks, const sys::Stop& stop) {
  WEIR_TRY(const file::Manifest manifest, file::ReadManifest(files, folder));
  if (manifest.format != "parquet") {
    return Fail(Code::kInvalid,
                "'{}' holds {} files, and a digest reads Parquet only; export with --format "
                "parquet",
                folder, manifest.format);
  }
  file::ContentHash hash;
  for (const file::FilePart& part : manifest.parts) {
    WEIR_TRY(const auto reader,
             file::OpenParquet(sys::JoinPath(folder, part.path), kReadRows, blocks));
    while (true) {
      WEIR_TRY(const table::Batch batch, reader->Next());
      if (batch.row_count == 0) break;
      hash.Add(batch);
      WEIR_DO(stop.Check());
    }
  }
  return fmt::format("{}:{}", hash.row_count(), hash.Text());
}

Result<int64_t> LongestStatisticOfFiles(sys::Files& files, const std::string& folder) {
  mem::Budget budget("footers", mem::kUnlimited);
  mem::BlockAllocator blocks(budget, 0);
  WEIR_TRY(const file::Manifest manifest, file::ReadManifest(files, folder));
  int64_t longest = 0;
  for (const file::FilePart& part : manifest.parts) {
    WEIR_TRY(const int64_t bytes,
             file::LongestStatisticBytes(sys::JoinPath(folder, part.path), blocks));
    longest = std::max(longest, bytes);
  }
  return longest;
}

}  // namespace weir::experiment
