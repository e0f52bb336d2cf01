#pragma once
// Engine: sources and the objects over them, hydrated within one budget and kept up to date.
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "weir/feed/source.h"
#include "weir/hydrate/build.h"
#include "weir/mem/pool.h"
#include "weir/sys/scratch_file.h"

namespace weir::hydrate {

struct EngineOptions {
  /// What the process may use, all in all. kUnlimited for the batcher kLegacy and for pools that do
  /// not spill: they have no way to obey.
  int64_t memory_bytes = mem::kUnlimited;
  /// The pool's share of it, kLeastPoolBytes at least; 1: all that the rest leaves.
  double budget_fraction = 1;
  int worker_count = 1;
  /// Objects that hydrate at a time; 0: as many as fit by estimate.
  int concurrency = 0;
  delta::BatcherKind batcher = delta::BatcherKind::kSnapshot;
  mem::PoolOptions pool;
  mem::FrameSource frames = mem::FrameSource::kReserved;
  std::string spill_folder = "/tmp";
  /// What the pool may hold in memory, the stored forms of pages that were spilled included; they
  /// may fill it above the pool's share. 0: none of them stay.
  int64_t pool_rss_target_bytes = 0;
  bool spill_to_swap = false;  ///< To memory that the kernel swaps out, not to the folder.
  int64_t spill_limit_bytes = int64_t{1} << 40;
};

/// Times are in milliseconds, and no two ticks may have the same.
inline constexpr sys::Duration kLeastTick = std::chrono::milliseconds(1);
/// Between tries of what failed for want of memory or disk.
inline constexpr sys::Duration kLeastRetry = std::chrono::seconds(1);
inline constexpr sys::Duration kMostRetry = std::chrono::seconds(64);
inline constexpr int64_t kLeastPoolBytes = int64_t{128} << 20;

/// How far one object has come.
struct ObjectStatus {
  std::string name;
  std::string table;
  Stage stage = Stage::kPending;
  int64_t rows_read = 0;
  int64_t rows_expected = 0;
  int64_t bytes_read = 0;                      ///< Of the table's values, about.
  std::optional<sys::Duration> started;        ///< By the engine's clock.
  std::optional<sys::Duration> hydration_time; ///< Once hydrated: what building it took.
  std::optional<sys::Duration> time;           ///< Once hydrated: since it was created.
  int64_t encoded_bytes = 0;                   ///< Of the rows read, as the index holds them.
  std::optional<delta::Time> frontier;         ///< Once hydrated: all before it is in, in ms.
  std::optional<Error> failure;                ///< Failed; or hydrated, and why it lacks a tick.
};

/// Whether this was for want of memory or disk, and may be mended by trying again.
bool MayPass(const Error& error);

/// Everything is charged to one budget, the program itself included; what does not fit is in an
/// unlinked file of the spill folder.
///
/// Threads: statuses(), counters() and usage any; the rest one.
class Engine {
 public:
  /// Errors: of sys::OpenScratchFile and mem::Pool::Make; kUsage for less memory than the process
  ///         holds already.
  static Result<std::unique_ptr<Engine>> Make(const EngineOptions& options, sys::Clock& clock);
  ~Engine();
  Engine(const Engine&) = delete;
  Engine& operator=(const Engine&) = delete;

  mem::BlockAllocator& blocks() { return blocks_; }

  /// Changes the bounds while anything goes on: more memory is there at once; less, as soon as what
  /// is over could be spilled. Threads: any.
  /// Errors: kUsage for less than the program takes by itself; of mem::Pool::Shrink: the bound
  ///         holds all the same, and is obeyed when spilling works again.
  Status SetMemory(int64_t bytes);
  Status SetBudgetFraction(double fraction);
  Status SetPoolRssTarget(int64_t bytes);

