// Any bytes run as a script, under tight limits, end in an outcome or in one sentence.
#include <cstdint>

#include "weir/base/assert.h"
#include "weir/base/bytes.h"
#include "weir/script/engine.h"

namespace weir::script {
namespace {

class HostOfFuzz final : public Host {
 public:
  void Fetch(Request request, Reply reply) override {
    WEIR_ASSERT(request.url.find('\n') == std::string::npos);
    Response response;
    response.body = std::move(request.body);
    reply.Give(std::move(response));
  }
  void Log(Level, std::string_view line) override {
    WEIR_ASSERT(line.find('\n') == std::string_view::npos);
    bytes += static_cast<int64_t>(line.size());
  }

  int64_t bytes = 0;
};

void RunAndCheck(std::string_view text) {
  static Engine engine;
  HostOfFuzz host;
  const sys::Stop stop;
  Limits limits;
  limits.memory_bytes = 8 << 20;
  limits.cpu_time = std::chrono::milliseconds(100);
  limits.wall_time = std::chrono::milliseconds(200);
  limits.log_bytes = 4096;
  limits.result_bytes = 1 << 16;
  const sys::Duration began = sys::SteadyNow();
  const auto outcome = engine.Run({"fuzz.ts", std::string(text)}, R"({"x":1,"y":"two"})", limits,
                                  host, stop);
  WEIR_ASSERT(sys::SteadyNow() - began < std::chrono::seconds(20));
  WEIR_ASSERT(host.bytes <= limits.log_bytes + 200);
  if (!outcome.ok()) {
    WEIR_ASSERT(outcome.error().code == Code::kInvalid);
    return;
  }
  const Outcome& end = outcome.value();
  WEIR_ASSERT((end.end == End::kReturned) == end.message.empty());
  WEIR_ASSERT((end.end == End::kReturned) == !end.result.empty());
  WEIR_ASSERT(static_cast<int64_t>(end.result.size()) <= limits.result_bytes);
  WEIR_ASSERT(end.peak_memory_bytes <= limits.memory_bytes + (1 << 20));
}

}  // namespace
}  // namespace weir::script

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  weir::script::RunAndCheck(weir::AsText({data, size}));
  return 0;
}
