#include "weir/net/server.h"

#include <utility>

#include "weir/base/assert.h"
#include "weir/net/loop_internal.h"

namespace weir::net {
namespace {

Status CheckExposure(const ServerOptions& options, const Address& address) {
  const bool tls = !options.certificate_file.empty();
  if (tls != !options.key_file.empty()) {
    return Fail(Code::kUsage, "TLS needs a certificate file and a key file; only one is named");
  }
  if (tls || address.loopback() || options.plaintext_beyond_loopback) return Ok();
  return Fail(
      Code::kUsage,
      "will not listen on {} without TLS: whoever sees the traffic could use its tokens; "
      "name a certificate and key, listen on 127.0.0.1, or allow plaintext for a proxy that "
      "does TLS",
      address.Text());
}

/// Listens on the first of the endpoint's addresses that lets it.
Result<Descriptor> ListenOnOne(const ServerOptions& options, Address& address) {
  WEIR_TRY(const Endpoint endpoint, ParseEndpoint(options.listen));
  WEIR_TRY(const std::vector<Address> addresses, Resolve(endpoint.host, endpoint.port),
           "cannot listen on '{}'", options.listen);
  std::optional<Error> first;
  for (const Address& candidate : addresses) {
    WEIR_DO(CheckExposure(options, candidate));
    auto listener = Listen(candidate);
    if (listener.ok()) {
      address = LocalAddress(listener.value().fd());
      return listener;
    }
    if (!first) first = listener.error();
  }
  WEIR_ASSERT(first.has_value());
  return *std::move(first);
}

}  // namespace

Result<std::unique_ptr<Server>> Server::Start(ServerOptions options, Routes routes,
                                              sys::Clock& clock) {
  WEIR_ASSERT(options.threads > 0 && options.head_bytes > 0 && options.connections > 0);
  auto core = std::make_unique<ServerCore>();
  WEIR_TRY(Descriptor listener, ListenOnOne(options, core->address));
  if (!options.certificate_file.empty()) {
    WEIR_TRY(core->tls, TlsContext::ForServer(options.certificate_file, options.key_file));
  }
  core->options = std::move(options);
  core->routes = std::move(routes);
  core->clock = &clock;
  for (int at = 0; at < core->options.threads; ++at) {
    core->loops.push_back(std::make_unique<Loop>(*core));
  }
  // The accepting loop is the last to start: it hands connections to all others.
  std::unique_ptr<Server> server(new Server(std::move(core)));
  auto& loops = server->core_->loops;
  for (size_t at = loops.size(); at-- > 0;) {
    WEIR_DO(loops[at]->Start(at == 0 ? std::move(listener) : Descriptor()));
  }
  return server;
}

Server::Server(std::unique_ptr<ServerCore> core) : core_(std::move(core)) {}

Server::~Server() { Stop(std::chrono::milliseconds(0)); }

uint16_t Server::port() const { return core_->address.port(); }

std::string Server::url() const {
  return fmt::format("{}://{}", core_->tls != nullptr ? "https" : "http", core_->address.Text());
}

ServerCounters Server::counters() const {
  const LiveCounters& live = core_->counters;
  ServerCounters now;
  now.connections_accepted = live.connections_accepted;
  now.connections_open = live.connections_open;
  now.connections_refused = live.connections_refused;
  now.tls_failures = live.tls_failures;
  for (size_t at = 0; at < live.responses.size(); ++at) now.responses[at] = live.responses[at];
  now.requests_refused = live.requests_refused;
  now.peers_gone = live.peers_gone;
  now.streams_cut = live.streams_cut;
  now.bytes_received = live.bytes_received;
  now.bytes_sent = live.bytes_sent;
  return now;
}

void Server::Stop(std::chrono::milliseconds patience) {
  const std::lock_guard lock(core_->stop_mutex);
  if (!core_->stopping) {
    core_->stop_by_ns = (sys::SteadyNow() + patience).count();
    core_->stopping = true;
  }
  for (const auto& loop : core_->loops) loop->mailbox().Wake();
  for (const auto& loop : core_->loops) loop->Join();
}

}  // namespace weir::net
