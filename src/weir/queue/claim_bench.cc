// The ceiling: jobs a second that one session of PostgreSQL claims and completes when nothing else
// stands between, by how many at once; and that it takes one by one.
//
//   claim_bench [--small]     few jobs, and checks that all are done once
#include <cstring>

#include <fmt/format.h>

#include "weir/pg/local_server.h"
#include "weir/queue/migrations.h"
#include "weir/queue/pg_store.h"
#include "weir/sys/clock.h"

namespace weir::queue {
namespace {

struct Bench {
  pg::Connection& connection;
  PgStore& store;
  int64_t jobs;
  int32_t tag = 0;
  SessionId server = 0;
  Lease drawn = 0;

  Status Fill() {
    return connection.Exec(fmt::format(
        "TRUNCATE weir_queue.job, weir_queue.job_spec, weir_queue.finished;"
        "WITH spec AS (INSERT INTO weir_queue.job_spec (id, kind, args, max_attempts, backoff_ms) "
        "SELECT weir_queue.new_id(), 'noop', '{{\"x\": 1}}', 3, 1000 FROM generate_series(1, {}) "
        "RETURNING id) "
        "INSERT INTO weir_queue.job (id, run_at, tag_id, tenant_id, state, rank) "
        "SELECT id, now(), {}, 1, 'ready', 0 FROM spec;"
        "CHECKPOINT", jobs, tag));
  }
  Status CheckAllDone() {
    WEIR_TRY(const pg::Row row,
             connection.QueryRow("SELECT count(*), sum(attempt), (SELECT count(*) FROM "
                                 "weir_queue.job) FROM weir_queue.finished"));
    const std::string want = std::to_string(jobs);
    if (row[0] == want && row[1] == want && row[2] == "0") return Ok();
    return Fail(Code::kCorrupt, "of {} jobs {} are done", jobs, row[0].value());
  }

  Status Batches(int size) {
    LineDemand demand{{tag, 0, 1}, 0, {}, size};
    while (true) {
      WEIR_TRY(const auto held, store.Claim({&demand, 1}, size, (server << 32) + drawn, server));
      if (held.empty()) return Ok();
      drawn += size;
      demand.after_run_at = held.back().run_at;
      demand.after_id = held.back().id;
      std::vector<Outcome> outcomes(held.size());
      for (size_t at = 0; at < held.size(); ++at) {
        outcomes[at].held = {held[at].id, held[at].lease, server, 0};
      }
      WEIR_TRY(const auto done, store.Complete(outcomes));
      if (done.size() != held.size()) return Fail(Code::kCorrupt, "a completion was refused");
    }
  }
  Status OneByOne() {
    while (true) {
      WEIR_TRY(const auto job, store.Take({&tag, 1}, {}, (server << 32) + ++drawn, server));
      if (!job.has_value()) return Ok();
      Outcome outcome;
      outcome.held = {job->id, job->lease, server, 0};
      WEIR_DO(store.Complete({&outcome, 1}));
    }
  }
  Status Measure(int size) {
    WEIR_DO(Fill());
    const sys::Duration start = sys::SteadyNow();
    WEIR_DO(size == 1 ? OneByOne() : Batches(size));
    const double seconds = sys::Seconds(sys::SteadyNow() - start);
    WEIR_DO(CheckAllDone());
    const std::string name = size == 1 ? "one by one" : fmt::format("{} at a time", size);
    fmt::print("{:>14}: {:>7.0f} jobs/s\n", name, static_cast<double>(jobs) / seconds);
    return Ok();
  }
};

Status Run(bool small) {
  pg::LocalServerOptions options;
  options.durable = !small;
  options.settings = {{"max_wal_size", "4GB"}};
  WEIR_TRY(const auto server, pg::LocalServer::Start(options));
  const sys::Stop stop;
  WEIR_TRY(const auto target, pg::Target::Parse(server->url()));
  WEIR_TRY(const auto connection, pg::Connection::Open(target, "claim_bench", stop));
  WEIR_DO(Migrate(*connection));
  WEIR_TRY(const auto store, PgStore::Open(target, "claim_bench", stop));
  Bench bench{*connection, *store, small ? 200 : 50'000};
  WEIR_TRY(bench.tag, store->TagId("default"));
  WEIR_TRY(bench.server, store->OpenSession({Role::kServer, "bench", {}, 0, 3'600'000}));
  for (const int size : {8, 24, 100, 24}) WEIR_DO(bench.Measure(size));
  bench.jobs = small ? 50 : 5'000;
  return bench.Measure(1);
}

}  // namespace
}  // namespace weir::queue

int main(int argc, char** argv) {
  const bool small = argc == 2 && std::strcmp(argv[1], "--small") == 0;
  const weir::Status done = weir::queue::Run(small);
  if (!done.ok()) fmt::print(stderr, "claim_bench: {}\n", done.error().message);
  return done.ok() ? 0 : 1;
}
