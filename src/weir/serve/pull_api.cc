#include "weir/serve/pull_api.h"

#include <charconv>

#include <nlohmann/json.hpp>

namespace weir::serve {
namespace {

using Json = nlohmann::json;
using queue::HeldJob;
using queue::JobId;
using queue::Lease;
using queue::Outcome;

std::string Dump(const Json& json) {
  return json.dump(-1, ' ', false, Json::error_handler_t::replace);
}

// A value that stands in the wire's JSON as what it is; text that is no JSON stands as text.
Json Embedded(const std::string& text) {
  Json json = Json::parse(text, nullptr, false);
  return json.is_discarded() ? Json(text) : json;
}

// Reads the members of one object; the first that is not right is the error.
class Reader {
 public:
  explicit Reader(const Json& json) : json_(json) {
    if (!json.is_object()) Wrong("the body", "a JSON object");
  }

  int64_t Number(const char* name, int64_t least, int64_t most) {
    const Json* const found = Find(name);
    if (found == nullptr) return least;
    const bool fits = found->is_number_integer() && found->get<int64_t>() >= least &&
                      found->get<int64_t>() <= most;
    if (fits) return found->get<int64_t>();
    Wrong(name, fmt::format("a number from {} to {}", least, most));
    return least;
  }
  std::string Text(const char* name) {
    const Json* const found = Find(name);
    if (found != nullptr && found->is_string()) return found->get<std::string>();
    Wrong(name, "a text");
    return {};
  }
  // A number of 64 bits in a text.
  int64_t Wide(const char* name) { return WideOf(name, Text(name)); }
  bool Bool(const char* name, bool otherwise) {
    const auto found = json_.is_object() ? json_.find(name) : json_.end();
    if (found == json_.end()) return otherwise;
    if (found->is_boolean()) return found->get<bool>();
    Wrong(name, "true or false");
    return otherwise;
  }
  // Whatever it is, as text; "null" where it is missing.
  std::string Any(const char* name) {
    const auto found = json_.is_object() ? json_.find(name) : json_.end();
    return found == json_.end() ? "null" : Dump(*found);
  }
  bool Has(const char* name) const { return json_.is_object() && json_.contains(name); }
  const Json& List(const char* name) {
    static const Json kNone = Json::array();
    const Json* const found = Find(name);
    if (found != nullptr && found->is_array()) return *found;
    Wrong(name, "a list");
    return kNone;
  }
  int64_t WideOf(const char* name, const std::string& text) {
    int64_t number = 0;
    const char* const end = text.data() + text.size();
    const auto [at, error] = std::from_chars(text.data(), end, number);
    if (error != std::errc() || at != end) Wrong(name, "a whole number in a text");
    return number;
  }
  JobId Id(const char* name) {
    auto id = JobId::Parse(Text(name));
    if (id.ok()) return id.value();
    Wrong(name, "a UUID");
    return {};
  }
  void Wrong(std::string_view name, std::string_view want) {
    if (!error_.has_value()) {
      error_ = Fail(Code::kInvalid, "'{}' of the request has to be {}", name, want);
    }
  }
  void Take(Reader& other) {
    if (!error_.has_value()) error_ = std::move(other.error_);
  }
  template <typename T>
  Result<T> Finish(T value) {
    if (error_.has_value()) return *std::move(error_);
    return value;
  }

 private:
  const Json* Find(const char* name) {
    const auto found = json_.is_object() ? json_.find(name) : json_.end();
    if (found != json_.end()) return &*found;
    Wrong(name, "there");
    return nullptr;
  }

