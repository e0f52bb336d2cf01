#pragma once
// What servers and workers say to each other: bodies of requests and answers, as JSON. Leases are
// texts there, as other languages' numbers end at 2^53.
#include <string>
#include <string_view>
#include <vector>

#include "weir/base/result.h"
#include "weir/queue/server_core.h"
#include "weir/queue/store.h"

namespace weir::serve {

/// POST /api/v1/sessions: a worker begins.
struct OpenSession {
  std::string name;
  std::vector<std::string> tags;
  int slots = 0;
};
struct OpenedSession {
  queue::SessionId session = 0;
  std::vector<int32_t> tag_ids;
  int64_t lease_millis = 0;
};
/// POST /api/v1/pull.
struct PullBody {
  queue::SessionId session = 0;
  std::vector<int32_t> tag_ids;
  uint64_t pull_id = 0;
  int slots = 0;
  int all_slots = 0;
  int64_t patience_millis = 0;
};
/// POST /api/v1/report.
struct ReportBody {
  queue::SessionId session = 0;
  uint64_t report_id = 0;
  std::vector<queue::Outcome> outcomes;  ///< Without workers and times: those are the server's.
};
/// POST /api/v1/heartbeat, answered by the leases whose jobs are to be stopped.
struct HeartbeatBody {
  queue::SessionId session = 0;
  std::vector<queue::Lease> held;
};

/// Each Parse gives what the Format of the same thing took.
/// Errors: kInvalid, naming the member that is missing or of another type.
std::string Format(const OpenSession& body);
std::string Format(const OpenedSession& body);
std::string Format(const PullBody& body);
std::string Format(const ReportBody& body);
std::string Format(const HeartbeatBody& body);
std::string FormatJobs(const std::vector<queue::HeldJob>& jobs);
std::string FormatTaken(const std::vector<bool>& taken);
std::string FormatLeases(const std::vector<queue::Lease>& leases);

Result<OpenSession> ParseOpenSession(std::string_view text);
Result<OpenedSession> ParseOpenedSession(std::string_view text);
Result<PullBody> ParsePull(std::string_view text);
Result<ReportBody> ParseReport(std::string_view text);
Result<HeartbeatBody> ParseHeartbeat(std::string_view text);
Result<std::vector<queue::HeldJob>> ParseJobs(std::string_view text);
Result<std::vector<bool>> ParseTaken(std::string_view text);
Result<std::vector<queue::Lease>> ParseLeases(std::string_view text);

}  // namespace weir::serve
