#include "weir/hydrate/engine.h"

#include <algorithm>

#include "weir/base/fault.h"
#include "weir/base/units.h"
#include "weir/sys/process.h"

namespace weir::hydrate {
namespace {

// What is too small to be charged one by one: stacks, objects, malloc's own.
// Twice what was seen on 18 indexes of TPC-H at scale factor 1.
constexpr int64_t kSmallThings = 16 << 20;
constexpr int64_t kKeptBytes = 8 << 20;  // Of buffers that come and go.
constexpr int64_t kAddresses = int64_t{1} << 40;  // Per size of frame.

// Rows, sorted and in leaves, take about a tenth more than their values.
int64_t EstimatedBytes(const feed::SourceTable& table) {
  return table.value_bytes() + table.value_bytes() / 10;
}

// Legacy has all of its memory from there, and in the engine it stands for an allocator that keeps
// what is freed.
int64_t KeptBytes(const EngineOptions& options) {
  return options.batcher == delta::BatcherKind::kLegacy ? mem::kUnlimited : kKeptBytes;
}

int64_t PoolBytes(const EngineOptions& options) {
  if (options.budget_fraction >= 1 || options.memory_bytes == mem::kUnlimited) {
    return mem::kUnlimited;
  }
  const double share = static_cast<double>(options.memory_bytes) * options.budget_fraction;
  return std::max(kLeastPoolBytes, static_cast<int64_t>(share));
}

Error TooLittle(int64_t bytes, int64_t program_bytes) {
  return Fail(Code::kUsage,
              "{} of memory are less than the program takes by itself ({}); give it more",
              FormatBytes(bytes), FormatBytes(program_bytes));
}

int64_t TierBytes(const EngineOptions& options) {
  return std::max<int64_t>(0, options.pool_rss_target_bytes - PoolBytes(options));
}

}  // namespace

bool MayPass(const Error& error) {
  return error.code == Code::kExhausted || error.code == Code::kUnavailable;
}

Engine::Engine(const EngineOptions& options, sys::Clock& clock)
    : options_(options),
      clock_(clock),
      budget_("memory", options.memory_bytes),
      pool_budget_("pool", PoolBytes(options), &budget_),
      tier_budget_("pool-rss-target", TierBytes(options), &budget_),
      blocks_(budget_, KeptBytes(options)),
      frames_(pool_budget_, kAddresses, options.frames) {}

Engine::~Engine() { budget_.SetReclaimer(nullptr); }

Result<std::unique_ptr<Engine>> Engine::Make(const EngineOptions& options, sys::Clock& clock) {
  std::unique_ptr<Engine> engine(new Engine(options, clock));
  WEIR_DO(engine->Start());
  return engine;
}

Status Engine::Start() {
  const int64_t program_bytes = sys::ReadProcessUsage().anonymous_bytes + kSmallThings;
  auto program = mem::Charge::Take(budget_, program_bytes);
  if (!program.ok()) return TooLittle(options_.memory_bytes, program_bytes);
  program_ = std::move(program).value();
  std::unique_ptr<mem::ExtentStore> store;
  if (options_.pool.spill) {
    auto opened = options_.spill_to_swap ? sys::OpenSwappedScratch(options_.spill_limit_bytes)
                                         : sys::OpenScratchFile(options_.spill_folder);
    WEIR_TRY(auto file, std::move(opened));
    mem::Budget* const tier = options_.pool_rss_target_bytes > 0 ? &tier_budget_ : nullptr;
    store = std::make_unique<mem::ExtentStore>(std::move(file), options_.spill_limit_bytes, tier);
  }
  auto pool = mem::Pool::Make(frames_, std::move(store), options_.pool);
  if (!pool.ok()) {
    return Fail(pool.error().code, "{}; give it more memory", pool.error().message);
  }
  pool_ = std::move(pool).value();
  // Whatever else needs memory: pages can go to the spill file, decoded rows cannot.
  budget_.SetReclaimer(pool_.get());
  return Ok();
}

Status Engine::SetMemory(int64_t bytes) {
  if (bytes < program_.bytes()) return TooLittle(bytes, program_.bytes());
  const std::lock_guard lock(mutex_);
  options_.memory_bytes = bytes;
  SetLimits();
  return pool_->Shrink();
}

Status Engine::SetBudgetFraction(double fraction) {
  const std::lock_guard lock(mutex_);
  options_.budget_fraction = fraction;
  SetLimits();
  return pool_->Shrink();
}

Status Engine::SetPoolRssTarget(int64_t bytes) {
  const std::lock_guard lock(mutex_);
  options_.pool_rss_target_bytes = bytes;
  SetLimits();
  return pool_->Shrink();
}

void Engine::SetLimits() {
  budget_.SetLimit(options_.memory_bytes);
  pool_budget_.SetLimit(PoolBytes(options_));
  tier_budget_.SetLimit(TierBytes(options_));
}

// ---- Sources and objects ------------------------------------------------------------------------

Status Engine::AddSource(const std::string& name, std::unique_ptr<feed::Source> source) {
  if (source->tick_interval().value_or(kLeastTick) < kLeastTick) {
    return Fail(Code::kInvalid,
                "source {} would tick more often than once a millisecond, which is how fine times "
                "are; give it a longer interval",
                name);
  }
  const std::lock_guard lock(mutex_);
  if (sources_.contains(name)) {
    return Fail(Code::kInvalid, "source {} exists already; drop it first or choose another name",
                name);
  }
  SourceEntry& entry = sources_[name];
  entry.source = std::move(source);
  entry.created = clock_.Now();
  return Ok();
}

Status Engine::PauseSource(const std::string& name, bool paused) {
  const auto found = sources_.find(name);
  if (found == sources_.end()) return Fail(Code::kNotFound, "there is no source {}", name);
  SourceEntry& entry = found->second;
  const sys::Duration now = clock_.Now();
  if (paused && !entry.paused.has_value()) entry.paused = now;
  if (!paused && entry.paused.has_value()) {
    entry.created += now - *entry.paused;  // What would have happened meanwhile happens later.
    entry.paused.reset();
  }
  return Ok();
}

Status Engine::DropSource(const std::string& name) {
  for (const auto& object : objects_) {
    if (object->source != name) continue;
    return Fail(Code::kInvalid, "source {} is read by {}; drop that first", name,
                object->index->plan().name);
  }
  const std::lock_guard lock(mutex_);
  if (sources_.erase(name) == 0) return Fail(Code::kNotFound, "there is no source {}", name);
  return Ok();
}

Result<Engine::FoundTable> Engine::FindTable(const std::string& name) const {
  std::vector<FoundTable> found;
  for (const auto& [source, entry] : sources_) {
    std::string table = name;
    if (name.starts_with(source + ".")) table.erase(0, source.size() + 1);
    const feed::SourceTable* const rows = entry.source->Find(table);
    if (rows != nullptr) found.push_back({source, table, rows});
  }
  if (found.size() == 1) return found.front();
  if (found.size() > 1) {
    return Fail(Code::kInvalid, "table {} is in the sources {} and {}; write {}.{}", name,
                found[0].source, found[1].source, found[0].source, name);
  }
  std::string all;
  for (const auto& [source, entry] : sources_) {
    for (const std::string& table : entry.source->TableNames()) all += " " + table;
  }
  if (all.empty()) {
    return Fail(Code::kNotFound, "there is no table {}: create a source before it", name);
  }
  return Fail(Code::kNotFound, "there is no table {}; the sources have:{}", name, all);
}

Status Engine::AddIndex(IndexPlan plan) {
  if (FindIndex(plan.name) != nullptr) {
    return Fail(Code::kInvalid, "index {} exists already; drop it first or choose another name",
                plan.name);
  }
  WEIR_TRY(const FoundTable found, FindTable(plan.table), "index {}", plan.name);
  auto object = std::make_unique<Object>();
  object->source = found.source;
  object->table = found.table;
  object->rows = found.rows;
  object->created = clock_.Now();
  WEIR_TRY(object->index, Index::Make(std::move(plan), found.rows->schema(), options_.worker_count,
                                      *pool_));
  const std::lock_guard lock(mutex_);
  objects_.push_back(std::move(object));
  return Ok();
}

Status Engine::DropIndex(const std::string& name) {
  const std::lock_guard lock(mutex_);
  const auto dropped = std::erase_if(
      objects_, [&](const auto& object) { return object->index->plan().name == name; });
  return dropped == 0 ? Status(Fail(Code::kNotFound, "there is no index {}", name)) : Ok();
}

const Index* Engine::FindIndex(const std::string& name) const {
  for (const auto& object : objects_) {
    if (object->index->plan().name == name) return object->index.get();
  }
  return nullptr;
}

// ---- Hydration ----------------------------------------------------------------------------------

// The first that is pending, and others of its table, as many as may hydrate at a time.
std::vector<Engine::Object*> Engine::NextGroup() {
  std::vector<Object*> group;
  int64_t bytes = 0;
  for (const auto& object : objects_) {
    if (object->index->stage() != Stage::kPending) continue;
    if (!group.empty() && (object->rows != group.front()->rows || object->alone)) continue;
    bytes += EstimatedBytes(*object->rows);
    const bool fits = options_.concurrency > 0
                          ? static_cast<int>(group.size()) < options_.concurrency
                          : bytes <= pool_->RoomBytes();
    if (!group.empty() && !fits) break;
    group.push_back(object.get());
    if (object->alone) break;
  }
  return group;
}

// What failed for want of room begins anew, where it is `wanted`.
Status Engine::ReviveFailed(const std::function<bool(const Object&)>& wanted) {
  for (const auto& object : objects_) {
    const std::optional<Error> failure = object->index->failure();
    if (!failure.has_value() || !MayPass(*failure) || !wanted(*object)) continue;
    WEIR_TRY(auto index, Index::Make(object->index->plan(), object->rows->schema(),
                                     options_.worker_count, *pool_));
    const std::lock_guard lock(mutex_);
    object->index = std::move(index);
  }
  return Ok();
}

// What found no room together with others is pending again, to be tried alone.
Status Engine::Separate(const std::vector<Object*>& group) {
  for (Object* object : group) {
    const auto failure = object->index->failure();
    object->alone = group.size() > 1 && failure.has_value() && failure->code == Code::kExhausted;
  }
  return ReviveFailed([](const Object& object) { return object.alone; });
}

Status Engine::Hydrate(const sys::Stop& stop) {
  WEIR_DO(ReviveFailed([](const Object&) { return true; }));
  std::optional<Error> failure;
  while (true) {
    const std::vector<Object*> group = NextGroup();
    if (group.empty()) break;
    Status done = HydrateGroup(group, stop);
    if (done.ok()) continue;
    if (done.error().code == Code::kCancelled) return std::move(done).error();
    WEIR_DO(Separate(group));
    for (const Object* object : group) {
      const auto own = object->index->failure();
      if (own.has_value() && !failure.has_value()) {
        failure = Error(*own).In(object->index->plan().name);
      }
    }
  }
  if (failure.has_value()) return *std::move(failure);
  return Ok();
}

Status Engine::HydrateGroup(const std::vector<Object*>& group, const sys::Stop& stop) {
  std::vector<Index*> indexes;
  for (const Object* object : group) indexes.push_back(object->index.get());
  BuildOptions build;
  build.batcher = options_.batcher;
  build.worker_count = options_.worker_count;
  build.as_of = TimeOf(group.front()->source);
  Status built = BuildIndexes(*group.front()->rows, indexes, build, *pool_, blocks_, clock_, stop);
  {
    const std::lock_guard lock(mutex_);
    for (Object* object : group) {
      if (object->index->stage() != Stage::kHydrated) continue;
      const sys::Duration end = object->index->started() + object->index->hydration_time();
      object->time = end - object->created;
    }
  }
  if (!built.ok()) return built;
  return FaultPoint("engine.group_hydrated");
}

// ---- Ticks --------------------------------------------------------------------------------------

std::optional<sys::Duration> Engine::NextTickTime() const {
  std::optional<sys::Duration> next;
  for (const auto& [name, entry] : sources_) {
    const auto interval = entry.source->tick_interval();
    if (!interval.has_value() || entry.paused.has_value()) continue;
    const sys::Duration due = entry.created + *interval * (entry.ticks + 1);
    next = std::min(next.value_or(due), due);
  }
  return next;
}

Status Engine::ApplyDueTicks(const sys::Stop& stop) {
  const sys::Duration now = clock_.Now();  // Ticks may come faster than they can be applied.
  std::optional<Error> failure;
  for (auto& [name, entry] : sources_) {
    const auto interval = entry.source->tick_interval();
    if (!interval.has_value() || entry.paused.has_value()) continue;
    while (entry.tick.has_value() || entry.created + *interval * (entry.ticks + 1) <= now) {
      Status applied = ApplyTick(name, entry);
      if (!applied.ok() && !failure.has_value()) failure = std::move(applied).error();
      if (entry.tick.has_value() || stop.asked()) break;
    }
  }
  if (failure.has_value()) return *std::move(failure);
  return Ok();
}

// Whether there is nothing left to try.
bool Engine::RetryHydration(const sys::Stop& stop) {
  const bool some = std::any_of(objects_.begin(), objects_.end(), [](const auto& object) {
    const auto failure = object->index->failure();
    return object->index->stage() == Stage::kPending ||
           (failure.has_value() && MayPass(*failure));
  });
  return !some || Hydrate(stop).ok();
}

// By object: what failed, and what lacks a tick.
std::map<std::string, Error> Engine::Failures() const {
  std::map<std::string, Error> failures;
  for (const ObjectStatus& status : statuses()) {
    if (status.failure.has_value()) failures.emplace(status.name, *status.failure);
  }
  return failures;
}

bool Engine::CanGoOn() const {
  const auto failures = Failures();
  return failures.size() < objects_.size() || objects_.empty() ||
         std::any_of(failures.begin(), failures.end(),
                     [](const auto& each) { return MayPass(each.second); });
}

Status Engine::Follow(const sys::Stop& stop, const std::function<void(const Error&)>& warn) {
  std::map<std::string, Error> told;
  sys::Duration wait = kLeastRetry;
  sys::Duration retry = clock_.Now();
  while (true) {
    if (clock_.Now() >= retry) {
      wait = RetryHydration(stop) ? kLeastRetry : std::min(2 * wait, kMostRetry);
      retry = clock_.Now() + wait;
    }
    (void)ApplyDueTicks(stop);  // Each object knows its failure.
    if (stop.asked()) return Ok();
    std::map<std::string, Error> failures = Failures();
    for (const auto& [name, error] : failures) {
      if (!told.contains(name)) warn(Error(error).In(name));
    }
    told = std::move(failures);
    if (!CanGoOn()) return told.begin()->second;
    const sys::Duration soon = clock_.Now() + kLeastRetry;
    const sys::Duration until = told.empty() ? NextTickTime().value_or(soon) : soon;
    if (until > clock_.Now()) clock_.Wait(until - clock_.Now(), stop);
  }
}

// Tick k happens k intervals after the source was created; its time is that many milliseconds.
delta::Time Engine::TimeOf(const std::string& source) const {
  const SourceEntry& entry = sources_.at(source);
  if (entry.ticks == 0) return 0;
  return static_cast<delta::Time>(sys::Millis(*entry.source->tick_interval() * entry.ticks));
}

Status Engine::ApplyTick(const std::string& name, SourceEntry& entry) {
  if (!entry.tick.has_value()) {
    entry.tick = entry.source->NextTick(blocks_);
    ++entry.ticks;
  }
  std::optional<Error> failure;
  bool lacking = false;
  for (const auto& object : objects_) {
    if (object->source != name) continue;
    Status applied = ApplyTo(*object, *entry.tick, TimeOf(name));
    if (applied.ok()) continue;
    lacking |= object->index->stage() == Stage::kHydrated;
    if (!failure.has_value()) failure = std::move(applied).error().In(object->index->plan().name);
  }
  if (!lacking) entry.tick.reset();
  if (failure.has_value()) return *std::move(failure);
  return Ok();
}

// Nothing to do where an earlier try went well.
Status Engine::ApplyTo(Object& object, std::span<const feed::TableChange> tick, delta::Time time) {
  Index& index = *object.index;
  WEIR_ASSERT(index.stage() != Stage::kPending);
  if (index.stage() != Stage::kHydrated || index.frontier() > time) return Ok();
  std::vector<RowsChange> rows;
  for (const feed::TableChange& change : tick) {
    if (change.table == object.table) rows.push_back({&change.rows, change.diff});
  }
  Status applied = index.Apply(rows, time, *pool_, blocks_);
  const std::lock_guard lock(mutex_);
  object.lack.reset();
  if (applied.ok()) return Ok();
  if (MayPass(applied.error())) {
    object.lack = applied.error();
  } else {
    index.Fail(applied.error());
  }
  return applied;
}

// ---- Statuses -----------------------------------------------------------------------------------

std::vector<ObjectStatus> Engine::statuses() const {
  const std::lock_guard lock(mutex_);
  std::vector<ObjectStatus> statuses;
  for (const auto& object : objects_) {
    const Index& index = *object->index;
    ObjectStatus& status = statuses.emplace_back();
    status.name = index.plan().name;
    status.table = object->table;
    status.stage = index.stage();
    status.rows_read = index.rows_read();
    status.rows_expected = object->rows->row_count();
    const double read = static_cast<double>(status.rows_read) /
                        static_cast<double>(std::max<int64_t>(1, status.rows_expected));
    status.bytes_read =
        static_cast<int64_t>(static_cast<double>(object->rows->value_bytes()) * read);
    status.encoded_bytes = index.encoded_bytes();
    status.failure = object->lack.has_value() ? object->lack : index.failure();
    if (status.stage != Stage::kPending) status.started = index.started();
    if (status.stage != Stage::kHydrated) continue;
    status.hydration_time = index.hydration_time();
    status.time = object->time;
    status.frontier = index.frontier();
  }
  return statuses;
}

}  // namespace weir::hydrate
