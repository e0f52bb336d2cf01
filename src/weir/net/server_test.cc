// Goal:   a server keeps every limit and answers every wrong request, whatever its peers do.
// Method: real sockets, byte by byte.
#include "weir/net/server.h"

#include <pthread.h>
#include <sys/resource.h>
#include <unistd.h>

#include <atomic>
#include <condition_variable>
#include <future>
#include <mutex>
#include <random>
#include <thread>

#include "tests/support/raw_peer.h"
#include "tests/support/seeds.h"
#include "tests/support/text_fits.h"
#include "weir/net/client.h"
#include "weir/sys/process.h"

namespace weir::net {
namespace {

using std::chrono::milliseconds;
using test::RawPeer;
using test::TextFits;
using test::TextWant;

constexpr milliseconds kLong{20'000};

/// Things that handlers put aside for the test.
template <typename T>
class Shelf {
 public:
  void Put(T thing) {
    const std::lock_guard lock(mutex_);
    things_.push_back(std::move(thing));
    changed_.notify_all();
  }
  /// All that is there, once there are `count`; fewer when that takes too long.
  std::vector<T> Take(size_t count) {
    std::unique_lock lock(mutex_);
    changed_.wait_for(lock, kLong, [&] { return things_.size() >= count; });
    return std::exchange(things_, {});
  }
  T TakeOne() {
    std::vector<T> taken = Take(1);
    WEIR_ASSERT(taken.size() == 1);
    return std::move(taken.front());
  }

 private:
  std::mutex mutex_;
  std::condition_variable changed_;
  std::vector<T> things_;
};

Response Json(std::string body) {
  Response response;
  response.body = std::move(body);
  return response;
}

/// A server with a few routes.
struct Site {
  explicit Site(ServerOptions options = {}) {
    Routes routes;
    routes.Add(Method::kGet, "/hello",
               [](Request, Responder responder) { responder.Send(Json("\"hello\"")); });
    const Handler echo = [this](Request request, Responder responder) {
      requests.Put(request);
      responder.Send(Json(request.body));
    };
    routes.Add(Method::kPost, "/echo", echo);
    routes.Add(Method::kPost, "/small", echo, 10);
    routes.Add(Method::kGet, "/jobs/{id}/logs/{part}", echo);
    routes.Add(Method::kGet, "/held",
               [this](Request, Responder responder) { held.Put(std::move(responder)); });
    routes.Add(Method::kGet, "/stream", [this](Request, Responder responder) {
      Response head;
      head.content_type = "text/event-stream";
      head.body = "first";
      streams.Put(responder.Open(std::move(head)));
    });
    routes.Add(Method::kGet, "/dropped", [](Request, Responder) {});
    routes.Add(Method::kGet, "/split", [](Request, Responder responder) {
      Response response = Json("{}");
      response.headers.emplace_back("X-Name", "a\r\nSet-Cookie: b");
      responder.Send(std::move(response));
    });
    routes.Add(Method::kGet, "/large", [this](Request request, Responder responder) {
      requests.Put(std::move(request));
      responder.Send(Json(std::string(8 << 20, 'x')));
    });
    auto started = Server::Start(std::move(options), std::move(routes), clock);
    WEIR_ASSERT(started.ok());
    server = std::move(started).value();
  }

  uint16_t port() const { return server->port(); }
  /// One request on a connection of its own, and all that comes back.
  std::string Ask(std::string_view text) const {
    RawPeer peer(port());
    peer.Send(text);
    return peer.ReadToEnd();
  }

  sys::ManualClock clock;
  Shelf<Request> requests;
  Shelf<Responder> held;
  Shelf<Stream> streams;
  std::unique_ptr<Server> server;  // Last: it stops before the shelves go.
};

constexpr std::string_view kHello = "GET /hello HTTP/1.1\r\nHost: a\r\n\r\n";

std::string Closing(std::string_view method, std::string_view target, std::string_view more = "") {
  return fmt::format("{} {} HTTP/1.1\r\nHost: a\r\nConnection: close\r\n{}\r\n", method, target,
                     more);
}

TextWant Refused(int status, std::string_view reason) {
  return {.starts = fmt::format("HTTP/1.1 {} ", status),
          .has = {"\r\nConnection: close\r\n", "\r\nContent-Type: application/json\r\n",
                  "{\"error\": \"", std::string(reason)}};
}

bool IsRefused(std::string_view answer) {
  return answer.starts_with("HTTP/1.1 400 ") || answer.starts_with("HTTP/1.1 413 ") ||
         answer.starts_with("HTTP/1.1 431 ") || answer.starts_with("HTTP/1.1 501 ");
}

TEST(Server, AnswersManyRequestsOnOneConnection) {
  Site site;
  RawPeer peer(site.port());
  for (int at = 0; at < 100; ++at) {
    ASSERT_TRUE(peer.Send(kHello));
    EXPECT_EQ(peer.ReadResponse(),
              "HTTP/1.1 200 OK\r\nDate: Thu, 01 Jan 1970 00:00:00 GMT\r\n"
              "Content-Type: application/json\r\nContent-Length: 7\r\n\r\n\"hello\"");
  }
  const ServerCounters counters = site.server->counters();
  EXPECT_EQ(counters.connections_accepted, 1);
  EXPECT_EQ(counters.connections_open, 1);
  EXPECT_EQ(counters.responses[2], 100);
  EXPECT_EQ(counters.requests_refused, 0);
  EXPECT_EQ(counters.bytes_received, 100 * std::ssize(kHello));
}

TEST(Server, DateIsTheClocks) {
  Site site;
  site.clock.Advance(std::chrono::seconds(1'796'119'810));
  EXPECT_TRUE(TextFits(site.Ask(Closing("GET", "/hello")),
                       {.has = {"\r\nDate: Tue, 01 Dec 2026 10:10:10 GMT\r\n"}}));
}

TEST(Server, RequestHasItsPartsDecoded) {
  Site site;
  RawPeer peer(site.port());
  peer.Send(
      "GET /jobs/a%2Fb%20c/logs/%C3%A4?x=1&y=two+words&x=2 HTTP/1.1\r\nHost: a\r\n"
      "Authorization: Bearer t\r\nLast-Event-ID:  7 \r\n\r\n");
  EXPECT_TRUE(TextFits(peer.ReadResponse(), {.starts = "HTTP/1.1 200 OK"}));
  const Request request = site.requests.TakeOne();
  EXPECT_EQ(request.method, Method::kGet);
  EXPECT_EQ(request.target.path(), "/jobs/a/b c/logs/ä");
  EXPECT_EQ(request.parameters, (std::vector<std::string>{"a/b c", "ä"}));
  EXPECT_EQ(request.Query("x"), "1");
  EXPECT_EQ(request.Query("y"), "two words");
  EXPECT_EQ(request.Query("z"), std::nullopt);
  EXPECT_EQ(request.headers.Find("authorization"), "Bearer t");
  EXPECT_EQ(request.headers.Find("last-event-id"), "7");
  EXPECT_TRUE(TextFits(request.peer, {.starts = "127.0.0.1:"}));
}

TEST(Server, BodiesComeWholeHoweverTheyAreCut) {
  Site site;
  for (const uint64_t seed : test::Seeds(20)) {
    SCOPED_TRACE(fmt::format("to repeat: WEIR_SEED={}", seed));
    std::mt19937_64 rng(seed);
    RawPeer peer(site.port());
    std::string sent;
    std::vector<std::string> bodies;
    for (int at = 0; at < 5; ++at) {
      std::string body(rng() % 3 == 0 ? rng() % 200'000 : rng() % 20, static_cast<char>('a' + at));
      sent.append("POST /echo HTTP/1.1\r\nHost: a\r\n");
      if (rng() % 2 == 0) {
        sent.append(fmt::format("Content-Length: {}\r\n\r\n{}", body.size(), body));
      } else {
        sent.append("Transfer-Encoding: chunked\r\n\r\n");
        for (size_t begin = 0; begin < body.size();) {
          const std::string piece = body.substr(begin, 1 + rng() % 50'000);
          sent.append(fmt::format("{:x};ext=\"v\"\r\n{}\r\n", piece.size(), piece));
          begin += piece.size();
        }
        sent.append("0\r\nX-Trailer: content-length\r\n\r\n");
      }
      bodies.push_back(std::move(body));
    }
    std::thread sender([&] {  // While it sends, answers come: both ends have finite buffers.
      for (size_t begin = 0; begin < sent.size();) {
        const size_t bytes = 1 + rng() % (rng() % 4 == 0 ? 70'000 : 100);
        peer.Send(std::string_view(sent).substr(begin, bytes));
        begin += bytes;
      }
    });
    for (const std::string& body : bodies) {
      EXPECT_TRUE(TextFits(peer.ReadResponse(), {.ends = "\r\n\r\n" + body}));
    }
    sender.join();
  }
}

TEST(Server, RefusesWhatIsNoRequest) {
  Site site;
  using std::string_literals::operator""s;
  const std::string nul = "GET /hel\0lo HTTP/1.1\r\nHost: a\r\n\r\n"s;
  const struct {
    std::string text;
    int status;
    std::string_view reason;
  } rows[] = {
      {"hello\r\n\r\n", 400, "the method is not a word"},
      {"\x16\x03\x01\x02", 400, "the method is not a word"},
      {"GET /hello\r\n\r\n", 400, "target"},
      {"GET /hello HTTP/2.0\r\nHost: a\r\n\r\n", 505, "HTTP/1.1"},
      {"GET /hello HTTP/1.1\nHost: a\n\n", 505, "HTTP/1.1"},
      {"GET /hello HTTP/1.1\r\n\r\n", 400, "Host"},
      {"GET /hello HTTP/1.1\r\nHost: a\r\nHost: a\r\n\r\n", 400, "Host"},
      {"GET /hello HTTP/1.1\r\nHost : a\r\n\r\n", 400, "not HTTP"},
      {"GET /hello HTTP/1.1\r\nHost: a\r\nX: a\x01\r\n\r\n", 400, "not HTTP"},
      {"GET /hello HTTP/1.1\r\nHost: a\r\nX: a\nb\r\n\r\n", 400, "not HTTP"},
      {"GET hello HTTP/1.1\r\nHost: a\r\n\r\n", 400, "slash"},
      {"GET * HTTP/1.1\r\nHost: a\r\n\r\n", 400, "slash"},
      {"GET /../etc HTTP/1.1\r\nHost: a\r\n\r\n", 400, "segment"},
      {"GET /%2e%2E/etc HTTP/1.1\r\nHost: a\r\n\r\n", 400, "segment"},
      {"GET /%zz HTTP/1.1\r\nHost: a\r\n\r\n", 400, "percent"},
      {"GET /a%00 HTTP/1.1\r\nHost: a\r\n\r\n", 400, "control"},
      {"GET /%FF HTTP/1.1\r\nHost: a\r\n\r\n", 400, "UTF-8"},
      {"GET /\xFF HTTP/1.1\r\nHost: a\r\n\r\n", 400, "UTF-8"},
      {"GET /hello?%c0%af HTTP/1.1\r\nHost: a\r\n\r\n", 400, "UTF-8"},
      {nul, 400, "target"},
      {"GET /hello HTTP/1.1\r\nHost: a\r\nExpect: magic\r\n\r\n", 417, "100-continue"},
      {fmt::format("GET /{} HTTP/1.1\r\nHost: a\r\n\r\n", std::string(9000, 'a')), 414, "long"},
      {fmt::format("GET / HTTP/1.1\r\nHost: a\r\nX: {}\r\n\r\n", std::string(20'000, 'a')), 431,
       "head"},
      {fmt::format("GET /{}", std::string(20'000, 'a')), 431, "head"},
  };
  for (const auto& row : rows) {
    SCOPED_TRACE(row.text.substr(0, 60));
    EXPECT_TRUE(TextFits(site.Ask(row.text), Refused(row.status, row.reason)));
  }
  EXPECT_EQ(site.server->counters().requests_refused, std::ssize(rows));
  EXPECT_EQ(site.server->counters().responses[4] + site.server->counters().responses[5],
            std::ssize(rows));
}

TEST(Server, RefusesWhatTwoServersCouldReadInTwoWays) {
  Site site;
  const std::string_view fields[] = {
      "Content-Length: 5\r\nContent-Length: 6\r\n",
      "Content-Length: 5\r\nContent-Length: 5\r\n",
      "Content-Length: 5, 5\r\n",
      "Content-Length: 5\r\nTransfer-Encoding: chunked\r\n",
      "Transfer-Encoding: chunked\r\nContent-Length: 5\r\n",
      "Transfer-Encoding: identity\r\nContent-Length: 5\r\n",
      "Transfer-Encoding: chunked\r\nTransfer-Encoding: chunked\r\n",
      "Transfer-Encoding: chunked\r\nTransfer-Encoding: identity\r\n",
      "Transfer-Encoding: chunked, identity\r\n",
      "Transfer-Encoding: gzip, chunked\r\n",
      "Transfer-Encoding: xchunked\r\n",
      "Transfer-Encoding : chunked\r\n",
      "Transfer-Encoding:\x0b"
      "chunked\r\n",
      "Content-Length: +5\r\n",
      "Content-Length: -5\r\n",
      "Content-Length: 0x5\r\n",
      "Content-Length: 5 5\r\n",
      "Content-Length:\r\n",
      "Content-Length: 99999999999999999999\r\n",
  };
  for (const std::string_view field : fields) {
    SCOPED_TRACE(field);
    const std::string answer = site.Ask(fmt::format(
        "POST /echo HTTP/1.1\r\nHost: a\r\n{}\r\n0\r\n\r\nGET /hello HTTP/1.1\r\nHost: a\r\n\r\n",
        field));
    EXPECT_TRUE(IsRefused(answer));
    EXPECT_TRUE(TextFits(answer, {.lacks = {"\"hello\""}})) << "the rest was taken for a request";
  }
  EXPECT_EQ(
      site.Ask("POST /echo HTTP/1.0\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n").substr(0, 12),
      "HTTP/1.1 400");
}

TEST(Server, RefusesBadChunks) {
  Site site;
  const std::string long_extension(20'000, 'x');
  const std::string bodies[] = {
      "x\r\n",
      "-1\r\na\r\n",
      "1\r\nab\r\n0\r\n\r\n",
      "1\nab\r\n",
      "ffffffffffffffffff\r\n",
      "1;" + long_extension,
      "0\r\nX: " + long_extension,
      "0\r\nbad trailer\r\n\r\n",
      "1 \r\na\r\n",
  };
  for (const std::string& body : bodies) {
    SCOPED_TRACE(body.substr(0, 30));
    const std::string answer = site.Ask(fmt::format(
        "POST /echo HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: chunked\r\n\r\n{}", body));
    EXPECT_TRUE(IsRefused(answer));
  }
  EXPECT_EQ(site.requests.Take(0).size(), 0u);
}

TEST(Server, UnknownPathsAndMethodsLeaveTheConnectionOpen) {
  Site site;
  RawPeer peer(site.port());
  peer.Send("GET /nowhere HTTP/1.1\r\nHost: a\r\n\r\n");
  EXPECT_TRUE(TextFits(peer.ReadResponse(), {.starts = "HTTP/1.1 404 Not Found\r\n"}));
  peer.Send("DELETE /hello HTTP/1.1\r\nHost: a\r\n\r\n");
  EXPECT_TRUE(TextFits(peer.ReadResponse(),
                       {.starts = "HTTP/1.1 405 ", .has = {"\r\nAllow: GET, HEAD\r\n"}}));
  peer.Send("BREW /echo HTTP/1.1\r\nHost: a\r\n\r\n");
  EXPECT_TRUE(
      TextFits(peer.ReadResponse(), {.starts = "HTTP/1.1 405 ", .has = {"\r\nAllow: POST\r\n"}}));
  peer.Send(kHello);
  EXPECT_TRUE(TextFits(peer.ReadResponse(), {.ends = "\"hello\""}));
}

TEST(Server, BodyOfAnUnknownPathIsNotTakenForARequest) {
  Site site;
  const std::string answer = site.Ask(fmt::format(
      "POST /nowhere HTTP/1.1\r\nHost: a\r\nContent-Length: {}\r\n\r\n{}", kHello.size(), kHello));
  EXPECT_TRUE(TextFits(answer, Refused(404, "nothing")));
  EXPECT_TRUE(TextFits(answer, {.lacks = {"hello"}}));
}

TEST(Server, BodiesOverTheLimitAreRefused) {
  Site site({.body_bytes = 1000});
  const auto with_length = [](std::string_view path, int64_t bytes) {
    return fmt::format(
        "POST {} HTTP/1.1\r\nHost: a\r\nConnection: close\r\n"
        "Content-Length: {}\r\n\r\n{}",
        path, bytes, std::string(static_cast<size_t>(bytes), 'x'));
  };
  const auto in_chunks = [](std::string_view path, int count) {
    std::string text = fmt::format(
        "POST {} HTTP/1.1\r\nHost: a\r\nConnection: close\r\nTransfer-Encoding: chunked\r\n\r\n",
        path);
    for (int at = 0; at < count; ++at) text.append("5\r\nabcde\r\n");
    return text.append("0\r\n\r\n");
  };
  EXPECT_TRUE(TextFits(site.Ask(with_length("/echo", 1000)), {.starts = "HTTP/1.1 200 "}));
  EXPECT_TRUE(TextFits(site.Ask(with_length("/echo", 1001)), Refused(413, "body")));
  EXPECT_TRUE(TextFits(site.Ask(with_length("/echo", 3'000'000)), Refused(413, "body")));
  EXPECT_TRUE(TextFits(site.Ask(in_chunks("/echo", 200)), {.starts = "HTTP/1.1 200 "}));
  EXPECT_TRUE(TextFits(site.Ask(in_chunks("/echo", 201)), Refused(413, "body")));
  EXPECT_TRUE(TextFits(site.Ask(with_length("/small", 10)), {.starts = "HTTP/1.1 200 "}));
  EXPECT_TRUE(TextFits(site.Ask(with_length("/small", 11)), Refused(413, "body")));
}

TEST(Server, AllBodiesTogetherAreBounded) {
  Site site({.all_bodies_bytes = 1000});
  RawPeer first(site.port());
  first.Send(
      fmt::format("POST /echo HTTP/1.1\r\nHost: a\r\nExpect: 100-continue\r\n"
                  "Content-Length: 900\r\n\r\n"));
  EXPECT_EQ(first.ReadUntil("\r\n\r\n"), "HTTP/1.1 100 Continue\r\n\r\n");
  first.Send(std::string(800, 'x'));
  // The server has taken the 800 bytes before it sees what comes on another connection later, for
  // it has one thread, and the kernel tells of both in order.
  const std::string second =
      site.Ask(Closing("POST", "/echo", "Content-Length: 900\r\n") + std::string(900, 'y'));
  EXPECT_TRUE(TextFits(second, Refused(503, "too many bodies")));
  first.Send(std::string(100, 'x'));
  EXPECT_TRUE(TextFits(first.ReadResponse(), {.starts = "HTTP/1.1 200 "}));
  EXPECT_TRUE(TextFits(
      site.Ask(Closing("POST", "/echo", "Content-Length: 900\r\n") + std::string(900, 'y')),
      {.starts = "HTTP/1.1 200 "}))
      << "what was charged is given back";
}

TEST(Server, TooManyFieldsAreRefused) {
  Site site;
  std::string fields;
  for (int at = 0; at < 200; ++at) fields.append("a: b\r\n");
  EXPECT_TRUE(TextFits(site.Ask(Closing("GET", "/hello", fields)), Refused(431, "fields")));
}

TEST(Server, SlowHeadsAndBodiesEndWith408) {
  Site site({.head_timeout = milliseconds(50), .body_timeout = milliseconds(50)});
  RawPeer head(site.port());
  head.Send("GET /hello HTTP/1.1\r\nHost:");
  EXPECT_TRUE(TextFits(head.ReadToEnd(), Refused(408, "in time")));
  RawPeer body(site.port());
  body.Send("POST /echo HTTP/1.1\r\nHost: a\r\nContent-Length: 10\r\n\r\nabc");
  EXPECT_TRUE(TextFits(body.ReadToEnd(), Refused(408, "in time")));
  RawPeer silent(site.port());
  EXPECT_EQ(silent.ReadToEnd(), "");
  EXPECT_TRUE(silent.ended());
}

TEST(Server, ATrickleOfBytesDoesNotProlongAHead) {
  Site site({.head_timeout = milliseconds(100), .body_timeout = milliseconds(100)});
  for (const std::string_view start : {"GET /hello HTTP/1.1\r\nX: ",
                                       "POST /echo HTTP/1.1\r\nHost: a\r\nContent-Length: "
                                       "1000000\r\n\r\n"}) {
    RawPeer peer(site.port());
    peer.Send(start);
    int sent = 0;  // A byte each 10 ms, for at most 10 s.
    while (sent < 1000 && !peer.HasInput(milliseconds(10))) sent += peer.Send("a") ? 1 : 1000;
    EXPECT_LT(sent, 1000);
    EXPECT_TRUE(TextFits(peer.ReadResponse(), Refused(408, "in time")));
  }
  EXPECT_EQ(site.server->counters().responses[4], 2);
}

TEST(Server, IdleConnectionsAreClosed) {
  Site site({.idle_timeout = milliseconds(50)});
  RawPeer peer(site.port());
  peer.Send(kHello);
  EXPECT_TRUE(TextFits(peer.ReadResponse(), {.ends = "\"hello\""}));
  EXPECT_EQ(peer.ReadToEnd(), "");
  EXPECT_TRUE(peer.ended());
}

TEST(Server, OneConnectionTooManyIsToldSo) {
  Site site({.connections = 2});
  RawPeer first(site.port());
  RawPeer second(site.port());
  for (RawPeer* peer : {&first, &second}) {
    peer->Send(kHello);
    EXPECT_TRUE(TextFits(peer->ReadResponse(), {.ends = "\"hello\""}));
  }
  RawPeer third(site.port());
  EXPECT_TRUE(TextFits(third.ReadToEnd(), Refused(503, "too many connections")));
  EXPECT_EQ(site.server->counters().connections_refused, 1);
}

TEST(Server, WithoutDescriptorsItAcceptsLater) {
  Site site;
  rlimit before{};
  ASSERT_EQ(getrlimit(RLIMIT_NOFILE, &before), 0);
  const int next = dup(0);
  ASSERT_GE(next, 0);
  close(next);
  // The peer's descriptor is the last that this process may have.
  const rlimit tight{static_cast<rlim_t>(next) + 1, before.rlim_max};
  ASSERT_EQ(setrlimit(RLIMIT_NOFILE, &tight), 0);
  RawPeer peer(site.port());
  peer.Send(Closing("GET", "/hello"));
  EXPECT_FALSE(peer.HasInput(milliseconds(20)));
  ASSERT_EQ(setrlimit(RLIMIT_NOFILE, &before), 0);
  EXPECT_TRUE(TextFits(peer.ReadToEnd(), {.ends = "\"hello\""}));
  EXPECT_GE(site.server->counters().connections_refused, 1);
}

TEST(Server, StartsWholeOrNotAtAll) {
  sys::ManualClock clock;
  pthread_attr_t before;
  pthread_attr_t huge;
  ASSERT_EQ(pthread_getattr_default_np(&before), 0);
  ASSERT_EQ(pthread_attr_init(&huge), 0);
  ASSERT_EQ(pthread_attr_setstacksize(&huge, size_t{1} << 50), 0);  // More than addresses reach.
  ASSERT_EQ(pthread_setattr_default_np(&huge), 0);
  const auto threadless = Server::Start({.threads = 2}, Routes(), clock);
  ASSERT_EQ(pthread_setattr_default_np(&before), 0);
  ASSERT_FALSE(threadless.ok());
  EXPECT_EQ(threadless.error().code, Code::kExhausted);

  rlimit limit{};
  ASSERT_EQ(getrlimit(RLIMIT_NOFILE, &limit), 0);
  const int next = dup(0);
  close(next);
  int refused = 0;  // With room for no descriptor, for one, for two, ... until there are enough.
  for (bool started = false; !started && refused < 20; refused += started ? 0 : 1) {
    const rlimit tight{static_cast<rlim_t>(next + refused), limit.rlim_max};
    ASSERT_EQ(setrlimit(RLIMIT_NOFILE, &tight), 0);
    const auto server = Server::Start({}, Routes(), clock);
    ASSERT_EQ(setrlimit(RLIMIT_NOFILE, &limit), 0);
    started = server.ok();
  }
  EXPECT_EQ(refused, 3) << "a socket, an epoll, a mailbox";
}

TEST(Server, ListensOnIpv6) {
  auto site = Site({.listen = "[::1]:0"});
  EXPECT_TRUE(TextFits(site.server->url(), {.starts = "http://[::1]:"}));
  const auto client = Client::Create({.url = site.server->url()});
  const auto answer = client.value()->Send({.target = "/hello"}, sys::Stop());
  ASSERT_TRUE(answer.ok()) << answer.error().message;
  EXPECT_EQ(answer.value().body, "\"hello\"");
}

TEST(Server, HeadIsGetWithoutBody) {
  Site site;
  RawPeer peer(site.port());
  peer.Send("HEAD /hello HTTP/1.1\r\nHost: a\r\n\r\n");
  EXPECT_TRUE(TextFits(peer.ReadUntil("\r\n\r\n"), {.has = {"\r\nContent-Length: 7\r\n"}}));
  peer.Send("HEAD /nowhere HTTP/1.1\r\nHost: a\r\n\r\n");
  EXPECT_TRUE(TextFits(peer.ReadUntil("\r\n\r\n"), {.starts = "HTTP/1.1 404 "}));
  peer.Send(kHello);
  EXPECT_TRUE(TextFits(peer.ReadResponse(), {.starts = "HTTP/1.1 200 "}));
}

TEST(Server, ExpectationIsMetOnceAndOnlyWhereTheBodyIsWanted) {
  Site site;
  RawPeer peer(site.port());
  peer.Send("POST /echo HTTP/1.1\r\nHost: a\r\nExpect: 100-Continue\r\nContent-Length: 3\r\n\r\n");
  EXPECT_EQ(peer.ReadUntil("\r\n\r\n"), "HTTP/1.1 100 Continue\r\n\r\n");
  peer.Send("abc");
  EXPECT_TRUE(TextFits(peer.ReadResponse(), {.ends = "\r\n\r\nabc"}));
  EXPECT_TRUE(TextFits(site.Ask("POST /small HTTP/1.1\r\nHost: a\r\nExpect: 100-continue\r\n"
                                "Content-Length: 11\r\n\r\n"),
                       Refused(413, "body")));
}

TEST(Server, OldHttpGetsOneAnswerAndTheEnd) {
  Site site;
  const std::string answer = site.Ask("GET /hello HTTP/1.0\r\n\r\n");
  EXPECT_TRUE(TextFits(
      answer,
      {.starts = "HTTP/1.1 200 ", .has = {"\r\nConnection: close\r\n"}, .ends = "\"hello\""}));
}

TEST(Server, PipelinedRequestsAreAnsweredOneAfterTheOther) {
  Site site;
  RawPeer peer(site.port());
  peer.Send(
      "GET /held HTTP/1.1\r\nHost: a\r\n\r\nPOST /echo HTTP/1.1\r\nHost: a\r\n"
      "Content-Length: 1\r\n\r\nbGET /held HTTP/1.1\r\nHost: a\r\nConnection: close\r\n\r\n");
  Responder first = site.held.TakeOne();
  EXPECT_EQ(site.requests.Take(0).size(), 0u) << "the second waits for the first's answer";
  EXPECT_TRUE(first.Send(Json("a")));
  EXPECT_TRUE(TextFits(peer.ReadResponse(), {.ends = "\r\n\r\na"}));
  EXPECT_TRUE(TextFits(peer.ReadResponse(), {.ends = "\r\n\r\nb"}));
  EXPECT_TRUE(site.held.TakeOne().Send(Json("c")));
  EXPECT_TRUE(TextFits(peer.ReadToEnd(), {.ends = "\r\n\r\nc"}));
}

TEST(Server, ARefusalDoesNotSwallowTheRequestBehindIt) {
  Site site;
  RawPeer peer(site.port());
  peer.Send(fmt::format("GET /nowhere HTTP/1.1\r\nHost: a\r\n\r\n{}{}", kHello, kHello));
  EXPECT_TRUE(TextFits(peer.ReadResponse(), {.starts = "HTTP/1.1 404 "}));
  EXPECT_TRUE(TextFits(peer.ReadResponse(), {.ends = "\"hello\""}));
  EXPECT_TRUE(TextFits(peer.ReadResponse(), {.ends = "\"hello\""}));
}

TEST(Server, ARequestWithoutAnAnswerGets500) {
  Site site;
  EXPECT_TRUE(TextFits(site.Ask(Closing("GET", "/dropped")), Refused(500, "no answer")));
  EXPECT_EQ(site.server->counters().responses[5], 1);
}

TEST(Server, AHeaderThatWouldSplitTheAnswerIsNotSent) {
  Site site;
  const std::string answer = site.Ask(Closing("GET", "/split"));
  EXPECT_TRUE(TextFits(answer, Refused(500, "header")));
  EXPECT_TRUE(TextFits(answer, {.lacks = {"Set-Cookie"}}));
}

TEST(Server, TruncatedBodiesReachNoHandler) {
  Site site;
  for (const std::string_view text :
       {"POST /echo HTTP/1.1\r\nHost: a\r\nContent-Length: 10\r\n\r\nabc",
        "POST /echo HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: chunked\r\n\r\n5\r\nabcde\r\n",
        "GET /hello HTTP/1.1\r\nHost:"}) {
    RawPeer peer(site.port());
    peer.Send(text);
    peer.EndSending();
    EXPECT_EQ(peer.ReadToEnd(), "");
    EXPECT_TRUE(peer.ended());
  }
  EXPECT_EQ(site.requests.Take(0).size(), 0u);
}

TEST(Server, AHandlerIsToldWhenItsPeerGoesAway) {
  Site site;
  for (const bool reset : {false, true}) {
    RawPeer peer(site.port());
    peer.Send("GET /held HTTP/1.1\r\nHost: a\r\n\r\n");
    Responder responder = site.held.TakeOne();
    EXPECT_FALSE(responder.gone());
    std::promise<void> told;
    responder.OnGone([&] { told.set_value(); });
    if (reset) {
      peer.Reset();
    } else {
      peer.Close();
    }
    EXPECT_EQ(told.get_future().wait_for(kLong), std::future_status::ready);
    EXPECT_TRUE(responder.gone());
    EXPECT_FALSE(responder.Send(Json("{}")));
  }
  EXPECT_EQ(site.server->counters().peers_gone, 2);
}

TEST(Server, AHalfClosedPeerGetsAnAnswerThatIsMadeAtOnce) {
  Site site;
  RawPeer peer(site.port());
  peer.Send(kHello);
  peer.EndSending();
  EXPECT_TRUE(TextFits(peer.ReadToEnd(), {.ends = "\"hello\""}));
}

TEST(Server, ANoticeThatComesTooLateIsGivenAtOnce) {
  Site site;
  RawPeer peer(site.port());
  peer.Send("GET /held HTTP/1.1\r\nHost: a\r\n\r\n");
  Responder responder = site.held.TakeOne();
  site.server->Stop(milliseconds(0));
  bool told = false;
  responder.OnGone([&] { told = true; });
  EXPECT_TRUE(told);
}

TEST(Server, AThousandHeldRequestsAreAnsweredAtOnce) {
  const int64_t descriptors = sys::RaiseDescriptorLimit();
  const size_t count = descriptors < 2200 ? 200 : 1000;
  for (const int threads : {1, 3}) {
    Site site({.threads = threads});
    std::vector<RawPeer> peers;
    for (size_t at = 0; at < count; ++at) {
      peers.emplace_back(site.port());
      ASSERT_TRUE(peers.back().Send("GET /held HTTP/1.1\r\nHost: a\r\n\r\n"));
    }
    std::vector<Responder> held;
    while (held.size() < count) {
      for (Responder& more : site.held.Take(1)) held.push_back(std::move(more));
    }
    const sys::Duration begin = sys::SteadyNow();
    std::thread answering([&] {
      for (size_t at = 0; at < count; ++at) EXPECT_TRUE(held[at].Send(Json("\"go\"")));
    });
    for (RawPeer& peer : peers)
      ASSERT_TRUE(TextFits(peer.ReadResponse(), {.ends = "\r\n\r\n\"go\""}));
    answering.join();
    std::printf("%zu held requests, %d threads: answered and read in %.1f ms\n", count, threads,
                sys::Seconds(sys::SteadyNow() - begin) * 1000);
    EXPECT_EQ(site.server->counters().responses[2], static_cast<int64_t>(count));
  }
}

TEST(Server, StreamsArriveInPieces) {
  Site site;
  RawPeer peer(site.port());
  peer.Send("GET /stream HTTP/1.1\r\nHost: a\r\n\r\n");
  Stream stream = site.streams.TakeOne();
  EXPECT_TRUE(TextFits(
      peer.ReadUntil("\r\n\r\n"),
      {.has = {"\r\nTransfer-Encoding: chunked\r\n", "\r\nContent-Type: text/event-stream\r\n"},
       .lacks = {"Content-Length"}}));
  EXPECT_EQ(peer.ReadUntil("first\r\n"), "5\r\nfirst\r\n");
  EXPECT_TRUE(stream.Write("second piece of it"));
  EXPECT_TRUE(stream.Write(""));
  EXPECT_EQ(peer.ReadUntil("it\r\n"), "12\r\nsecond piece of it\r\n");
  EXPECT_TRUE(stream.Close());
  EXPECT_FALSE(stream.Write("more"));
  EXPECT_EQ(peer.ReadUntil("0\r\n\r\n"), "0\r\n\r\n");
  peer.Send(kHello);
  EXPECT_TRUE(TextFits(peer.ReadResponse(), {.ends = "\"hello\""})) << "the connection goes on";
}

TEST(Server, StreamsToOldHttpEndWithTheConnection) {
  Site site;
  RawPeer peer(site.port());
  peer.Send("GET /stream HTTP/1.0\r\n\r\n");
  Stream stream = site.streams.TakeOne();
  EXPECT_TRUE(stream.Write("second"));
  EXPECT_TRUE(stream.Close());
  EXPECT_TRUE(TextFits(peer.ReadToEnd(), {.ends = "\r\n\r\nfirstsecond"}));
}

TEST(Server, AStreamGivenUpDoesNotLookComplete) {
  Site site;
  RawPeer peer(site.port());
  peer.Send("GET /stream HTTP/1.1\r\nHost: a\r\n\r\n");
  {
    const Stream dropped = site.streams.TakeOne();
    EXPECT_TRUE(TextFits(peer.ReadUntil("first\r\n"), {.ends = "first\r\n"}));
  }
  EXPECT_EQ(peer.ReadToEnd(), "");
  EXPECT_EQ(site.server->counters().streams_cut, 1);
}

TEST(Server, AStreamIsToldWhenItsPeerGoesAway) {
  Site site;
  RawPeer peer(site.port());
  peer.Send("GET /stream HTTP/1.1\r\nHost: a\r\n\r\n");
  Stream stream = site.streams.TakeOne();
  std::promise<void> told;
  stream.OnGone([&] { told.set_value(); });
  peer.Close();
  EXPECT_EQ(told.get_future().wait_for(kLong), std::future_status::ready);
  EXPECT_FALSE(stream.Write("x"));
}

TEST(Server, AReaderTooSlowIsCutOff) {
  Site site({.waiting_bytes = 100'000});
  RawPeer peer(site.port(), 4096);
  peer.Send("GET /stream HTTP/1.1\r\nHost: a\r\n\r\n");
  Stream stream = site.streams.TakeOne();
  const std::string piece(10'000, 'x');
  int written = 0;  // The kernel takes some megabytes at most, then 100,000 bytes wait.
  while (written < 100'000 && stream.Write(piece)) {
    ++written;
    EXPECT_LE(stream.waiting_bytes(), 110'000u);
  }
  EXPECT_LT(written, 100'000);
  peer.ReadToEnd();
  EXPECT_TRUE(peer.ended());
  EXPECT_EQ(site.server->counters().streams_cut, 1);
}

TEST(Server, APeerThatDoesNotReadItsAnswerIsClosed) {
  Site site({.write_timeout = milliseconds(100)});
  RawPeer peer(site.port(), 4096);
  peer.Send("GET /large HTTP/1.1\r\nHost: a\r\n\r\n");
  site.requests.TakeOne();
  const sys::Duration begin = sys::SteadyNow();
  site.server->Stop(kLong);  // Returns when the connection is gone.
  EXPECT_LT(sys::SteadyNow() - begin, kLong);
  EXPECT_LT(peer.ReadToEnd().size(), 8u << 20);
}

TEST(Server, LargeAnswersArriveWhole) {
  Site site;
  const std::string answer = site.Ask(Closing("GET", "/large"));
  EXPECT_TRUE(TextFits(answer.substr(0, 300), {.has = {"\r\nContent-Length: 8388608\r\n"}}));
  EXPECT_EQ(answer.size() - answer.find("\r\n\r\n") - 4, 8u << 20);
}

TEST(Server, StopWaitsForWhatHasBegunAndClosesTheRest) {
  Site site;
  RawPeer idle(site.port());
  idle.Send(kHello);
  EXPECT_TRUE(TextFits(idle.ReadResponse(), {.ends = "\"hello\""}));
  RawPeer busy(site.port());
  busy.Send("GET /held HTTP/1.1\r\nHost: a\r\n\r\n");
  Responder responder = site.held.TakeOne();
  std::thread stopping([&] { site.server->Stop(kLong); });
  EXPECT_EQ(idle.ReadToEnd(), "");
  EXPECT_TRUE(idle.ended());
  EXPECT_FALSE(responder.gone());
  EXPECT_TRUE(responder.Send(Json("\"late\"")));
  EXPECT_TRUE(
      TextFits(busy.ReadToEnd(), {.has = {"\r\nConnection: close\r\n"}, .ends = "\"late\""}));
  stopping.join();
  site.server->Stop(kLong);  // Again: nothing happens.
  EXPECT_EQ(site.server->counters().connections_open, 0);
}

TEST(Server, StopCutsWhatTakesTooLong) {
  Site site;
  RawPeer busy(site.port());
  busy.Send("GET /held HTTP/1.1\r\nHost: a\r\n\r\n");
  Responder responder = site.held.TakeOne();
  std::promise<void> told;
  responder.OnGone([&] { told.set_value(); });
  site.server->Stop(milliseconds(20));
  EXPECT_EQ(told.get_future().wait_for(milliseconds(0)), std::future_status::ready);
  EXPECT_EQ(busy.ReadToEnd(), "");
  site.server.reset();
  EXPECT_FALSE(responder.Send(Json("{}"))) << "answering outlives the server";
}

TEST(Server, StartsAgainOnTheSamePort) {
  auto site = std::make_unique<Site>();
  const uint16_t port = site->port();
  RawPeer peer(port);
  peer.Send("GET /held HTTP/1.1\r\nHost: a\r\n\r\n");
  Responder responder = site->held.TakeOne();
  site.reset();  // The server closes first: its end of the connection stays in TIME_WAIT.
  const Site again({.listen = fmt::format("127.0.0.1:{}", port)});
  EXPECT_EQ(again.port(), port);
  EXPECT_TRUE(TextFits(again.Ask(Closing("GET", "/hello")), {.ends = "\"hello\""}));
}

TEST(Server, SaysWhyItDoesNotListen) {
  sys::ManualClock clock;
  const Site other;
  const struct {
    ServerOptions options;
    Code code;
    std::string_view reason;
  } rows[] = {
      {{.listen = "nowhere"}, Code::kUsage, "write host:port"},
      {{.listen = "127.0.0.1:x"}, Code::kUsage, "not a number"},
      {{.listen = "0.0.0.0:0"}, Code::kUsage, "name a certificate"},
      {{.listen = "[::]:0"}, Code::kUsage, "name a certificate"},
      {{.listen = fmt::format("127.0.0.1:{}", other.port())}, Code::kUnavailable, "another port"},
      {{.listen = "203.0.113.1:0", .plaintext_beyond_loopback = true},
       Code::kInvalid,
       "address of this machine"},
      {{.certificate_file = "c.pem"}, Code::kUsage, "only one is named"},
      {{.certificate_file = "/no/c.pem", .key_file = "/no/k.pem"}, Code::kUsage, "/no/c.pem"},
  };
  for (const auto& row : rows) {
    const auto started = Server::Start(row.options, Routes(), clock);
    ASSERT_FALSE(started.ok()) << row.options.listen;
    EXPECT_EQ(started.error().code, row.code) << started.error().message;
    EXPECT_TRUE(TextFits(started.error().message, {.has = {std::string(row.reason)}}));
  }
  EXPECT_TRUE(
      Server::Start({.listen = "0.0.0.0:0", .plaintext_beyond_loopback = true}, Routes(), clock)
          .ok());
}

// Goal:   every request is answered or its handler told, and nothing is left, whoever comes and
// goes. Method: peers that read, close or reset; answers, streams and silence from two threads; a
// stop in
//         the middle of it.
TEST(Server, LosesNothingWhilePeersComeAndGo) {
  for (const uint64_t seed : test::Seeds(5)) {
    SCOPED_TRACE(fmt::format("to repeat: WEIR_SEED={}", seed));
    std::atomic<int64_t> given{0};
    std::atomic<int64_t> told{0};
    std::atomic<bool> over{false};
    Site site({.threads = 2, .waiting_bytes = 30'000});
    const auto answer = [&](uint64_t own_seed) {
      std::mt19937_64 rng(own_seed);
      std::vector<Responder> kept;
      while (!over) {
        for (Responder& responder : site.held.Take(0)) {
          ++given;
          responder.OnGone([&told] { ++told; });
          const uint64_t choice = rng() % 5;
          if (choice == 0) responder.Send(Json(std::string(rng() % 100'000, 'x')));
          if (choice == 1) kept.push_back(std::move(responder));
          if (choice < 2) continue;
          if (choice == 2) Responder dropped = std::move(responder);
          if (choice == 2) continue;
          Stream stream = responder.Open({});
          for (uint64_t left = rng() % 10; left > 0; --left) {
            stream.Write(std::string(rng() % 10'000, 'y'));
          }
          if (choice == 3) stream.Close();
        }
        if (rng() % 3 == 0) kept.clear();
        std::this_thread::yield();
      }
    };
    std::thread first(answer, seed * 2);
    std::thread second(answer, seed * 2 + 1);
    std::mt19937_64 rng(seed);
    for (int at = 0; at < 100; ++at) {
      RawPeer peer(site.port(), 4096);
      peer.Send("GET /held HTTP/1.1\r\nHost: a\r\nConnection: close\r\n\r\n");
      if (rng() % 3 == 0) peer.ReadToEnd();
      if (rng() % 3 == 0) peer.Reset();
    }
    site.server->Stop(milliseconds(static_cast<int64_t>(rng() % 3) * 10));
    over = true;
    first.join();
    second.join();
    const ServerCounters counters = site.server->counters();
    EXPECT_EQ(counters.connections_open, 0);
    EXPECT_LE(counters.responses[2] + counters.responses[5], given);
    EXPECT_LE(told, counters.peers_gone);
    EXPECT_GT(given, 0);
  }
}

// Goal:   whatever bytes come, the server goes on.
// Method: well-formed requests with bytes changed, left out and doubled, on many connections.
TEST(Server, SurvivesDamagedRequests) {
  Site site({.head_timeout = milliseconds(2'000), .body_timeout = milliseconds(2'000)});
  const std::string whole =
      "POST /echo?x=%20 HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: "
      "chunked\r\n\r\n3\r\nabc\r\n0\r\n\r\n"
      "POST /echo HTTP/1.1\r\nHost: a\r\nContent-Length: 3\r\n\r\nabc" +
      std::string(kHello);
  for (const uint64_t seed : test::Seeds(200)) {
    SCOPED_TRACE(fmt::format("to repeat: WEIR_SEED={}", seed));
    std::mt19937_64 rng(seed);
    std::string text = whole;
    for (uint64_t left = 1 + rng() % 3; left > 0; --left) {
      const size_t at = rng() % text.size();
      switch (rng() % 3) {
        case 0:
          text[at] = static_cast<char>(rng());
          break;
        case 1:
          text.erase(at, 1 + rng() % 4);
          break;
        default:
          text.insert(at, text.substr(rng() % text.size(), rng() % 30));
      }
    }
    RawPeer peer(site.port());
    peer.Send(text);
    peer.EndSending();
    peer.ReadToEnd();
    EXPECT_TRUE(peer.ended());
  }
  EXPECT_TRUE(TextFits(site.Ask(Closing("GET", "/hello")), {.ends = "\"hello\""}));
}

}  // namespace
}  // namespace weir::net
