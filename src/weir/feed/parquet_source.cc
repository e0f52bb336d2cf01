#include "weir/feed/parquet_source.h"

#include "weir/feed/snapshot.h"

namespace weir::feed {
namespace {

struct Named {
  std::string name;
  std::unique_ptr<Snapshot> table;
};

std::string_view LastPart(std::string_view name) { return name.substr(name.rfind('.') + 1); }

class ParquetSource final : public Source {
 public:
  explicit ParquetSource(std::vector<Named> tables) : tables_(std::move(tables)) {}

  std::vector<std::string> TableNames() const override {
    std::vector<std::string> names;
    for (const Named& named : tables_) names.push_back(named.name);
    return names;
  }
  const SourceTable* Find(std::string_view table) const override {
    const SourceTable* found = nullptr;
    int endings = 0;
    for (const Named& named : tables_) {
      if (named.name == table) return named.table.get();
      if (LastPart(named.name) != table) continue;
      found = named.table.get();
      ++endings;
    }
    return endings == 1 ? found : nullptr;
  }
  std::optional<sys::Duration> tick_interval() const override { return std::nullopt; }
  std::vector<TableChange> NextTick(mem::BlockAllocator&) override {
    AssertionFailed("a Parquet source has no ticks", __FILE__, __LINE__);
  }

 private:
  const std::vector<Named> tables_;
};

// The folder's table, if it holds one.
Status AddTable(sys::Files& files, const std::string& folder, mem::BlockAllocator& blocks,
                std::vector<Named>& tables) {
  std::unique_ptr<Snapshot> table;
  if (files.Exists(sys::JoinPath(folder, file::kManifestName))) {
    WEIR_TRY(table, Snapshot::Open(files, folder, blocks));
  } else {
    WEIR_TRY(const bool any, Snapshot::HasFiles(files, folder));
    if (!any) return Ok();
    WEIR_TRY(table, Snapshot::OpenFiles(files, folder, blocks));
  }
  std::string name = table->export_name();
  tables.push_back({std::move(name), std::move(table)});
  return Ok();
}

}  // namespace

Result<std::unique_ptr<Source>> OpenParquetSource(sys::Files& files, const std::string& folder,
                                                  mem::BlockAllocator& blocks) {
  std::vector<Named> tables;
  WEIR_DO(AddTable(files, folder, blocks, tables));
  if (tables.empty()) {
    WEIR_TRY(const auto names, files.List(folder));
    for (const std::string& name : names) {
      const std::string path = sys::JoinPath(folder, name);
      if (name.starts_with('.') || files.KindOf(path) != sys::PathKind::kFolder) continue;
      WEIR_DO(AddTable(files, path, blocks, tables));
    }
  }
  if (tables.empty()) {
    return Fail(Code::kNotFound,
                "'{}' holds no tables: neither an export of weir run or weir export, nor Parquet "
                "files, nor folders with either",
                folder);
  }
  return std::unique_ptr<Source>(std::make_unique<ParquetSource>(std::move(tables)));
}

}  // namespace weir::feed
