#include "weir/app/apply_statement.h"

#include "weir/app/hydrate_options.h"
#include "weir/base/log.h"
#include "weir/base/units.h"
#include "weir/feed/parquet_source.h"
#include "weir/feed/tpch_source.h"
#include "weir/sql/statement.h"

namespace weir::app {
namespace {

class Applier {
 public:
  Applier(sys::Files& files, hydrate::Engine& engine) : files_(files), engine_(engine) {}

  Status operator()(const sql::CreateSource& create) {
    NoteCluster(create.cluster);
    if (create.if_not_exists && engine_.HasSource(create.name)) return Ok();
    WEIR_TRY(auto source, Open(create));
    return engine_.AddSource(create.name, std::move(source));
  }
  Status operator()(const sql::AlterSource& alter) {
    return engine_.PauseSource(alter.name, alter.change == sql::AlterSource::Change::kPause);
  }
  Status operator()(const sql::DropSource& drop) {
    if (drop.if_exists && !engine_.HasSource(drop.name)) return Ok();
    return engine_.DropSource(drop.name);
  }
  Status operator()(const sql::CreateIndex& create) {
    NoteCluster(create.cluster);
    std::string name = create.name;
    if (create.name_is_default) {
      for (int number = 1; engine_.FindIndex(name) != nullptr; ++number) {
        name = create.name + std::to_string(number);
      }
    }
    if (create.if_not_exists && engine_.FindIndex(name) != nullptr) return Ok();
    const std::string& source = create.table.source;
    return engine_.AddIndex({.name = std::move(name),
                             .table = (source.empty() ? "" : source + ".") + create.table.table,
                             .key_columns = create.key_columns});
  }
  Status operator()(const sql::DropIndex& drop) {
    if (drop.if_exists && engine_.FindIndex(drop.name) == nullptr) return Ok();
    return engine_.DropIndex(drop.name);
  }
  // The bounds of memory, by the names of their flags with underscores.
  Status operator()(const sql::AlterSystem& set) {
    if (set.name == "memory" || set.name == "pool_rss_target") {
      WEIR_TRY(const int64_t bytes, ParseByteSize(set.value), "{}", set.name);
      return set.name == "memory" ? engine_.SetMemory(bytes) : engine_.SetPoolRssTarget(bytes);
    }
    if (set.name == "budget_fraction") {
      WEIR_TRY(const double fraction, ParseFraction(set.value), "budget_fraction");
      return engine_.SetBudgetFraction(fraction);
    }
    return Fail(Code::kUsage,
                "there is no setting {} that may change while weir runs; there are memory, "
                "budget_fraction and pool_rss_target",
                set.name);
  }

 private:
  Result<std::unique_ptr<feed::Source>> Open(const sql::CreateSource& create) {
    if (const auto* folder = std::get_if<sql::ParquetFolder>(&create.from)) {
      return feed::OpenParquetSource(files_, folder->path, engine_.blocks());
    }
    const auto& load = std::get<sql::TpchLoad>(create.from);
    return feed::NewTpchSource({.scale_factor = load.scale_factor,
                                .seed = load.seed,
                                .tick_interval = load.tick_interval});
  }

  static void NoteCluster(const std::string& cluster) {
    if (cluster.empty()) return;
    LogWarn("IN CLUSTER {} is ignored: everything runs in this process", cluster);
  }

  sys::Files& files_;
  hydrate::Engine& engine_;
};

}  // namespace

Status ApplyStatements(std::string_view text, sys::Files& files, hydrate::Engine& engine) {
  WEIR_TRY(const auto statements, sql::ParseStatements(text));
  Applier applier(files, engine);
  for (const sql::Statement& statement : statements) {
    WEIR_DO(std::visit(applier, statement.body), "line {}, column {}", statement.at.line,
            statement.at.column);
  }
  return Ok();
}

}  // namespace weir::app
