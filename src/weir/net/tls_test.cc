// Goal:   TLS works between our server and client, and each reason not to trust is told.
#include <thread>

#include "tests/support/certificates.h"
#include "tests/support/folder.h"
#include "tests/support/raw_peer.h"
#include "tests/support/text_fits.h"
#include "weir/net/client.h"
#include "weir/net/server.h"

namespace weir::net {
namespace {

using std::chrono::milliseconds;
using test::TextFits;

class Tls : public testing::Test {
 protected:
  Tls() : ca_(test::MakeCa()), ca_file_(folder_.Write("ca.pem", ca_.certificate)) {}

  std::unique_ptr<Server> Serve(const test::Certificate& certificate, ServerOptions options = {}) {
    options.certificate_file = folder_.Write("server.pem", certificate.certificate);
    options.key_file = folder_.Write("server.key", certificate.key);
    Routes routes;
    routes.Add(Method::kPost, "/echo", [](Request request, Responder responder) {
      Response response;
      response.body = std::move(request.body);
      responder.Send(std::move(response));
    });
    routes.Add(Method::kGet, "/stream", [](Request, Responder responder) {
      Stream stream = responder.Open({});
      for (int at = 0; at < 60; ++at) EXPECT_TRUE(stream.Write(std::string(10'000, 'x')));
      EXPECT_TRUE(stream.Close());
    });
    auto started = Server::Start(std::move(options), std::move(routes), clock_);
    WEIR_ASSERT(started.ok());
    return std::move(started).value();
  }

  Result<ClientResponse> Ask(const Server& server, const std::string& host, std::string body) {
    WEIR_TRY(const auto client,
             Client::Create(
                 {.url = fmt::format("https://{}:{}", host, server.port()), .ca_file = ca_file_}));
    auto answer =
        client->Send({.method = Method::kPost, .target = "/echo", .body = std::move(body)}, stop_);
    delivery_ = client->delivery();
    return answer;
  }

  /// The message with which the client does not trust the certificate.
  std::string Distrust(const test::Certificate& certificate, const std::string& host) {
    const auto server = Serve(certificate);
    const auto answer = Ask(*server, host, "secret");
    if (answer.ok()) return "trusted";
    EXPECT_EQ(answer.error().code, Code::kInvalid);
    EXPECT_EQ(delivery_, Delivery::kNotSent);
    return answer.error().message;
  }

  test::TempFolder folder_;
  test::Certificate ca_;
  std::string ca_file_;
  sys::ManualClock clock_;
  sys::Stop stop_;
  Delivery delivery_ = Delivery::kNotSent;
};

TEST_F(Tls, CarriesRequestsOfAnySizeOverOneConnection) {
  const auto server = Serve(test::MakeCertificate(ca_, {}));
  EXPECT_TRUE(TextFits(server->url(), {.starts = "https://127.0.0.1:"}));
  for (const char* host : {"127.0.0.1", "localhost"}) {
    const auto client = Client::Create(
        {.url = fmt::format("https://{}:{}", host, server->port()), .ca_file = ca_file_});
    ASSERT_TRUE(client.ok());
    for (const size_t bytes : {0, 1, 1000, 20'000, 5'000'000, 3}) {
      const std::string body(bytes, 'x');
      const auto answer =
          client.value()->Send({.method = Method::kPost, .target = "/echo", .body = body}, stop_);
      ASSERT_TRUE(answer.ok()) << answer.error().message;
      EXPECT_EQ(answer.value().body, body);
    }
    EXPECT_EQ(client.value()->connections_made(), 1);
  }
}

TEST_F(Tls, CarriesStreams) {
  const auto server = Serve(test::MakeCertificate(ca_, {}));
  const auto client = Client::Create({.url = server->url(), .ca_file = ca_file_});
  for (int round = 0; round < 3; ++round) {
    std::string got;
    const auto answer =
        client.value()->Stream({.target = "/stream"}, stop_, [&](std::string_view piece) {
          got.append(piece);
          return true;
        });
    ASSERT_TRUE(answer.ok()) << answer.error().message;
    EXPECT_EQ(got, std::string(600'000, 'x'));
  }
  EXPECT_EQ(client.value()->connections_made(), 1);
}

TEST_F(Tls, DistrustsWithAReason) {
  EXPECT_TRUE(
      TextFits(Distrust(test::MakeCertificate(ca_, {.name = "elsewhere.test"}), "localhost"),
               {.has = {"hostname mismatch"}}));
  EXPECT_TRUE(TextFits(Distrust(test::MakeCertificate(ca_, {.address = "127.0.0.2"}), "127.0.0.1"),
                       {.has = {"IP address mismatch"}}));
  EXPECT_TRUE(TextFits(
      Distrust(test::MakeCertificate(ca_, {.begins_s = -7200, .ends_s = -3600}), "localhost"),
      {.has = {"certificate has expired"}}));
  EXPECT_TRUE(TextFits(
      Distrust(test::MakeCertificate(ca_, {.begins_s = 3600, .ends_s = 7200}), "localhost"),
      {.has = {"not yet valid"}}));
  EXPECT_TRUE(TextFits(Distrust(test::MakeCertificate({}, {}), "localhost"),
                       {.has = {"self-signed certificate"}}));
  EXPECT_TRUE(TextFits(Distrust(test::MakeCertificate(test::MakeCa("another CA"), {}), "localhost"),
                       {.has = {"unable to get local issuer certificate"}}));
}

TEST_F(Tls, WithoutACaFileTheSystemsCasAreAsked) {
  const auto server = Serve(test::MakeCertificate(ca_, {}));
  const auto client = Client::Create({.url = server->url()});
  const auto answer = client.value()->Send({}, stop_);
  ASSERT_FALSE(answer.ok());
  EXPECT_EQ(answer.error().code, Code::kInvalid);
}

TEST_F(Tls, PlainAndTlsDoNotMix) {
  const auto server = Serve(test::MakeCertificate(ca_, {}));
  test::RawPeer plain(server->port());
  plain.Send("GET / HTTP/1.1\r\nHost: a\r\n\r\n");
  EXPECT_TRUE(TextFits(plain.ReadToEnd(), {.lacks = {"HTTP/1.1 "}}));
  EXPECT_TRUE(plain.ended());
  EXPECT_EQ(server->counters().tls_failures, 1);

  test::RawServer other;
  std::thread answering([&] {
    test::RawPeer peer = other.Accept();
    peer.Send("HTTP/1.1 400 Bad Request\r\n\r\n");
    peer.ReadToEnd();
  });
  const auto client = Client::Create(
      {.url = fmt::format("https://127.0.0.1:{}", other.port()), .ca_file = ca_file_});
  const auto answer = client.value()->Send({}, stop_);
  answering.join();
  ASSERT_FALSE(answer.ok());
  EXPECT_EQ(answer.error().code, Code::kUnavailable);
  EXPECT_TRUE(TextFits(answer.error().message, {.has = {"does it speak TLS"}}));
}

TEST_F(Tls, ASlowHandshakeIsCutOff) {
  const auto server = Serve(test::MakeCertificate(ca_, {}), {.head_timeout = milliseconds(50)});
  test::RawPeer slow(server->port());
  slow.Send("\x16\x03\x01");
  EXPECT_EQ(slow.ReadToEnd(), "");
  EXPECT_TRUE(slow.ended());
}

TEST_F(Tls, AServerThatDoesNotShakeHandsIsGivenUp) {
  test::RawServer silent;
  const auto client = Client::Create({.url = fmt::format("https://127.0.0.1:{}", silent.port()),
                                      .ca_file = ca_file_,
                                      .connect_timeout = milliseconds(50)});
  const auto answer = client.value()->Send({}, stop_);
  ASSERT_FALSE(answer.ok());
  EXPECT_EQ(answer.error().code, Code::kUnavailable);
  EXPECT_EQ(client.value()->delivery(), Delivery::kNotSent);
}

TEST_F(Tls, SaysWhichFileItCannotUse) {
  const test::Certificate one = test::MakeCertificate(ca_, {});
  const test::Certificate other = test::MakeCertificate(ca_, {});
  const std::string certificate = folder_.Write("one.pem", one.certificate);
  const auto mixed = Server::Start(
      {.certificate_file = certificate, .key_file = folder_.Write("other.key", other.key)},
      Routes(), clock_);
  ASSERT_FALSE(mixed.ok());
  EXPECT_EQ(mixed.error().code, Code::kUsage);
  EXPECT_TRUE(TextFits(mixed.error().message, {.has = {"other.key", "key values mismatch"}}));
  const auto unknown = Client::Create({.url = "https://a", .ca_file = folder_.Path("none.pem")});
  ASSERT_FALSE(unknown.ok());
  EXPECT_EQ(unknown.error().code, Code::kUsage);
  EXPECT_TRUE(TextFits(unknown.error().message, {.has = {"none.pem"}}));
}

}  // namespace
}  // namespace weir::net
