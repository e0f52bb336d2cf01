// What every JobStore does.
#include "weir/queue/store.h"

#include <functional>
#include <map>
#include <set>

#include "tests/support/postgres.h"
#include "weir/queue/memory_store.h"
#include "weir/queue/migrations.h"
#include "weir/queue/pg_store.h"
#include "weir/queue/transition.h"

namespace weir::queue {
namespace {

constexpr int kCrashesToDie = 3;

// A store whose time a test lets pass.
class Harness {
 public:
  virtual ~Harness() = default;
  virtual JobStore& store() = 0;
  virtual void Pass(std::chrono::milliseconds time) = 0;
};

class PgHarness final : public Harness {
 public:
  PgHarness() {
    const auto target = pg::Target::Parse(database_.url()).value();
    const auto connection = pg::Connection::Open(target, "weir test", stop_).value();
    EXPECT_TRUE(Migrate(*connection).ok());
    store_ = PgStore::Open(target, "weir test", stop_).value();
  }
  JobStore& store() override { return *store_; }
  // The database's clock is its own: what is to come is drawn nearer.
  void Pass(std::chrono::milliseconds time) override {
    const std::string by = fmt::format("interval '{} milliseconds'", time.count());
    database_.Exec("UPDATE weir_queue.session SET lease_until = lease_until - " + by +
                   "; UPDATE weir_queue.job SET run_at = run_at - " + by +
                   " WHERE state = 'scheduled'");
  }
  test::Database& database() { return database_; }

 private:
  test::Database database_;
  sys::Stop stop_;
  std::unique_ptr<PgStore> store_;
};

class MemoryHarness final : public Harness {
 public:
  JobStore& store() override { return store_; }
  void Pass(std::chrono::milliseconds time) override { clock_.Advance(time); }

 private:
  sys::ManualClock clock_;
  MemoryStore store_{clock_};
};

// Sessions, and the calls that most tests make.
class Queue {
 public:
  explicit Queue(Harness& harness) : harness_(harness), store_(harness.store()) {
    tag_ = store_.TagId("default").value();
    OpenSessions();
  }

  int32_t tag() const { return tag_; }
  SessionId server() const { return server_; }
  SessionId worker() const { return worker_; }
  JobStore& store() { return store_; }
  void Pass(std::chrono::milliseconds time) { harness_.Pass(time); }
  Line DefaultLine(int16_t rank = 0) const { return {tag_, rank, 1}; }
  Lease Draw() { return server_ << 32 | ++drawn_; }

  JobId Enqueue(NewJob job = {.kind = "noop"}) { return store_.Enqueue(job).value(); }
  std::vector<HeldJob> Claim(int most, LineDemand demand = {}) {
    demand.line = DefaultLine();
    demand.most = most;
    auto jobs = store_.Claim({&demand, 1}, most, (server_ << 32) + drawn_, server_);
    EXPECT_TRUE(jobs.ok()) << jobs.error().message;
    drawn_ += most;
    return jobs.ok() ? std::move(jobs).value() : std::vector<HeldJob>();
  }
  std::optional<HeldJob> Take(const Line& last = {}) {
    return store_.Take({&tag_, 1}, last, Draw(), worker_).value();
  }
  HandOver Hand(const HeldJob& job) const { return {job.id, job.lease, worker_, 5}; }
  Outcome Ended(const HeldJob& job) const {
    Outcome outcome;
    outcome.held = Hand(job);
    return outcome;
  }
  size_t Start(const HeldJob& job) { return store_.Start(std::vector{Hand(job)}).value().size(); }
  size_t Complete(const HeldJob& job) {
    return store_.Complete(std::vector{Ended(job)}).value().size();
  }
  std::vector<Moved> Fail(const HeldJob& job, std::string error, bool may_retry = true) {
    Outcome outcome = Ended(job);
    outcome.error = std::move(error);
    outcome.may_retry = may_retry;
    return store_.FailJobs(std::vector{outcome}).value();
  }
  size_t GiveBack(const HeldJob& job) {
    return store_.GiveBack(std::vector{Hand(job)}).value().size();
  }
  JobRecord Find(const JobId& id) { return store_.Find(id).value().value(); }
  State StateOf(const JobId& id) { return Find(id).state; }

