// What scripts find of a web platform: printing, timers, requests, addresses, texts.
#include <algorithm>
#include <map>
#include <mutex>
#include <string>
#include <vector>

#include "weir/script/engine.h"

namespace weir::script {
namespace {

class WebTest : public testing::Test, public Host {
 protected:
  WebTest() { limits_.wall_time = std::chrono::seconds(60); }

  void Fetch(Request request, Reply reply) override {
    requests_.push_back(request);
    if (request.url.ends_with("/never")) return;
    if (request.url.ends_with("/fail")) {
      return reply.Give(Fail(Code::kUnavailable, "nobody is there"));
    }
    if (request.url.ends_with("/held")) {
      held_.push_back(std::move(reply));
      if (held_.size() < 1000) return;
      for (size_t at = held_.size(); at > 0; --at) {  // The last asked is the first answered.
        held_[at - 1].Give(Response{200, "OK", "", {}, std::to_string(at - 1)});
      }
      return;
    }
    Response response;
    response.status = request.url.ends_with("/404") ? 404 : 200;
    response.headers = {{"content-type", "text/plain"}, {"X-Two", "a"}, {"x-two", "b"}};
    response.body = request.method + " " + request.url + " " + request.body;
    if (request.url.ends_with("/json")) response.body = "\xEF\xBB\xBF{\"n\":[1,2]}";
    if (request.url.ends_with("/bytes")) response.body = std::string("\x00\xFF\xC3\xA9", 4);
    reply.Give(std::move(response));
    reply.Give(Fail(Code::kCorrupt, "a second answer, which is dropped"));
  }
  void Log(Level level, std::string_view line) override {
    log_ += "DIWE"[static_cast<int>(level)] + (" " + std::string(line)) + "\n";
  }

  std::string Says(const std::string& text) {
    auto outcome = engine_.Run({"job.ts", text}, "{}", limits_, *this, stop_);
    EXPECT_TRUE(outcome.ok()) << outcome.error().message;
    if (!outcome.ok()) return "";
    if (outcome.value().end == End::kReturned) return outcome.value().result;
    return std::string(EndName(outcome.value().end)) + ": " + outcome.value().message;
  }
  std::string Value(const std::string& expression) {
    return Says("export async function main() { return " + expression + " }");
  }
  std::string Printed(const std::string& values) {
    log_.clear();
    EXPECT_EQ(Says("export function main() { console.log(" + values + ") }"), "null");
    return log_;
  }