  const Json& json_;
  std::optional<Error> error_;
};

// Deeper values would take the stack of whoever writes them out.
constexpr int kMostDepth = 200;

Result<Json> Parse(std::string_view text) {
  bool deep = false;
  const auto watch = [&](int depth, Json::parse_event_t, Json&) {
    deep |= depth > kMostDepth;
    return !deep;
  };
  Json json = Json::parse(text, watch, false);
  if (deep) {
    return Fail(Code::kInvalid, "the body is nested more than {} levels deep", kMostDepth);
  }
  if (json.is_discarded()) return Fail(Code::kInvalid, "the body is not JSON");
  return json;
}

std::vector<std::string> Texts(Reader& reader, const char* name) {
  std::vector<std::string> texts;
  for (const Json& each : reader.List(name)) {
    if (!each.is_string()) reader.Wrong(name, "a list of texts");
    texts.push_back(each.is_string() ? each.get<std::string>() : "");
  }
  return texts;
}

std::vector<int32_t> TagIds(Reader& reader) {
  std::vector<int32_t> ids;
  for (const Json& each : reader.List("tag_ids")) {
    if (!each.is_number_integer()) reader.Wrong("tag_ids", "a list of numbers");
    ids.push_back(each.is_number_integer() ? each.get<int32_t>() : 0);
  }
  return ids;
}

std::vector<Lease> Leases(Reader& reader, const char* name) {
  std::vector<Lease> leases;
  for (const std::string& text : Texts(reader, name)) leases.push_back(reader.WideOf(name, text));
  return leases;
}

Json JobJson(const HeldJob& job) {
  Json json = {{"id", job.id.ToString()},     {"lease", std::to_string(job.lease)},
               {"kind", job.kind},            {"args", Embedded(job.args)},
               {"attempt", job.attempt},      {"crashes", job.crashes}};
  if (job.timeout_millis.has_value()) json["timeout_ms"] = *job.timeout_millis;
  return json;
}

HeldJob ReadJob(Reader& reader) {
  HeldJob job;
  job.id = reader.Id("id");
  job.lease = reader.Wide("lease");
  job.kind = reader.Text("kind");
  job.args = reader.Any("args");
  job.attempt = static_cast<int>(reader.Number("attempt", 0, INT16_MAX));
  job.crashes = static_cast<int>(reader.Number("crashes", 0, INT16_MAX));
  if (reader.Has("timeout_ms")) {
    job.timeout_millis = static_cast<int>(reader.Number("timeout_ms", 1, INT32_MAX));
  }
  return job;
}

Json OutcomeJson(const Outcome& outcome) {
  Json json = {{"id", outcome.held.id.ToString()},
               {"lease", std::to_string(outcome.held.lease)}};
  if (outcome.error.empty()) {
    json["result"] = Embedded(outcome.result);
  } else {
    json["error"] = outcome.error;
    json["may_retry"] = outcome.may_retry;
  }
  if (outcome.peak_bytes > 0) json["peak_bytes"] = outcome.peak_bytes;
  if (outcome.cpu_micros > 0) json["cpu_us"] = outcome.cpu_micros;
  return json;
}

Outcome ReadOutcome(Reader& reader) {
  Outcome outcome;
  outcome.held.id = reader.Id("id");
  outcome.held.lease = reader.Wide("lease");
  outcome.result = reader.Any("result");
  if (reader.Has("error")) {
    outcome.error = reader.Text("error");
    if (outcome.error.empty()) outcome.error = "failed without saying why";
  }
  outcome.may_retry = reader.Bool("may_retry", true);
  if (reader.Has("peak_bytes")) outcome.peak_bytes = reader.Number("peak_bytes", 0, INT64_MAX);
  if (reader.Has("cpu_us")) outcome.cpu_micros = reader.Number("cpu_us", 0, INT64_MAX);
  return outcome;
}

Json LeasesJson(const std::vector<Lease>& leases) {
  Json json = Json::array();
  for (const Lease lease : leases) json.push_back(std::to_string(lease));
  return json;
}

}  // namespace

std::string Format(const OpenSession& body) {
  return Dump({{"name", body.name}, {"tags", body.tags}, {"slots", body.slots}});
}
std::string Format(const OpenedSession& body) {
  return Dump({{"session", body.session},
               {"tag_ids", body.tag_ids},
               {"lease_ms", body.lease_millis}});
}
std::string Format(const PullBody& body) {
  return Dump({{"session", body.session},
               {"tag_ids", body.tag_ids},
               {"pull", body.pull_id},
               {"slots", body.slots},
               {"all_slots", body.all_slots},
               {"patience_ms", body.patience_millis}});
}
std::string Format(const ReportBody& body) {
  Json outcomes = Json::array();
  for (const Outcome& outcome : body.outcomes) outcomes.push_back(OutcomeJson(outcome));
  return Dump({{"session", body.session},
               {"report", body.report_id},
               {"outcomes", std::move(outcomes)}});
}
std::string Format(const HeartbeatBody& body) {
  return Dump({{"session", body.session}, {"held", LeasesJson(body.held)}});
}
std::string FormatJobs(const std::vector<HeldJob>& jobs) {
  Json list = Json::array();
  for (const HeldJob& job : jobs) list.push_back(JobJson(job));
  return Dump({{"jobs", std::move(list)}});
}
std::string FormatTaken(const std::vector<bool>& taken) { return Dump({{"taken", taken}}); }
std::string FormatLeases(const std::vector<Lease>& leases) {
  return Dump({{"stop", LeasesJson(leases)}});
}

Result<OpenSession> ParseOpenSession(std::string_view text) {
  WEIR_TRY(const Json json, Parse(text));
  Reader reader(json);
  OpenSession body;
  body.name = reader.Text("name");
  body.tags = Texts(reader, "tags");
  body.slots = static_cast<int>(reader.Number("slots", 1, 10'000));
  return reader.Finish(std::move(body));
}

Result<OpenedSession> ParseOpenedSession(std::string_view text) {
  WEIR_TRY(const Json json, Parse(text));
  Reader reader(json);
  OpenedSession body;
  body.session = reader.Number("session", 1, INT32_MAX);
  body.tag_ids = TagIds(reader);
  body.lease_millis = reader.Number("lease_ms", 1, INT32_MAX);
  return reader.Finish(std::move(body));
}

Result<PullBody> ParsePull(std::string_view text) {
  WEIR_TRY(const Json json, Parse(text));
  Reader reader(json);
  PullBody body;
  body.session = reader.Number("session", 1, INT32_MAX);
  body.tag_ids = TagIds(reader);
  body.pull_id = static_cast<uint64_t>(reader.Number("pull", 1, INT64_MAX));
  body.slots = static_cast<int>(reader.Number("slots", 1, 10'000));
  body.all_slots = static_cast<int>(reader.Number("all_slots", 1, 10'000));
  body.patience_millis = reader.Number("patience_ms", 0, 60'000);
  return reader.Finish(std::move(body));
}

Result<ReportBody> ParseReport(std::string_view text) {
  WEIR_TRY(const Json json, Parse(text));
  Reader reader(json);
  ReportBody body;
  body.session = reader.Number("session", 1, INT32_MAX);
  body.report_id = static_cast<uint64_t>(reader.Number("report", 1, INT64_MAX));
  for (const Json& each : reader.List("outcomes")) {
    Reader inner(each);
    body.outcomes.push_back(ReadOutcome(inner));
    reader.Take(inner);
  }
  return reader.Finish(std::move(body));
}

Result<HeartbeatBody> ParseHeartbeat(std::string_view text) {
  WEIR_TRY(const Json json, Parse(text));
  Reader reader(json);
  HeartbeatBody body;
  body.session = reader.Number("session", 1, INT32_MAX);
  body.held = Leases(reader, "held");
  return reader.Finish(std::move(body));
}

Result<std::vector<HeldJob>> ParseJobs(std::string_view text) {
  WEIR_TRY(const Json json, Parse(text));
  Reader reader(json);
  std::vector<HeldJob> jobs;
  for (const Json& each : reader.List("jobs")) {
    Reader inner(each);
    jobs.push_back(ReadJob(inner));
    reader.Take(inner);
  }
  return reader.Finish(std::move(jobs));
}

Result<std::vector<bool>> ParseTaken(std::string_view text) {
  WEIR_TRY(const Json json, Parse(text));
  Reader reader(json);
  std::vector<bool> taken;
  for (const Json& each : reader.List("taken")) {
    if (!each.is_boolean()) reader.Wrong("taken", "a list of true and false");
    taken.push_back(each.is_boolean() && each.get<bool>());
  }
  return reader.Finish(std::move(taken));
}

Result<std::vector<Lease>> ParseLeases(std::string_view text) {
  WEIR_TRY(const Json json, Parse(text));
  Reader reader(json);
  return reader.Finish(Leases(reader, "stop"));
}

}  // namespace weir::serve