  // A new job in that state; all others are out of the way.
  HeldJob Bring(State state) {
    HeldJob job;
    job.id = Enqueue({.kind = "noop", .delay_millis = state == State::kScheduled ? 60'000 : 0});
    if (state == State::kCancelled) (void)store_.Cancel(job.id);
    if (state == State::kReady || state == State::kScheduled || state == State::kCancelled) {
      return job;
    }
    job = Claim(1).at(0);
    if (state == State::kDone) Complete(job);
    if (state == State::kFailed) Fail(job, "no", false);
    if (state == State::kRunning) Start(job);
    if (state == State::kDead) Kill(job);
    return job;
  }
  // Whoever holds it.
  void Clear(const HeldJob& job) {
    (void)store_.Cancel(job.id);
    EXPECT_TRUE(store_.CloseSession(worker_).ok());
    EXPECT_TRUE(store_.CloseSession(server_).ok());
    OpenSessions();
    EXPECT_TRUE(IsFinal(StateOf(job.id)));
  }

 private:
  void OpenSessions() {
    server_ = store_.OpenSession({Role::kServer, "server", {}, 0, 3'000}).value();
    worker_ = store_.OpenSession({Role::kWorker, "worker", {"default"}, 8, 15'000}).value();
  }
  void Kill(HeldJob job) {
    const SessionId doomed = store_.OpenSession({Role::kWorker, "doomed", {}, 1, 0}).value();
    HandOver handed = Hand(job);
    handed.worker = doomed;
    EXPECT_EQ(store_.Start(std::vector{handed}).value().size(), 1u);
    Pass(std::chrono::milliseconds(1));
    EXPECT_EQ(store_.EndSessions(1).value().size(), 1u);
  }

  Harness& harness_;
  JobStore& store_;
  int32_t tag_ = 0;
  SessionId server_ = 0;
  SessionId worker_ = 0;
  Lease drawn_ = 0;
};

using MakeHarness = std::unique_ptr<Harness> (*)();

class StoreTest : public testing::TestWithParam<MakeHarness> {
 protected:
  StoreTest() : harness_(GetParam()()), queue_(*harness_) {}

  std::unique_ptr<Harness> harness_;
  Queue queue_;
};

INSTANTIATE_TEST_SUITE_P(
    Stores, StoreTest,
    testing::Values([]() -> std::unique_ptr<Harness> { return std::make_unique<PgHarness>(); },
                    []() -> std::unique_ptr<Harness> { return std::make_unique<MemoryHarness>(); }),
    [](const auto& info) { return info.index == 0 ? "Postgres" : "Memory"; });

TEST_P(StoreTest, AJobGoesFromEnqueueToDone) {
  const JobId id = queue_.Enqueue({.kind = "noop", .args = R"({"x": "ü \" \\ {}"})"});
  EXPECT_EQ(queue_.StateOf(id), State::kReady);
  const auto claimed = queue_.Claim(10);
  ASSERT_EQ(claimed.size(), 1u);
  EXPECT_EQ(claimed[0].id, id);
  EXPECT_EQ(claimed[0].lease, (queue_.server() << 32) + 1);
  EXPECT_EQ(claimed[0].kind, "noop");
  EXPECT_EQ(claimed[0].args, R"({"x": "ü \" \\ {}"})");
  EXPECT_EQ(queue_.StateOf(id), State::kBuffered);
  EXPECT_EQ(queue_.Find(id).attempt, 0);
  EXPECT_EQ(queue_.Start(claimed[0]), 1u);
  EXPECT_EQ(queue_.StateOf(id), State::kRunning);
  EXPECT_EQ(queue_.Find(id).attempt, 1);
  Outcome outcome = queue_.Ended(claimed[0]);
  outcome.result = R"(["\"", {"a": null}])";
  EXPECT_EQ(queue_.store().Complete({&outcome, 1}).value(), std::vector{id});
  const JobRecord done = queue_.Find(id);
  EXPECT_EQ(done.state, State::kDone);
  EXPECT_EQ(done.result, R"(["\"", {"a": null}])");
  EXPECT_EQ(done.error, std::nullopt);
  EXPECT_EQ(done.session, queue_.worker());
  EXPECT_EQ(queue_.Complete(claimed[0]), 0u);
  EXPECT_FALSE(queue_.store().Find(JobId{}).value().has_value());
}

// One that is done before its start was written is charged its attempt all the same.
TEST_P(StoreTest, ACompletionMayOvertakeItsStart) {
  const JobId id = queue_.Enqueue();
  const HeldJob job = queue_.Claim(1).at(0);
  EXPECT_EQ(queue_.Complete(job), 1u);
  EXPECT_EQ(queue_.Find(id).attempt, 1);
  EXPECT_EQ(queue_.Find(id).session, queue_.worker());
  EXPECT_EQ(queue_.Start(job), 0u);
}

// Goal:   in every state, every event leads where Next() says, and nowhere else.
// Method: a job is brought into the state, the event's call is made with a lease that the job does
//         not have, which must change nothing, and then with its own.
TEST_P(StoreTest, MovesAreThoseOfTheTransitionTable) {
  const std::map<Event, std::function<void(const HeldJob&)>> with_lease = {
      {Event::kStart, [&](const HeldJob& job) { queue_.Start(job); }},
      {Event::kSucceed, [&](const HeldJob& job) { queue_.Complete(job); }},
      {Event::kFail, [&](const HeldJob& job) { queue_.Fail(job, "no"); }},
      {Event::kGiveUp, [&](const HeldJob& job) { queue_.Fail(job, "no", false); }},
      {Event::kGiveBack, [&](const HeldJob& job) { queue_.GiveBack(job); }},
  };
  std::map<Event, std::function<void(const HeldJob&)>> calls = with_lease;
  calls[Event::kClaim] = [&](const HeldJob&) { queue_.Claim(1); };
  calls[Event::kTake] = [&](const HeldJob&) { queue_.Take(); };
  calls[Event::kCancel] = [&](const HeldJob& job) { (void)queue_.store().Cancel(job.id); };
  calls[Event::kPromote] = [&](const HeldJob&) {
    queue_.Pass(std::chrono::minutes(2));
    (void)queue_.store().Promote(10);
  };
  for (int from = 0; from < kStateCount; ++from) {
    const auto state = static_cast<State>(from);
    if (state == State::kSuspended) continue;  // Nothing suspends a job yet.
    for (const auto& [event, call] : calls) {
      SCOPED_TRACE(fmt::format("{} + {}", StateName(state), EventName(event)));
      HeldJob job = queue_.Bring(state);
      ASSERT_EQ(queue_.StateOf(job.id), state);
      if (with_lease.contains(event)) {
        HeldJob stale = job;
        --stale.lease;
        call(stale);
        EXPECT_EQ(queue_.StateOf(job.id), state) << "by a call with another's lease";
      }
      call(job);
      EXPECT_EQ(queue_.StateOf(job.id), Next(state, event).value_or(state));
      queue_.Clear(job);
    }
  }
}

TEST_P(StoreTest, RankThenTimeThenIdDecides) {
  const JobId early = queue_.Enqueue();
  const JobId urgent = queue_.Enqueue({.kind = "noop", .priority = 5});
  const JobId late = queue_.Enqueue();
  const LineDemand demands[] = {{queue_.DefaultLine(-5), 0, {}, 10},
                                {queue_.DefaultLine(), 0, {}, 10}};
  const auto jobs =
      queue_.store().Claim(demands, 20, queue_.server() << 32, queue_.server()).value();
  ASSERT_EQ(jobs.size(), 3u);
  EXPECT_EQ(jobs[0].id, urgent);
  EXPECT_EQ(jobs[1].id, early);
  EXPECT_EQ(jobs[2].id, late);
}

TEST_P(StoreTest, NoMoreAreClaimedThanWanted) {
  for (int times = 0; times < 5; ++times) queue_.Enqueue({.kind = "noop", .priority = times % 2});
  const LineDemand demands[] = {{queue_.DefaultLine(-1), 0, {}, 1},
                                {queue_.DefaultLine(), 0, {}, 10}};
  Lease before = queue_.Draw();
  const auto claim = [&](int most) {
    before += 10;
    return queue_.store().Claim(demands, most, before, queue_.server()).value().size();
  };
  EXPECT_EQ(claim(3), 3u);
  EXPECT_EQ(claim(10), 2u);
}

// A floor passes over what stands before it, and only that.
TEST_P(StoreTest, AFloorIsKept) {
  queue_.Enqueue();
  const JobId second = queue_.Enqueue();
  const JobId third = queue_.Enqueue();
  const HeldJob first = queue_.Claim(1).at(0);
  const LineDemand behind{{}, first.run_at, first.id, 0};
  const auto rest = queue_.Claim(10, behind);
  ASSERT_EQ(rest.size(), 2u);
  EXPECT_EQ(rest[0].id, second);
  EXPECT_EQ(rest[1].id, third);
  EXPECT_EQ(queue_.GiveBack(first), 1u);
  EXPECT_EQ(queue_.Claim(10, behind).size(), 0u);
  EXPECT_EQ(queue_.Claim(10).size(), 1u);
}

TEST_P(StoreTest, LinesAreFoundGapByGap) {
  queue_.Enqueue();
  queue_.Enqueue({.kind = "noop", .tenant = "other"});
  queue_.Enqueue({.kind = "noop", .priority = 3});
  const Line first{queue_.tag(), INT16_MIN, 0};
  const Line last{queue_.tag(), INT16_MAX, INT32_MAX};
  const auto find = [&](std::vector<LineGap> gaps) {
    return queue_.store().FindLines(gaps).value();
  };
  const auto urgent = find({{first, last}});
  ASSERT_EQ(urgent, std::vector{queue_.DefaultLine(-3)});
  const auto plain = find({{first, urgent[0]}, {urgent[0], last}});
  ASSERT_EQ(plain, std::vector{queue_.DefaultLine()});
  const auto other = find({{plain[0], last}});
  ASSERT_EQ(other.size(), 1u);
  EXPECT_EQ(other[0].rank, 0);
  EXPECT_GT(other[0].tenant_id, 1);
  EXPECT_EQ(find({{other[0], last}, {plain[0], other[0]}}), std::vector<Line>{});
}

// Whoever takes one by one serves the soonest rank, and its tenants in turn.
TEST_P(StoreTest, TakingGoesRoundTheTenants) {
  for (int times = 0; times < 2; ++times) {
    for (const char* tenant : {"a", "b", "c"}) queue_.Enqueue({.kind = "noop", .tenant = tenant});
  }
  const JobId urgent = queue_.Enqueue({.kind = "noop", .tenant = "c", .priority = 1});
  Line last;
  std::vector<int32_t> tenants;
  for (int times = 0; times < 7; ++times) {
    const auto job = queue_.Take(last);
    ASSERT_TRUE(job.has_value());
    EXPECT_EQ(job->id == urgent, times == 0);
    EXPECT_EQ(job->attempt, 1);
    EXPECT_EQ(queue_.StateOf(job->id), State::kRunning);
    last = job->line;
    tenants.push_back(last.tenant_id);
  }
  EXPECT_EQ(std::set(tenants.begin() + 1, tenants.begin() + 4).size(), 3u);
  EXPECT_EQ(std::vector(tenants.begin() + 1, tenants.begin() + 4),
            std::vector(tenants.begin() + 4, tenants.end()));
  EXPECT_FALSE(queue_.Take(last).has_value());
}

TEST_P(StoreTest, AFailedJobComesBackLaterUntilItsAttemptsAreUsedUp) {
  const JobId id = queue_.Enqueue({.kind = "noop", .max_attempts = 3, .backoff_millis = 60'000});
  for (int attempt = 1; attempt <= 2; ++attempt) {
    const auto moved = queue_.Fail(queue_.Claim(1).at(0), "not yet");
    ASSERT_EQ(moved.size(), 1u);
    EXPECT_EQ(moved[0].to, State::kScheduled);
    EXPECT_EQ(queue_.Find(id).attempt, attempt);
    const std::chrono::seconds most(60 << (attempt - 1));
    queue_.Pass(most / 2 - std::chrono::seconds(5));  // Jitter is of the upper half.
    EXPECT_EQ(queue_.store().Promote(10).value().size(), 0u);
    queue_.Pass(most / 2 + std::chrono::seconds(6));
    const auto promoted = queue_.store().Promote(10).value();
    ASSERT_EQ(promoted.size(), 1u);
    EXPECT_EQ(promoted[0].line, queue_.DefaultLine());
    const HeldJob job = queue_.Claim(1).at(0);
    EXPECT_EQ(job.run_at, promoted[0].run_at);
    EXPECT_EQ(queue_.GiveBack(job), 1u);
  }
  const auto moved = queue_.Fail(queue_.Claim(1).at(0), "the third time");
  ASSERT_EQ(moved.size(), 1u);
  EXPECT_EQ(moved[0].to, State::kFailed);
  EXPECT_EQ(queue_.Find(id).error, "the third time");
  EXPECT_EQ(queue_.Find(id).attempt, 3);
}

// Buffered jobs cost nothing; running ones count as crashes, and the third is the last.
TEST_P(StoreTest, WhatALostSessionHeldComesBack) {
  JobStore& store = queue_.store();
  const JobId buffered = queue_.Enqueue();
  const JobId running = queue_.Enqueue();
  for (int crash = 1; crash <= kCrashesToDie; ++crash) {
    const SessionId worker = store.OpenSession({Role::kWorker, "w", {}, 8, 15'000}).value();
    const SessionId server = store.OpenSession({Role::kServer, "s", {}, 0, 3'000}).value();
    const LineDemand demand{queue_.DefaultLine(), 0, {}, 2};
    const auto jobs = store.Claim({&demand, 1}, 2, server << 32, server).value();
    ASSERT_EQ(jobs.size(), 2u);
    const HandOver handed{running, jobs[jobs[0].id == running ? 0 : 1].lease, worker, 0};
    ASSERT_EQ(store.Start({&handed, 1}).value().size(), 1u);
    EXPECT_EQ(store.EndSessions(kCrashesToDie).value().size(), 0u);
    queue_.Pass(std::chrono::seconds(4));
    auto back = store.EndSessions(kCrashesToDie).value();
    ASSERT_EQ(back.size(), 1u);
    EXPECT_EQ(back[0].id, buffered);
    EXPECT_EQ(back[0].from, State::kBuffered);
    EXPECT_EQ(queue_.StateOf(running), State::kRunning);
    queue_.Pass(std::chrono::seconds(12));
    back = store.EndSessions(kCrashesToDie).value();
    ASSERT_EQ(back.size(), 1u);
    EXPECT_EQ(back[0].id, running);
    EXPECT_EQ(back[0].to, crash < kCrashesToDie ? State::kReady : State::kDead);
    Outcome late;
    late.held = handed;
    EXPECT_EQ(store.Complete({&late, 1}).value().size(), 0u);
    EXPECT_EQ(store.Renew(std::vector<Renewal>{{worker, 15'000}}).value().size(), 0u);
  }
  EXPECT_EQ(queue_.Find(buffered).attempt, 0);
  EXPECT_EQ(queue_.Find(buffered).crashes, 0);
  EXPECT_EQ(queue_.Find(running).error, "took its worker down 3 times");
}

// Whoever has ended claims, takes and starts nothing.
TEST_P(StoreTest, AnEndedSessionGetsNothing) {
  JobStore& store = queue_.store();
  const SessionId ended = store.OpenSession({Role::kWorker, "w", {}, 1, 0}).value();
  queue_.Enqueue();
  queue_.Pass(std::chrono::milliseconds(1));
  ASSERT_EQ(store.EndSessions(kCrashesToDie).value().size(), 0u);
  const LineDemand demand{queue_.DefaultLine(), 0, {}, 1};
  EXPECT_EQ(store.Claim({&demand, 1}, 1, ended << 32, ended).value().size(), 0u);
  const int32_t tag = queue_.tag();
  EXPECT_FALSE(store.Take({&tag, 1}, {}, (ended << 32) + 1, ended).value().has_value());
  const HeldJob job = queue_.Claim(1).at(0);
  HandOver handed = queue_.Hand(job);
  handed.worker = ended;
  EXPECT_EQ(store.Start({&handed, 1}).value().size(), 0u);
  EXPECT_EQ(queue_.StateOf(job.id), State::kBuffered);
}

// A server that lost the answer to a claim gives back what it does not know of.
TEST_P(StoreTest, UnknownClaimsComeBack) {
  for (int times = 0; times < 4; ++times) queue_.Enqueue();
  const auto jobs = queue_.Claim(3);
  ASSERT_EQ(queue_.Start(jobs[2]), 1u);
  const HeldJob later = queue_.Claim(1).at(0);
  const auto lines = queue_.store()
                         .GiveBackUnknown(queue_.server(), jobs[2].lease,
                                          std::vector<Lease>{jobs[0].lease})
                         .value();
  ASSERT_EQ(lines.size(), 1u);
  EXPECT_EQ(lines[0].line, queue_.DefaultLine());
  EXPECT_EQ(lines[0].run_at, jobs[1].run_at);
  EXPECT_EQ(queue_.StateOf(jobs[0].id), State::kBuffered);
  EXPECT_EQ(queue_.StateOf(jobs[1].id), State::kReady);
  EXPECT_EQ(queue_.StateOf(jobs[2].id), State::kRunning);
  EXPECT_EQ(queue_.StateOf(later.id), State::kBuffered);
}

// What a worker runs without knowing comes back uncharged; what it knows is told.
TEST_P(StoreTest, AnAuditFindsWhatWorkersDoNotKnow) {
  for (int times = 0; times < 4; ++times) queue_.Enqueue();
  const auto jobs = queue_.Claim(4);
  for (const HeldJob& job : jobs) ASSERT_EQ(queue_.Start(job), 1u);
  ASSERT_TRUE(queue_.store().Cancel(jobs[1].id).ok());
  ASSERT_TRUE(queue_.store().Cancel(jobs[3].id).ok());
  const auto audited = queue_.store()
                           .Audit(std::vector<SessionId>{queue_.worker()},
                                  std::vector<Lease>{jobs[0].lease, jobs[1].lease, 77})
                           .value();
  std::map<JobId, AuditedJob> by_id;
  for (const AuditedJob& job : audited) by_id[job.id] = job;
  ASSERT_EQ(by_id.size(), 4u);
  for (size_t at = 0; at < jobs.size(); ++at) {
    const AuditedJob& job = by_id[jobs[at].id];
    EXPECT_EQ(job.lease, jobs[at].lease);
    EXPECT_EQ(job.worker, queue_.worker());
    EXPECT_EQ(job.known, at < 2);
    EXPECT_EQ(job.cancelled, at % 2 == 1);
  }
  EXPECT_EQ(queue_.StateOf(jobs[0].id), State::kRunning);
  EXPECT_EQ(queue_.StateOf(jobs[1].id), State::kRunning);
  EXPECT_EQ(queue_.StateOf(jobs[2].id), State::kReady);
  EXPECT_EQ(queue_.Find(jobs[2].id).attempt, 0);
  EXPECT_EQ(queue_.StateOf(jobs[3].id), State::kCancelled);
}

// A renewed session keeps what it holds.
TEST_P(StoreTest, ARenewedSessionLives) {
  const JobId id = queue_.Enqueue();
  ASSERT_EQ(queue_.Start(queue_.Claim(1).at(0)), 1u);
  for (int times = 0; times < 5; ++times) {
    queue_.Pass(std::chrono::seconds(10));
    EXPECT_EQ(queue_.store().Renew(std::vector<Renewal>{{queue_.worker(), 15'000}}).value(),
              std::vector{queue_.worker()});
    EXPECT_EQ(queue_.store().EndSessions(kCrashesToDie).value().size(), 0u);
  }
  EXPECT_EQ(queue_.StateOf(id), State::kRunning);
}

TEST_P(StoreTest, AClosedSessionGivesAllBackUncharged) {
  const JobId id = queue_.Enqueue();
  const JobId cancelled = queue_.Enqueue();
  for (const HeldJob& job : queue_.Claim(2)) ASSERT_EQ(queue_.Start(job), 1u);
  EXPECT_EQ(queue_.store().Cancel(cancelled).value(), State::kRunning);
  ASSERT_TRUE(queue_.store().CloseSession(queue_.worker()).ok());
  EXPECT_EQ(queue_.StateOf(id), State::kReady);
  EXPECT_EQ(queue_.Find(id).attempt, 0);
  EXPECT_EQ(queue_.StateOf(cancelled), State::kCancelled);
}

// Whatever its worker says of it then, but that it was done in time.
TEST_P(StoreTest, ACancelledJobThatRunsEndsWithItsWorkersWord) {
  for (const auto& [say, want] :
       std::vector<std::pair<std::function<void(const HeldJob&)>, State>>{
           {[&](const HeldJob& job) { queue_.Fail(job, "stopped"); }, State::kCancelled},
           {[&](const HeldJob& job) { queue_.GiveBack(job); }, State::kCancelled},
           {[&](const HeldJob& job) { queue_.Complete(job); }, State::kDone}}) {
    const HeldJob job = queue_.Bring(State::kRunning);
    ASSERT_EQ(queue_.store().Cancel(job.id).value(), State::kRunning);
    say(job);
    EXPECT_EQ(queue_.StateOf(job.id), want);
    EXPECT_EQ(queue_.store().Cancel(job.id).value(), std::nullopt);
  }
}

TEST_P(StoreTest, AUniqueKeyIsOneLivingJobs) {
  const NewJob job{.kind = "noop", .unique_key = "k"};
  const JobId id = queue_.Enqueue(job);
  EXPECT_EQ(queue_.Enqueue(job), id);
  EXPECT_NE(queue_.Enqueue({.kind = "noop", .tenant = "other", .unique_key = "k"}), id);
  const HeldJob held = queue_.Claim(1).at(0);
  EXPECT_EQ(queue_.Enqueue(job), id);
  ASSERT_EQ(queue_.Complete(held), 1u);
  EXPECT_NE(queue_.Enqueue(job), id);
}

class PgStoreTest : public testing::Test {
 protected:
  PgHarness harness_;
  Queue queue_{harness_};
  sys::Stop stop_;
};

// Two claim at once: nothing is given twice, nothing is left out.
TEST_F(PgStoreTest, ClaimsPassOverWhatOthersHold) {
  for (int at = 0; at < 10; ++at) queue_.Enqueue();
  const auto target = pg::Target::Parse(harness_.database().url()).value();
  const auto blocker = pg::Connection::Open(target, "blocker", stop_).value();
  ASSERT_TRUE(blocker->Exec("BEGIN").ok());
  ASSERT_TRUE(
      blocker->Query("SELECT id FROM weir_queue.job ORDER BY run_at, id LIMIT 4 FOR UPDATE").ok());
  EXPECT_EQ(queue_.Claim(10).size(), 6u);
  EXPECT_FALSE(queue_.Take().has_value());
  ASSERT_TRUE(blocker->Exec("COMMIT").ok());
  EXPECT_EQ(queue_.Claim(10).size(), 4u);
}

// What earlier attempts came to is kept: who ran them, and how they ended.
TEST_F(PgStoreTest, EvidenceIsKept) {
  const JobId id = queue_.Enqueue({.kind = "noop", .backoff_millis = 0});
  queue_.Fail(queue_.Claim(1).at(0), "first");
  ASSERT_EQ(queue_.store().Promote(1).value().size(), 1u);
  ASSERT_EQ(queue_.Start(queue_.Claim(1).at(0)), 1u);
  queue_.Pass(std::chrono::seconds(20));
  ASSERT_EQ(queue_.store().EndSessions(kCrashesToDie).value().size(), 1u);
  EXPECT_EQ(harness_.database().Text(
                "SELECT string_agg(format('%s %s %s', attempt, how, error), '; ' ORDER BY attempt) "
                "FROM weir_queue.attempt WHERE id = '" + id.ToString() + "'"),
            "1 failed first; 2 lease ran out worker worker was not heard of any more");
}

TEST_F(PgStoreTest, BadJobsAreRefusedInWords) {
  const auto refused = [&](const NewJob& job) {
    const auto result = queue_.store().Enqueue(job);
    EXPECT_FALSE(result.ok());
    return result.ok() ? std::string() : result.error().message;
  };
  EXPECT_NE(refused({.kind = "noop", .args = "{"}).find("json"), std::string::npos);
  EXPECT_NE(refused({.kind = ""}).find("kind"), std::string::npos);
  EXPECT_NE(refused({.kind = "noop", .args = "\"\\u0000\""}).find("Unicode"), std::string::npos);
  EXPECT_NE(refused({.kind = "noop", .priority = 40'000}).find("40000"), std::string::npos);
  EXPECT_NE(refused({.kind = "noop", .tag = std::string(101, 'x')}).find("tag"),
            std::string::npos);
  EXPECT_NE(refused({.kind = "a\xff"}).find("UTF8"), std::string::npos);
  EXPECT_EQ(harness_.database().Text("SELECT count(*) FROM weir_queue.job_spec"), "0");
}

}  // namespace
}  // namespace weir::queue