  /// Errors: kInvalid when there is one of that name, or it ticks more often than kLeastTick.
  Status AddSource(const std::string& name, std::unique_ptr<feed::Source> source);
  bool HasSource(const std::string& name) const { return sources_.contains(name); }
  /// Whether its ticks are applied. Errors: kNotFound.
  Status PauseSource(const std::string& name, bool paused);
  /// Errors: kNotFound; kInvalid while objects read it.
  Status DropSource(const std::string& name);
  /// `plan.table` is "table", or "source.table" where several sources have it.
  /// It is hydrated at the time of the last tick that was applied.
  /// Errors: kNotFound for table or column; kInvalid when there is an object of that name.
  Status AddIndex(IndexPlan plan);
  /// Errors: kNotFound.
  Status DropIndex(const std::string& name);

  /// Hydrates what is pending, object by object or together: those of one table share a scan. One
  /// that fails does not keep the others from it; those that find no room together are tried one by
  /// one. What failed before for want of memory or disk is pending again.
  /// Errors: the first failure; kCancelled when `stop` was asked for.
  Status Hydrate(const sys::Stop& stop);
  /// Applies every tick whose time has come to what is hydrated; once `stop` was asked for, one of
  /// each source at most.
  /// Errors:   the first failure of an object; the others have the tick. With kExhausted and
  ///           kUnavailable it is as it was before, and the next call begins with this tick for
  ///           those that do not have it; else it is failed.
  /// Requires: nothing is pending.
  Status ApplyDueTicks(const sys::Stop& stop);
  /// Hydrates what is pending, then applies ticks as their time comes, until `stop` is asked for. A
  /// failure is one object's, and `warn` is told of it once; the others go on. For want of memory
  /// or disk it is tried again: ticks every kLeastRetry, what could not be hydrated after that, and
  /// twice as long each time, until kMostRetry.
  /// Errors: the first failure when nothing is left that could go on.
  Status Follow(const sys::Stop& stop, const std::function<void(const Error&)>& warn);

  std::vector<ObjectStatus> statuses() const;
  /// Null if there is none of that name.
  const Index* FindIndex(const std::string& name) const;
  mem::PoolCounters counters() const { return pool_->counters(); }
  const mem::Budget& budget() const { return budget_; }

 private:
  struct SourceEntry {
    std::unique_ptr<feed::Source> source;
    sys::Duration created{0};
    std::optional<sys::Duration> paused;  // Since when.
    int64_t ticks = 0;  // Begun.
    std::optional<std::vector<feed::TableChange>> tick;  // The last, while some objects lack it.
  };
  struct Object {
    std::unique_ptr<Index> index;
    std::string source;
    std::string table;
    const feed::SourceTable* rows = nullptr;
    sys::Duration created{0};
    std::optional<sys::Duration> time;
    std::optional<Error> lack;  // Why it does not have the last tick.
    bool alone = false;         // With others it found no room.
  };
  struct FoundTable {
    std::string source;
    std::string table;
    const feed::SourceTable* rows = nullptr;
  };

  Engine(const EngineOptions& options, sys::Clock& clock);
  Status Start();
  Result<FoundTable> FindTable(const std::string& name) const;
  Status ReviveFailed(const std::function<bool(const Object&)>& wanted);
  Status Separate(const std::vector<Object*>& group);
  std::vector<Object*> NextGroup();
  Status HydrateGroup(const std::vector<Object*>& group, const sys::Stop& stop);
  delta::Time TimeOf(const std::string& source) const;
  std::optional<sys::Duration> NextTickTime() const;
  Status ApplyTick(const std::string& name, SourceEntry& entry);
  Status ApplyTo(Object& object, std::span<const feed::TableChange> tick, delta::Time time);
  bool RetryHydration(const sys::Stop& stop);
  std::map<std::string, Error> Failures() const;
  bool CanGoOn() const;

  void SetLimits();

  EngineOptions options_;  // Bounds guarded by mutex_; the rest never changes.
  sys::Clock& clock_;
  mem::Budget budget_;
  mem::Budget pool_budget_;
  mem::Budget tier_budget_;
  mem::Charge program_;
  mem::BlockAllocator blocks_;
  mem::Frames frames_;
  std::unique_ptr<mem::Pool> pool_;
  mutable std::mutex mutex_;  // Guards the maps' shape and Object::time, for statuses().
  std::map<std::string, SourceEntry> sources_;
  std::vector<std::unique_ptr<Object>> objects_;  // As they were created.
};

}  // namespace weir::hydrate
