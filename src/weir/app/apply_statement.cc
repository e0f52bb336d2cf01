#include "weir/app/apply_statement.h"

#include "weir/base/log.h"
#include "weir/feed/parquet_source.h"
#include "weir/feed/tpch_source.h"
#include "weir/sql/statement.h"

namespace weir::app {
namespace {

class Applier {
 public:
  Applier(sys::Files& files, hydrate::Engine& engine, HydrateOptions& options, bool has_tier)
      : files_(files), engine_(engine), options_(options), has_tier_(has_tier) {}

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
  Status operator()(const sql::AlterSystem& set) {
    WEIR_TRY(HydrateOptions changed, AfterStatement(options_, set.name, set.value));
    WEIR_TRY(const hydrate::EngineOptions bounds, EngineOptionsOf(changed));
    if (set.name == "memory") {
      WEIR_DO(engine_.SetMemory(bounds.memory_bytes));
    } else if (set.name == "budget_fraction") {
      WEIR_DO(engine_.SetBudgetFraction(bounds.budget_fraction));
    } else {
      WEIR_DO(SetPoolRssTarget(bounds.pool_rss_target_bytes));
    }
    options_ = std::move(changed);
    return Ok();
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

  Status SetPoolRssTarget(int64_t bytes) {
    if (has_tier_) return engine_.SetPoolRssTarget(bytes);
    return Fail(Code::kUsage,
                "ALTER SYSTEM SET pool_rss_target has no effect unless weir was started with "
                "--pool-rss-target; give both, or neither");
  }

  static void NoteCluster(const std::string& cluster) {
    if (cluster.empty()) return;
    LogWarn("IN CLUSTER {} is ignored: everything runs in this process", cluster);
  }

  sys::Files& files_;
  hydrate::Engine& engine_;
  HydrateOptions& options_;
  const bool has_tier_;  // The engine keeps stored forms in memory, if its bounds let it.
};

}  // namespace

Status ApplyStatements(std::string_view text, sys::Files& files, hydrate::Engine& engine,
                       HydrateOptions& options) {
  WEIR_TRY(const auto statements, sql::ParseStatements(text));
  WEIR_TRY(const hydrate::EngineOptions started, EngineOptionsOf(options));
  Applier applier(files, engine, options, started.pool_rss_target_bytes > 0);
  for (const sql::Statement& statement : statements) {
    WEIR_DO(std::visit(applier, statement.body), "line {}, column {}", statement.at.line,
            statement.at.column);
  }
  return Ok();
}

}  // namespace weir::app