  Engine engine_;
  sys::Stop stop_;
  Limits limits_;
  std::vector<Request> requests_;
  std::vector<Reply> held_;
  std::string log_;
};

// ---- console ----

TEST_F(WebTest, PrintsByLineAndLevel) {
  EXPECT_EQ(Says("export function main() { console.log('a\\nb'); console.info(1); "
                 "console.warn('w'); console.error('e'); console.debug('d'); console.log() }"),
            "null");
  EXPECT_EQ(log_, "I a\nI b\nI 1\nW w\nE e\nD d\nI \n");
}

TEST_F(WebTest, PrintsValues) {
  EXPECT_EQ(Printed("'%s is %d%% %j %o', 'x', 5.5, {a:1}, 'q', 'more'"),
            "I x is 5.5% {\"a\":1} \"q\" more\n");
  EXPECT_EQ(Printed("'100%', 1"), "I 100% 1\n");
  EXPECT_EQ(Printed("1n, -0, null, undefined, Symbol('s'), () => 1, class A {}"),
            "I 1n -0 null undefined Symbol(s) [Function: (anonymous)] [class A]\n");
  EXPECT_EQ(Printed("{ a: 'x', 'b-c': [1, [2]], d: {} }, []"),
            "I { a: \"x\", \"b-c\": [ 1, [ 2 ] ], d: {} } []\n");
  EXPECT_EQ(Printed("new Map([[1, { a: 2 }]]), new Set(['x']), new Date(0), /x/g"),
            "I Map(1) { 1 => { a: 2 } } Set(1) { \"x\" } 1970-01-01T00:00:00.000Z /x/g\n");
  EXPECT_EQ(Printed("(() => { const a = {}; a.self = a; return a })()"),
            "I { self: [Circular] }\n");
  EXPECT_EQ(Printed("{a:{b:{c:{d:{}}}}}"), "I { a: { b: { c: { d: [Object] } } } }\n");
  EXPECT_EQ(Printed("new (class Point { x = 1 })(), Object.create(null), new Uint8Array(2)"),
            "I Point { x: 1 } [null prototype] {} Uint8Array [ 0, 0 ]\n");
  EXPECT_EQ(Printed("'\\ud800 é'"), "I \xEF\xBF\xBD é\n");
  EXPECT_TRUE(Printed("new TypeError('bad')").starts_with("I TypeError: bad\nI     at main ("));
}

TEST_F(WebTest, ALogTooLongIsCutWithOneSentence) {
  limits_.log_bytes = 100;
  EXPECT_EQ(Says("export function main() { for (let i = 0; i < 1e5; i++) console.log('0123456789');"
                 "return 'done' }"),
            "\"done\"");
  std::string want;
  for (int at = 0; at < 9; ++at) want += "I 0123456789\n";
  want += "W this script's log is longer than 100 bytes; what follows is left out\n";
  EXPECT_EQ(log_, want);
}

TEST_F(WebTest, AGigabytePrintedIsBounded) {
  EXPECT_EQ(Says("const s = ('x'.repeat(1023) + '\\n').repeat(1024); export function main() { "
                 "for (let i = 0; i < 1024; i++) console.log(s); return 1 }"),
            "1");
  EXPECT_LE(log_.size(), (1U << 20) + 4096);
  EXPECT_NE(log_.find("W this script's log is longer than 1048576 bytes"), std::string::npos);
}

TEST_F(WebTest, ABrokenPromiseThatNobodyAwaitsIsLogged) {
  EXPECT_EQ(Says("export async function main() { Promise.reject(new Error('lost')); "
                 "const p = Promise.reject(1); p.catch(() => {}); return 1 }"),
            "1");
  EXPECT_EQ(log_, "E a promise that nobody awaits broke: Error: lost\n");
}

// ---- Timers ----

TEST_F(WebTest, TimersGoOffInTheirOrder) {
  EXPECT_EQ(Says("export async function main() { const got = []; const say = (v) => got.push(v);"
                 "setTimeout(say, 2, 'c'); setTimeout(say, 0, 'a'); setTimeout(say, 0, 'b');"
                 "clearTimeout(setTimeout(say, 1, 'no')); queueMicrotask(() => say('first'));"
                 "await new Promise((keep) => setTimeout(keep, 4)); return got }"),
            R"(["first","a","b","c"])");
  EXPECT_EQ(Says("export async function main() { let n = 0; await new Promise((keep) => { "
                 "const t = setInterval(() => { if (++n === 3) { clearInterval(t); keep() } }, 1) "
                 "}); return n }"),
            "3");
  EXPECT_EQ(Says("export function main() { setTimeout(5) }"),
            "threw: TypeError: a timer calls a function, and was given none");
}

TEST_F(WebTest, AMillionTimersAreRefused) {
  EXPECT_EQ(Says("export function main() { for (let i = 0; i < 1e6; i++) "
                 "setTimeout(() => {}, 1e6) }"),
            "threw: RangeError: 10000 timers wait already: wait for some, or clear them");
}

// ---- fetch ----

TEST_F(WebTest, FetchSendsAndReads) {
  EXPECT_EQ(Says("export async function main() { const r = await fetch('http://127.0.0.1:80/a?b', "
                 "{ method: 'post', headers: { 'X-A': ' 1 ' }, body: 'é' });"
                 "return [r.status, r.ok, r.url, r.headers.get('Content-Type'), "
                 "r.headers.get('x-two'), r.headers.get('none'), await r.text(), r.bodyUsed] }"),
            R"([200,true,"http://127.0.0.1:80/a?b","text/plain","a, b",null,)"
            R"("POST http://127.0.0.1:80/a?b é",true])");
  ASSERT_EQ(requests_.size(), 1U);
  EXPECT_EQ(requests_[0].headers,
            (Headers{{"content-type", "text/plain;charset=UTF-8"}, {"x-a", "1"}}));
}

TEST_F(WebTest, FetchReadsBodiesOfEachKind) {
  EXPECT_EQ(Value("(await fetch('http://a/json')).json()"), R"({"n":[1,2]})");
  EXPECT_EQ(Value("[...new Uint8Array(await (await fetch('http://a/bytes')).arrayBuffer())]"),
            "[0,255,195,169]");
  EXPECT_EQ(Value("(await fetch('http://a/bytes')).text()"), "\"\\u0000\xEF\xBF\xBDé\"");
  EXPECT_EQ(Value("(await fetch('http://a/404')).ok"), "false");
  EXPECT_EQ(Value("(await fetch(new Request('http://a/x', { method: 'PUT', "
                  "body: new Uint8Array([104, 105]) }))).text()"),
            "\"PUT http://a/x hi\"");
  EXPECT_EQ(Value("(await fetch(new URL('/y?q=1 2', 'http://a/x'), { method: 'POST', "
                  "body: new URLSearchParams({ a: 'b c' }) })).text()"),
            "\"POST http://a/y?q=1%202 a=b+c\"");
  EXPECT_EQ(Says("export async function main() { const r = await fetch('http://a/x'); "
                 "const c = r.clone(); await r.text(); await c.text(); await r.text() }"),
            "threw: TypeError: the body was read already");
}

TEST_F(WebTest, FetchFailsReadably) {
  EXPECT_EQ(Value("fetch('http://a/fail')"), "threw: TypeError: nobody is there");
  EXPECT_EQ(Value("fetch('http://a/fail').catch((e) => e instanceof TypeError)"), "true");
  EXPECT_EQ(Value("fetch('file:///etc/passwd')").substr(0, 23), "threw: TypeError: canno");
  EXPECT_EQ(Value("fetch('nowhere')"), "threw: TypeError: Invalid URL: 'nowhere'");
  EXPECT_EQ(Value("fetch('http://a/x', { body: 'b' })"),
            "threw: TypeError: a GET request has no body");
  for (const std::string bad : {"{ method: 'GET / HTTP/1.1\\r\\nX:' }",
                                "{ headers: { 'a b': '' } }",
                                "{ headers: { a: 'x\\r\\nEvil: 1' } }",
                                "{ headers: { a: 'x\\0' } }"}) {
    EXPECT_EQ(Value("fetch('http://a/x', " + bad + ")").substr(0, 30),
              "threw: TypeError: cannot fetch");
  }
  EXPECT_TRUE(std::all_of(requests_.begin(), requests_.end(), [](const Request& request) {
    return request.url == "http://a/fail";
  }));
}

TEST_F(WebTest, AThousandFetchesAreInFlightAtOnce) {
  EXPECT_EQ(Says("export async function main() { const all = await Promise.all(Array.from("
                 "{ length: 1000 }, async () => Number(await (await fetch('http://a/held')).text())"
                 ")); return [all.length, all.every((v, i) => v === i)] }"),
            "[1000,true]");
  EXPECT_EQ(Says("export async function main() { for (let i = 0; i < 10001; i++) "
                 "await Promise.race([fetch('http://a/never'), 0]) }"),
            "threw: RangeError: 10000 requests wait already: await some first");
}

TEST_F(WebTest, FetchIsAborted) {
  EXPECT_EQ(Says("export async function main() { const c = new AbortController(); "
                 "setTimeout(() => c.abort(), 1); try { await fetch('http://a/never', "
                 "{ signal: c.signal }) } catch (e) { return [e.name, c.signal.aborted] } }"),
            R"(["AbortError",true])");
  EXPECT_EQ(Says("export async function main() { try { await fetch('http://a/never', "
                 "{ signal: AbortSignal.timeout(1) }) } catch (e) { return e.name } }"),
            "\"TimeoutError\"");
  EXPECT_EQ(Value("fetch('http://a/x', { signal: AbortSignal.abort('why') })"),
            "threw: threw \"why\"");
}

TEST_F(WebTest, GlobalsCanBeReplaced) {
  EXPECT_EQ(Says("globalThis.fetch = () => 5; export function main() { return fetch() }"), "5");
  EXPECT_EQ(Says("globalThis.URLSearchParams = 0; export async function main() { return "
                 "(await fetch('http://a/x', { method: 'POST', body: { toString: () => 't' } }))"
                 ".text() }"),
            "\"POST http://a/x t\"");
}

// ---- URLs ----

TEST_F(WebTest, UrlsAreParsed) {
  const std::map<std::string, std::string> cases = {
      {"HTTP://User:Pa%20ss@ExAmple.test:80/a/../b/./c?q=1#f",
       "http://User:Pa%20ss@example.test/b/c?q=1#f"},
      {"https://a", "https://a/"},
      {"https://a:443/", "https://a/"},
      {"https://a:8443?x", "https://a:8443/?x"},
      {"http:\\\\a\\b\\..\\c", "http://a/c"},
      {" http://a/ é\n", "http://a/%20%C3%A9"},
      {"http://a/%2e%2E/b/%zz", "http://a/b/%zz"},
      {"http://[::1]:3/x", "http://[::1]:3/x"},
      {"http://a?b'c\"<>", "http://a/?b%27c%22%3C%3E"},
      {"mailto:x@y", "mailto:x@y"},
      {"data:text/plain,a b", "data:text/plain,a b"},
  };
  for (const auto& [from, to] : cases) {
    std::string quoted;
    for (const char c : from) {
      if (c == '\n') {
        quoted += "\\n";
        continue;
      }
      if (c == '\\' || c == '\'') quoted += '\\';
      quoted += c;
    }
    EXPECT_EQ(Value("new URL('" + quoted + "').href === " + "'" +
                    to + "' || new URL('" + quoted + "').href"),
              "true")
        << from;
  }
  for (const std::string bad : {"", "x", "/a", "http://", "http://a b/", "http://a:99999/",
                                "http://[x", "http://a<b"}) {
    EXPECT_EQ(Value("URL.canParse('" + bad + "')"), "false") << bad;
  }
}

TEST_F(WebTest, UrlsAreRelativeToABase) {
  const std::map<std::string, std::string> cases = {
      {"e", "http://a/b/c/e"},   {"../e", "http://a/b/e"}, {"/e", "http://a/e"},
      {"//e/f", "http://e/f"},   {"?e", "http://a/b/c/d?e"}, {"#e", "http://a/b/c/d?q#e"},
      {"", "http://a/b/c/d?q"},  {"..", "http://a/b/"},    {"../../../e", "http://a/e"},
      {"https://x/y", "https://x/y"},
  };
  for (const auto& [from, to] : cases) {
    EXPECT_EQ(Value("new URL('" + from + "', 'http://a/b/c/d?q#f').href"), "\"" + to + "\"");
  }
}

TEST_F(WebTest, UrlsAndTheirParametersChangeTogether) {
  EXPECT_EQ(Says("export function main() { const u = new URL('http://a/b?x=1&y=%20+&x=2'); "
                 "const p = u.searchParams; const was = [p.get('x'), p.getAll('x'), p.get('y'), "
                 "p.has('z'), p.size]; p.set('x', 'é'); p.append('z', '&='); p.delete('y'); "
                 "u.hash = 'h'; u.port = '81'; u.pathname = 'c d'; u.hostname = 'e'; "
                 "return [...was, u.href, u.host, u.origin, JSON.stringify({ u })] }"),
            R"(["1",["1","2"],"  ",false,3,"http://e:81/c%20d?x=%C3%A9&z=%26%3D#h","e:81",)"
            R"("http://e:81","{\"u\":\"http://e:81/c%20d?x=%C3%A9&z=%26%3D#h\"}"])");
  EXPECT_EQ(Value("[...new URLSearchParams([['a', 1], ['b', 2]])].join(';') + "
                  "new URLSearchParams('?c=d')"),
            "\"a,1;b,2c=d\"");
}

// ---- The rest ----

TEST_F(WebTest, TextsAndBytes) {
  EXPECT_EQ(Value("[...new TextEncoder().encode('é\\ud800')]"), "[195,169,239,191,189]");
  EXPECT_EQ(Value("new TextDecoder().decode(new Uint8Array([239, 187, 191, 195, 169, 255]))"),
            "\"é\xEF\xBF\xBD\"");
  EXPECT_EQ(Value("new TextDecoder('utf-8', { fatal: true }).decode(new Uint8Array([255]))"),
            "threw: TypeError: the bytes are no UTF-8");
  EXPECT_EQ(Value("new TextDecoder('latin1')"),
            "threw: RangeError: TextDecoder knows utf-8 only, not 'latin1'");
  EXPECT_EQ(Value("[btoa('hi?'), atob('aGk/')]"), R"(["aGk/","hi?"])");
  EXPECT_EQ(Value("new TextEncoder().encodeInto('aé', new Uint8Array(2))"),
            R"({"read":1,"written":1})");
}

TEST_F(WebTest, RandomnessAndCopies) {
  EXPECT_EQ(Value("/^[0-9a-f]{8}-[0-9a-f]{4}-4[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}$/"
                  ".test(crypto.randomUUID()) && crypto.randomUUID() !== crypto.randomUUID()"),
            "true");
  EXPECT_EQ(Value("crypto.getRandomValues(new Uint8Array(64)).some((v) => v > 0)"), "true");
  EXPECT_EQ(Value("crypto.getRandomValues(new Uint8Array(70000))"),
            "threw: RangeError: at most 65536 random bytes at once");
  EXPECT_EQ(Says("export function main() { const a = { d: new Date(0), m: new Map([[1, [2]]]) }; "
                 "a.self = a; const b = structuredClone(a); return [b !== a, b.self === b, "
                 "b.d.getTime(), [...b.m]] }"),
            "[true,true,0,[[1,[2]]]]");
}

}  // namespace
}  // namespace weir::script
