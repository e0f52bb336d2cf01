// Goal:   a client sends each request at most once, says what became of it, and never waits longer
//         than it was told to.
// Method: servers that answer byte by byte as a test says; a real server where that is enough.
#include "weir/net/client.h"

#include <condition_variable>
#include <mutex>
#include <thread>

#include "tests/support/raw_peer.h"
#include "tests/support/text_fits.h"
#include "weir/net/event_stream.h"
#include "weir/net/server.h"

namespace weir::net {
namespace {

using std::chrono::milliseconds;
using test::RawPeer;
using test::RawServer;
using test::TextFits;

constexpr std::string_view kFine = "HTTP/1.1 200 OK\r\nContent-Length: 4\r\n\r\nfine";
constexpr milliseconds kLong{20'000};

std::unique_ptr<Client> Make(ClientOptions options) {
  auto made = Client::Create(std::move(options));
  WEIR_ASSERT(made.ok());
  return std::move(made).value();
}

/// Runs `serve` beside `use`, and both to their end.
template <typename Serve, typename Use>
void Beside(Serve serve, Use use) {
  std::thread serving(serve);
  use();
  serving.join();
}

ClientRequest Post(std::string body) {
  return {.method = Method::kPost, .target = "/jobs?x=1", .body = std::move(body)};
}

TEST(Client, SaysWhatItWasToldAndReadsTheAnswer) {
  RawServer server;
  const sys::Stop stop;
  const auto client =
      Make({.url = server.url() + "/base/", .headers = {{"Authorization", "Bearer t"}}});
  Beside(
      [&] {
        RawPeer peer = server.Accept();
        EXPECT_EQ(peer.ReadUntil("{}"),
                  fmt::format("POST /base/jobs?x=1 HTTP/1.1\r\nHost: 127.0.0.1:{}\r\n"
                              "Content-Type: application/json\r\nContent-Length: 2\r\n"
                              "Authorization: Bearer t\r\nX-More: 1\r\n\r\n{{}}",
                              server.port()));
        peer.Send(
            "HTTP/1.1 100 Continue\r\n\r\nHTTP/1.1 201 Created\r\nX-Id: 7\r\n"
            "Transfer-Encoding: chunked\r\n\r\n2\r\nab\r\n1\r\nc\r\n0\r\n\r\n");
        EXPECT_EQ(peer.ReadUntil("\r\n\r\n").substr(0, 24), "HEAD /base/jobs HTTP/1.1");
        peer.Send("HTTP/1.1 404 Not Found\r\nContent-Length: 100\r\n\r\n");
        EXPECT_TRUE(TextFits(peer.ReadUntil("\r\n\r\n"),
                             {.has = {"Content-Length: 0\r\n"}, .lacks = {"Content-Type"}}));
        peer.Send("HTTP/1.1 204 No Content\r\n\r\n");
      },
      [&] {
        ClientRequest request = Post("{}");
        request.headers = {{"X-More", "1"}};
        auto answer = client->Send(request, stop);
        ASSERT_TRUE(answer.ok()) << answer.error().message;
        EXPECT_EQ(answer.value().status, 201);
        EXPECT_EQ(answer.value().headers.Find("x-id"), "7");
        EXPECT_EQ(answer.value().body, "abc");
        EXPECT_EQ(client->delivery(), Delivery::kAnswered);
        answer = client->Send({.method = Method::kHead, .target = "/jobs"}, stop);
        ASSERT_TRUE(answer.ok()) << answer.error().message;
        EXPECT_EQ(answer.value().status, 404);
        EXPECT_EQ(answer.value().body, "");
        answer = client->Send(Post(""), stop);
        ASSERT_TRUE(answer.ok()) << answer.error().message;
        EXPECT_EQ(answer.value().status, 204);
        EXPECT_EQ(client->connections_made(), 1);
      });
}

TEST(Client, ConnectsAgainWhenTheServerClosedWhileIdle) {
  RawServer server;
  const sys::Stop stop;
  const auto client = Make({.url = server.url()});
  std::optional<RawPeer> first;
  Beside(
      [&] {
        first.emplace(server.Accept());
        first->ReadUntil("\r\n\r\n");
        first->Send(kFine);
      },
      [&] { ASSERT_TRUE(client->Send({}, stop).ok()); });
  first->Close();
  Beside(
      [&] {
        RawPeer second = server.Accept();
        second.ReadUntil("\r\n\r\n");
        second.Send(kFine);
      },
      [&] {
        const auto answer = client->Send({}, stop);
        ASSERT_TRUE(answer.ok()) << answer.error().message;
        EXPECT_EQ(answer.value().body, "fine");
      });
  EXPECT_EQ(client->connections_made(), 2);
}

TEST(Client, NeverRepeatsARequestThatMayHaveArrived) {
  RawServer server;
  const sys::Stop stop;
  for (const std::string_view answer :
       {"", "HTTP/1.1 200 OK\r\nContent-Le", "HTTP/1.1 200 OK\r\nContent-Length: 10\r\n\r\nabc",
        "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n5\r\nabcde\r\n"}) {
    SCOPED_TRACE(answer);
    const auto client = Make({.url = server.url()});
    Beside(
        [&] {
          RawPeer peer = server.Accept();
          peer.ReadUntil("{}");
          peer.Send(answer);
        },
        [&] {
          const auto lost = client->Send(Post("{}"), stop);
          ASSERT_FALSE(lost.ok());
          EXPECT_EQ(lost.error().code, Code::kUnavailable);
          EXPECT_TRUE(TextFits(lost.error().message, {.starts = "POST 127.0.0.1:"}));
          EXPECT_EQ(client->delivery(),
                    answer.size() > 30 ? Delivery::kAnswered : Delivery::kPerhaps);
          EXPECT_EQ(client->connections_made(), 1);
        });
  }
}

TEST(Client, NobodyThereIsToldAsNotSent) {
  uint16_t port = 0;
  {
    const RawServer gone;
    port = gone.port();
  }
  const sys::Stop stop;
  const auto client = Make({.url = fmt::format("http://127.0.0.1:{}", port)});
  const auto lost = client->Send(Post("{}"), stop);
  ASSERT_FALSE(lost.ok());
  EXPECT_EQ(lost.error().code, Code::kUnavailable);
  EXPECT_TRUE(TextFits(lost.error().message, {.has = {"refused", "is the server running?"}}));
  EXPECT_EQ(client->delivery(), Delivery::kNotSent);

  const auto nameless = Make({.url = "http://no-such-host.invalid:80"});
  const auto unknown = nameless->Send({}, stop);
  ASSERT_FALSE(unknown.ok());
  EXPECT_EQ(unknown.error().code, Code::kUnavailable);
  EXPECT_TRUE(TextFits(unknown.error().message, {.has = {"no-such-host.invalid"}}));
  EXPECT_EQ(nameless->delivery(), Delivery::kNotSent);
}

TEST(Client, ResolvesNames) {
  RawServer server;
  const sys::Stop stop;
  const auto client = Make({.url = fmt::format("http://LocalHost:{}", server.port())});
  Beside(
      [&] {
        RawPeer peer = server.Accept();
        EXPECT_TRUE(TextFits(peer.ReadUntil("\r\n\r\n"), {.has = {"\r\nHost: localhost:"}}));
        peer.Send(kFine);
      },
      [&] {
        const auto answer = client->Send({}, stop);
        EXPECT_TRUE(answer.ok()) << answer.error().message;
      });
}

TEST(Client, ADeadlineEndsTheWait) {
  RawServer server;
  const sys::Stop stop;
  const auto client = Make({.url = server.url()});
  std::optional<RawPeer> silent;
  Beside([&] { silent.emplace(server.Accept()); },
         [&] {
           ClientRequest request = Post("{}");
           request.deadline = milliseconds(50);
           const auto late = client->Send(request, stop);
           ASSERT_FALSE(late.ok());
           EXPECT_EQ(late.error().code, Code::kUnavailable);
           EXPECT_TRUE(TextFits(late.error().message, {.has = {"time is over", "may have been"}}));
           EXPECT_EQ(client->delivery(), Delivery::kPerhaps);
         });
}

TEST(Client, AStopEndsTheWaitAtOnce) {
  RawServer server;
  for (const bool stream : {false, true}) {
    sys::Stop stop;
    const auto client = Make({.url = server.url()});
    sys::Duration asked{0};
    Beside(
        [&] {
          RawPeer peer = server.Accept();
          peer.ReadUntil("\r\n\r\n");
          if (stream) peer.Send("HTTP/1.1 200 OK\r\n\r\nsome");
          asked = sys::SteadyNow();
          stop.Ask();
          EXPECT_EQ(peer.ReadToEnd(), "");  // The client closed.
        },
        [&] {
          const auto take = [](std::string_view) { return true; };
          const auto answer = stream ? client->Stream({}, stop, take) : client->Send({}, stop);
          const sys::Duration took = sys::SteadyNow() - asked;
          ASSERT_FALSE(answer.ok());
          EXPECT_EQ(answer.error().code, Code::kCancelled);
          EXPECT_NE(client->delivery(), Delivery::kNotSent);
          EXPECT_LT(took, kLong / 4);  // 100 ms where the machine is not busy.
          std::printf("stopped after %.2f ms\n", sys::Seconds(took) * 1000);
        });
    EXPECT_EQ(client->Send({}, stop).error().code, Code::kCancelled);
    EXPECT_EQ(client->delivery(), Delivery::kNotSent);
  }
}

TEST(Client, AnswersOverTheLimitAreRefused) {
  RawServer server;
  const sys::Stop stop;
  const auto client = Make({.url = server.url(), .head_bytes = 1000, .response_bytes = 10});
  const struct {
    std::string answer;
    std::string reason;
  } rows[] = {
      {"HTTP/1.1 200 OK\r\nContent-Length: 11\r\n\r\n12345678901", "over 10 bytes"},
      {"HTTP/1.1 200 OK\r\n\r\n12345678901", "over 10 bytes"},
      {fmt::format("HTTP/1.1 200 OK\r\nX: {}\r\n\r\n", std::string(2000, 'x')),
       "head is too large"},
      {"SSH-2.0-OpenSSH_9.2\r\n", "is it the server?"},
      {"HTTP/1.1 200 OK\r\nContent-Length: 1\r\nContent-Length: 2\r\n\r\nab", "Content-Length"},
      {"HTTP/1.1 200 OK\r\nContent-Length: 5\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n",
       "two ways"},
      {"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\nx\r\n", "chunks"},
  };
  for (const auto& row : rows) {
    SCOPED_TRACE(row.answer.substr(0, 60));
    Beside(
        [&] {
          RawPeer peer = server.Accept();
          peer.ReadUntil("\r\n\r\n");
          peer.Send(row.answer);
          peer.ReadToEnd();
        },
        [&] {
          const auto answer = client->Send({}, stop);
          ASSERT_FALSE(answer.ok());
          EXPECT_EQ(answer.error().code, Code::kInvalid);
          EXPECT_TRUE(TextFits(answer.error().message, {.has = {row.reason}}));
        });
  }
}

TEST(Client, AnAnswerThatComesBeforeTheBodyIsOverIsTaken) {
  RawServer server;
  const sys::Stop stop;
  const auto client = Make({.url = server.url()});
  Beside(
      [&] {
        RawPeer peer = server.Accept();
        peer.ReadUntil("\r\n\r\n");  // And not one byte of the body.
        peer.Send(
            "HTTP/1.1 413 Content Too Large\r\nConnection: close\r\n"
            "Content-Length: 2\r\n\r\nno");
        peer.ReadToEnd();
      },
      [&] {
        const auto answer = client->Send(Post(std::string(32 << 20, 'x')), stop);
        ASSERT_TRUE(answer.ok()) << answer.error().message;
        EXPECT_EQ(answer.value().status, 413);
        EXPECT_EQ(answer.value().body, "no");
      });
}

TEST(Client, AnswersWithoutLengthEndWithTheConnection) {
  RawServer server;
  const sys::Stop stop;
  const auto client = Make({.url = server.url()});
  Beside(
      [&] {
        RawPeer peer = server.Accept();
        peer.ReadUntil("\r\n\r\n");
        peer.Send("HTTP/1.0 200 OK\r\n\r\nall of it");
      },
      [&] {
        const auto answer = client->Send({}, stop);
        ASSERT_TRUE(answer.ok()) << answer.error().message;
        EXPECT_EQ(answer.value().body, "all of it");
      });
}

TEST(Client, WhatWasNotAskedForIsNotTakenForAnAnswer) {
  RawServer server;
  const sys::Stop stop;
  const auto client = Make({.url = server.url()});
  std::optional<RawPeer> first;
  Beside(
      [&] {
        first.emplace(server.Accept());
        first->ReadUntil("\r\n\r\n");
        first->Send(fmt::format("{}HTTP/1.1 200 OK\r\nContent-Length: 3\r\n\r\nbad", kFine));
      },
      [&] { EXPECT_TRUE(client->Send({}, stop).ok()); });
  Beside(
      [&] {
        RawPeer second = server.Accept();
        second.ReadUntil("\r\n\r\n");
        second.Send(kFine);
      },
      [&] {
        const auto answer = client->Send({}, stop);
        ASSERT_TRUE(answer.ok()) << answer.error().message;
        EXPECT_EQ(answer.value().body, "fine");
      });
  EXPECT_EQ(client->connections_made(), 2);
}

TEST(Client, StreamsHandOverWhatComes) {
  RawServer server;
  const sys::Stop stop;
  const auto client = Make({.url = server.url()});
  std::mutex mutex;
  std::condition_variable changed;
  std::vector<ServerEvent> events;
  const auto wait_for = [&](size_t count) {
    std::unique_lock lock(mutex);
    return changed.wait_for(lock, kLong, [&] { return events.size() >= count; });
  };
  Beside(
      [&] {
        RawPeer peer = server.Accept();
        EXPECT_TRUE(TextFits(peer.ReadUntil("\r\n\r\n"), {.has = {"\r\nLast-Event-ID: 4\r\n"}}));
        peer.Send("HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n7\r\ndata: a\r\n");
        peer.Send("2\r\n\n\n\r\n");
        EXPECT_TRUE(wait_for(1));  // The event is there while the stream goes on.
        peer.Send("18\r\nid: 5\ndata: b\ndata: c\n\n\r\n");
        EXPECT_TRUE(wait_for(2));
        peer.ReadToEnd();
      },
      [&] {
        EventParser parser;
        const auto answer =
            client->Stream({.target = "/events", .headers = {{"Last-Event-ID", "4"}}}, stop,
                           [&](std::string_view piece) {
                             const Status fed = parser.Feed(piece, [&](const ServerEvent& event) {
                               const std::lock_guard lock(mutex);
                               events.push_back(event);
                               changed.notify_all();
                             });
                             return fed.ok() && events.size() < 2;
                           });
        ASSERT_TRUE(answer.ok()) << answer.error().message;
        EXPECT_EQ(answer.value().status, 200);
      });
  EXPECT_EQ(events, (std::vector<ServerEvent>{{.data = "a"}, {.data = "b\nc", .id = "5"}}));
}

TEST(Client, AStreamThatFallsSilentIsGivenUp) {
  RawServer server;
  const sys::Stop stop;
  const auto client = Make({.url = server.url()});
  std::optional<RawPeer> peer;
  Beside(
      [&] {
        peer.emplace(server.Accept());
        peer->ReadUntil("\r\n\r\n");
        peer->Send("HTTP/1.1 200 OK\r\n\r\nsome");
      },
      [&] {
        std::string got;
        const auto answer =
            client->Stream({.silence = milliseconds(50)}, stop, [&](std::string_view piece) {
              got.append(piece);
              return true;
            });
        ASSERT_FALSE(answer.ok());
        EXPECT_EQ(answer.error().code, Code::kUnavailable);
        EXPECT_EQ(client->delivery(), Delivery::kAnswered);
        EXPECT_EQ(got, "some");
      });
}

TEST(Client, ARefusalOfAStreamIsGathered) {
  RawServer server;
  const sys::Stop stop;
  const auto client = Make({.url = server.url()});
  Beside(
      [&] {
        RawPeer peer = server.Accept();
        peer.ReadUntil("\r\n\r\n");
        peer.Send("HTTP/1.1 401 Unauthorized\r\nContent-Length: 2\r\n\r\nno");
      },
      [&] {
        const auto answer = client->Stream({}, stop, [](std::string_view) { return false; });
        ASSERT_TRUE(answer.ok()) << answer.error().message;
        EXPECT_EQ(answer.value().status, 401);
        EXPECT_EQ(answer.value().body, "no");
      });
}

TEST(Client, FollowsAServerThatStartsAgain) {
  sys::ManualClock clock;
  const sys::Stop stop;
  std::unique_ptr<Client> client;
  uint16_t port = 0;
  for (int round = 1; round <= 3; ++round) {
    Routes routes;
    routes.Add(Method::kGet, "/round", [round](Request, Responder responder) {
      Response response;
      response.body = fmt::format("{}", round);
      responder.Send(std::move(response));
    });
    const auto server =
        Server::Start({.listen = fmt::format("127.0.0.1:{}", port)}, std::move(routes), clock);
    ASSERT_TRUE(server.ok()) << server.error().message;
    port = server.value()->port();
    if (client == nullptr) client = Make({.url = server.value()->url()});
    for (int at = 0; at < 10; ++at) {
      const auto answer = client->Send({.target = "/round"}, stop);
      ASSERT_TRUE(answer.ok()) << answer.error().message;
      EXPECT_EQ(answer.value().body, fmt::format("{}", round));
    }
    EXPECT_EQ(client->connections_made(), round);
  }
}

TEST(Client, RefusesWhatItCannotSend) {
  const sys::Stop stop;
  for (const char* url : {"", "localhost:80", "ftp://a", "http://", "http://a:b", "http://a:0",
                          "http://a b/", "http://[::1", "http://a/?q", "http://a/#f"}) {
    const auto made = Client::Create({.url = url});
    ASSERT_FALSE(made.ok()) << url;
    EXPECT_EQ(made.error().code, Code::kInvalid);
  }
  const auto secret = Client::Create({.url = "http://me:hush@a/"});
  EXPECT_TRUE(TextFits(secret.error().message, {.has = {"user or password"}, .lacks = {"hush"}}));
  EXPECT_FALSE(Client::Create({.url = "http://a", .headers = {{"X", "a\r\nY: b"}}}).ok());
  EXPECT_FALSE(Client::Create({.url = "http://a", .headers = {{"Host", "b"}}}).ok());
  const auto client = Make({.url = "http://127.0.0.1:1"});
  for (const char* target : {"", "a", "/a b", "/\r\n", "/ä", "/a#b"}) {
    EXPECT_EQ(client->Send({.target = target}, stop).error().code, Code::kInvalid) << target;
    EXPECT_EQ(client->delivery(), Delivery::kNotSent);
  }
  EXPECT_EQ(client->Send({.headers = {{"a b", "c"}}}, stop).error().code, Code::kInvalid);
}

}  // namespace
}  // namespace weir::net
