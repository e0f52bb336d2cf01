#include "weir/script/engine.h"

#include <condition_variable>
#include <mutex>
#include <string>
#include <thread>
#include <vector>

#include "weir/sys/process.h"

namespace weir::script {
namespace {

using std::chrono::milliseconds;

// Answers ".../wait" when Answer() is called, anything else at once with what was asked.
class TestHost final : public Host {
 public:
  void Fetch(Request request, Reply reply) override {
    const std::lock_guard lock(mutex_);
    if (request.url.ends_with("/wait")) {
      waiting_.push_back(std::move(reply));
      changed_.notify_all();
      return;
    }
    Response response;
    response.body = request.method + " " + request.url;
    if (request.url.ends_with("/large")) response.body = std::string(8 << 20, 'x');
    reply.Give(std::move(response));
  }
  void Log(Level, std::string_view) override {}
  void WaitForRequests(size_t count) {
    std::unique_lock lock(mutex_);
    changed_.wait(lock, [&] { return waiting_.size() >= count; });
  }
  // Answers all that wait, the last first.
  void Answer() {
    const std::lock_guard lock(mutex_);
    for (size_t at = waiting_.size(); at > 0; --at) {
      Response response;
      response.body = std::to_string(at - 1);
      waiting_[at - 1].Give(std::move(response));
    }
  }
  bool wanted() {
    const std::lock_guard lock(mutex_);
    return waiting_.at(0).wanted();
  }

 private:
  std::mutex mutex_;
  std::condition_variable changed_;
  std::vector<Reply> waiting_;
};

#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
constexpr bool kSlow = true;
#else
constexpr bool kSlow = false;
#endif

class EngineTest : public testing::Test {
 protected:
  EngineTest() { limits_.wall_time = std::chrono::seconds(60); }

  Outcome Run(const std::string& text, std::string_view arguments = "{}") {
    auto outcome = engine_.Run({"job.ts", text}, arguments, limits_, host_, stop_);
    EXPECT_TRUE(outcome.ok()) << outcome.error().message;
    return outcome.ok() ? std::move(outcome).value() : Outcome();
  }
  // The result of a script, or what it failed with.
  std::string Says(const std::string& text, std::string_view arguments = "{}") {
    const Outcome outcome = Run(text, arguments);
    if (outcome.end == End::kReturned) return outcome.result;
    return std::string(EndName(outcome.end)) + ": " + outcome.message;
  }
  // The value of an expression, which may await.
  std::string Value(const std::string& expression) {
    return Says("export async function main() { return " + expression + " }");
  }
  // Runs what never ends, with a limit of time of each kind; both must end it at once.
  void ExpectStopped(const std::string& body) {
    SCOPED_TRACE(body);
    limits_.cpu_time = milliseconds(100);
    ExpectEnd(body, End::kCpuTime);
    limits_.cpu_time = sys::Duration(0);
    limits_.wall_time = milliseconds(100);
    ExpectEnd(body, End::kWallTime);
    limits_.wall_time = std::chrono::seconds(60);
  }
  void ExpectEnd(const std::string& body, End end) {
    const sys::Duration began = sys::ThreadCpuTime();
    const Outcome outcome = Run("export function main() { " + body + " }");
    EXPECT_EQ(EndName(outcome.end), EndName(end)) << outcome.message << outcome.result;
    EXPECT_EQ(outcome.result, "");
    EXPECT_LT(sys::Millis(sys::ThreadCpuTime() - began), most_millis_);
  }
  // The text once after another, more often than any stack holds.
  static std::string Deep(const std::string& text) {
    std::string all;
    while (all.size() < (kSlow ? 20'000 : 100'000)) all += text;
    return all;
  }
  // The limit of 100 ms and 50 more, doubled for what runs beside; sanitizers take many times as
  // long for everything.
  int64_t most_millis_ = kSlow ? 10'000 : 200;
  sys::Duration most_time_ = std::chrono::milliseconds(kSlow ? 60'000 : 2000);
  Engine engine_;
  TestHost host_;
  sys::Stop stop_;
  Limits limits_;
};

// ---- Arguments and results ----

TEST_F(EngineTest, ParametersAreNamedInTheArguments) {
  const std::string_view arguments = R"({"x":1,"y":"two","toString":3})";
  EXPECT_EQ(Says("export async function main(x, y) { return [x, y] }", arguments), "[1,\"two\"]");
  EXPECT_EQ(Says("export function main(y, x) { return [x, y] }", arguments), "[1,\"two\"]");
  EXPECT_EQ(Says("export const main = (y) => y", arguments), "\"two\"");
  EXPECT_EQ(Says("export const main = async y => y", arguments), "\"two\"");
  EXPECT_EQ(Says("export const main = async (y) => y", arguments), "\"two\"");
  EXPECT_EQ(Says("const f = function(y) { return y }; export { f as main }", arguments), "\"two\"");
  EXPECT_EQ(Says("export function main(z = 5, y) { return [z, y] }", arguments), "[5,\"two\"]");
  EXPECT_EQ(Says("export function main(z) { return z === undefined }", arguments), "true");
  EXPECT_EQ(Says("export function main(toString) { return toString }", arguments), "3");
  EXPECT_EQ(Says("export function main(hasOwnProperty) { return typeof hasOwnProperty }"),
            "\"undefined\"");
  EXPECT_EQ(Says("export function main({ x, y }) { return x + y }", arguments), "\"1two\"");
  EXPECT_EQ(Says("export function main() { return arguments.length }", arguments), "0");
}

TEST_F(EngineTest, ParametersWithDefaultsOfAnyKindAreRead) {
  EXPECT_EQ(Says("export function main(a = ')', b = `}${[1, '}'].map((v) => v)})`, c = /[)/]/, "
                 "d = { e: [1, (2)] } /* , f */, // g\n x) { return x }",
                 R"({"x":7})"),
            "7");
  EXPECT_EQ(Says("export function main(...rest) {}"),
            "no_main: parameter 1 of main is a rest parameter, which no argument's name fits; "
            "give each parameter a name");
}

TEST_F(EngineTest, ArgumentsOfAnyShapeArrive) {
  EXPECT_EQ(Says("export function main(s) { return s }", R"({"s":"é日𝄞\u0000\ud800"})"),
            R"("é日𝄞\u0000\ud800")");
  EXPECT_EQ(Says("export function main(x) { return [({}).polluted, x] }",
                 R"({"x":1,"__proto__":{"polluted":true}})"),
            "[null,1]");
  const std::string nested = std::string(500, '[') + std::string(500, ']');
  EXPECT_EQ(Says("export function main(x) { return x }", "{\"x\":" + nested + "}"), nested);
}

TEST_F(EngineTest, ArgumentsThatAreNoneAreRefused) {
  const std::string huge(1'000'000, '[');
  for (const std::string& bad :
       {std::string(""), std::string("{"), std::string("[]"), std::string("5"), std::string("null"),
        std::string("{}\0", 3), std::string("{\"x\":\"\xFF\"}"), std::string("{'x':1}"),
        std::string("{\"x\":1}}"), "{\"x\":" + huge + "}"}) {
    const auto outcome = engine_.Run({"job.ts", "export function main() {}"}, bad, limits_, host_,
                                     stop_);
    ASSERT_FALSE(outcome.ok()) << bad.substr(0, 20);
    EXPECT_EQ(outcome.error().code, Code::kInvalid);
    EXPECT_NE(outcome.error().message.find("script 'job.ts': its arguments are no"),
              std::string::npos)
        << outcome.error().message;
  }
}

TEST_F(EngineTest, ScriptsAndLimitsThatCannotRunAreRefused) {
  const auto refused = [&](const Script& script, const Limits& limits) {
    const auto outcome = engine_.Run(script, "{}", limits, host_, stop_);
    return !outcome.ok() && outcome.error().code == Code::kInvalid;
  };
  EXPECT_TRUE(refused({"a.ts", "\xC3"}, limits_));
  EXPECT_TRUE(refused({std::string("a\0b", 3), ""}, limits_));
  EXPECT_TRUE(refused({"a.ts", std::string(kMaxScriptBytes + 1, ' ')}, limits_));
  Limits wrong;
  wrong.memory_bytes = kMinMemoryBytes - 1;
  EXPECT_TRUE(refused({"a.ts", ""}, wrong));
  wrong = Limits();
  wrong.stack_bytes = kMaxStackBytes + 1;
  EXPECT_TRUE(refused({"a.ts", ""}, wrong));
}

TEST_F(EngineTest, ResultsAreJson) {
  EXPECT_EQ(Value("undefined"), "null");
  EXPECT_EQ(Value("(() => {})"), "null");
  EXPECT_EQ(Value("NaN"), "null");
  EXPECT_EQ(Value("'\\ud800'"), R"("\ud800")");
  EXPECT_EQ(Value("new Date(0)"), "\"1970-01-01T00:00:00.000Z\"");
  EXPECT_EQ(Value("({ then: (keep) => keep(4) })"), "4");
  EXPECT_EQ(Says("export function main() { return { then: (keep) => keep(4) } }"), "4");
  EXPECT_EQ(Says("export function main() { return Promise.resolve([1]) }"), "[1]");
}

TEST_F(EngineTest, ResultsThatJsonCannotSayAreFailures) {
  EXPECT_EQ(Says("export function main() { const a = {}; a.a = a; return a }"),
            "not_json: what main returned cannot be said in JSON: TypeError: circular reference");
  EXPECT_EQ(Run("export function main() { return 1n }").end, End::kNotJson);
  EXPECT_EQ(Says("export function main() { return { toJSON() { throw new Error('no') } } }"),
            "not_json: what main returned cannot be said in JSON: Error: no");
  limits_.result_bytes = 10;
  EXPECT_EQ(Value("'12345678'"), "\"12345678\"");
  EXPECT_EQ(Value("'123456789'"),
            "result_too_large: what main returned is 11 bytes of JSON; at most 10");
}

// ---- Failures ----

TEST_F(EngineTest, ThrownValuesAreTold) {
  const auto thrown = [&](const std::string& value) {
    return Says("export function main() { throw " + value + " }");
  };
  EXPECT_EQ(thrown("new TypeError('x is y')"), "threw: TypeError: x is y");
  EXPECT_EQ(thrown("new Error()"), "threw: Error");
  EXPECT_EQ(thrown("'text'"), "threw: threw \"text\"");
  EXPECT_EQ(thrown("null"), "threw: threw null");
  EXPECT_EQ(thrown("undefined"), "threw: threw undefined");
  EXPECT_EQ(thrown("{ code: 5 }"), "threw: threw {\"code\":5}");
  EXPECT_EQ(thrown("Symbol('s')"), "threw: threw a value that has no text");
  EXPECT_EQ(thrown("{ toJSON() { throw 1 }, toString() { throw 2 } }"),
            "threw: threw a value that has no text");
  EXPECT_EQ(thrown("new Error('m'.repeat(1e6))").size(), 4096U + std::string("threw: ").size());
}

TEST_F(EngineTest, LinesOfAFailureAreTheScripts) {
  const Outcome outcome = Run("const a = 1;\nfunction deep() {\n  throw new Error('here');\n}\n"
                              "export function main() {\n  deep();\n}\n");
  EXPECT_EQ(outcome.message, "Error: here");
  EXPECT_EQ(outcome.stack, "    at deep (job.ts:3:13)\n    at main (job.ts:6:3)");
}

TEST_F(EngineTest, LinesGoThroughTheSourceMap) {
  // Maps line 1 column 1 to 11:3, and line 2 column 5 on to 21:1.
  const Outcome outcome = Run(
      "export function main() {\n    throw new Error('here') }\n"
      "//# sourceMappingURL=data:application/json;base64,"
      "eyJ2ZXJzaW9uIjozLCJtYXBwaW5ncyI6IkFBVUU7SUFVRiJ9\n");
  EXPECT_EQ(outcome.stack, "    at main (job.ts:21:1)");
}

TEST_F(EngineTest, FailuresOfEachKindAreTold) {
  EXPECT_EQ(Run("export function main( {").end, End::kSyntax);
  EXPECT_NE(Run("let a = 1;\nlet b = ;\n").stack.find("job.ts:2:"), std::string::npos);
  EXPECT_EQ(Says("import fs from 'fs'; export function main() {}"),
            "syntax: TypeError: cannot import 'fs': a script has no modules but itself");
  EXPECT_EQ(Says("export async function main() { await import('fs') }"),
            "threw: TypeError: cannot import 'fs': a script has no modules but itself");
  EXPECT_EQ(Run("export const x = 1").end, End::kNoMain);
  EXPECT_EQ(Run("export const main = 1").end, End::kNoMain);
  EXPECT_EQ(Run("").end, End::kNoMain);
  EXPECT_EQ(Says("throw new Error('top')"), "threw: Error: top");
  EXPECT_EQ(Says("await Promise.reject(new Error('top'))"), "threw: Error: top");
  EXPECT_EQ(Says("export async function main() { throw new Error('late') }"), "threw: Error: late");
  EXPECT_EQ(Says("export function main() { return Promise.reject(3) }"), "threw: threw 3");
  EXPECT_EQ(Says("export async function main() { setTimeout(() => { throw new Error('t') }, 1);"
                 "await new Promise(() => {}) }"),
            "threw: Error: t");
}

TEST_F(EngineTest, WhatNeverComesIsNotWaitedFor) {
  const std::string want =
      "stuck: the script waits for something that never comes: no timer and no request is left";
  EXPECT_EQ(Says("export async function main() { await new Promise(() => {}) }"), want);
  EXPECT_EQ(Says("await new Promise(() => {}); export function main() {}"), want);
  EXPECT_EQ(Says("export function main() { return { then() {} } }"), want);
}

TEST_F(EngineTest, MemoryIsBounded) {
  limits_.memory_bytes = 8 << 20;
  const std::string want = "out_of_memory: the script needs more memory than 8388608 bytes";
  EXPECT_EQ(Says("export function main() { const a = []; while (true) a.push({}) }"), want);
  EXPECT_EQ(Says("export function main() { let s = 'xy'; while (true) s = [s, s].join() }"),
            want);
  EXPECT_EQ(Says("export function main() { return new Uint8Array(9e6) }"), want);
  EXPECT_EQ(Says("export function main(x) { return x.length }",
                 "{\"x\":\"" + std::string(9'000'000, 'x') + "\"}"),
            want);
  EXPECT_EQ(Says("const a = []; export async function main() { while (true) {"
                 "  a.push(await (await fetch('http://127.0.0.1/large')).text()) } }"),
            want);
  EXPECT_EQ(Value("new Uint8Array(4e6).length"), "4000000");
  const Outcome caught = Run("export function main() { const a = []; try { while (true) "
                             "a.push({}) } catch { a.length = 0 } return 'went on' }");
  EXPECT_EQ(caught.result, "\"went on\"");
  EXPECT_LE(caught.peak_memory_bytes, 9 << 20);
  EXPECT_GT(caught.peak_memory_bytes, 6 << 20);
}

TEST_F(EngineTest, CallsAreBounded) {
  const std::string want = "stack_overflow: ";
  EXPECT_TRUE(Says("export function main() { return main() }").starts_with(want));
  EXPECT_TRUE(Says("export function main() { let a = []; for (let i = 0; i < 1e5; i++) a = [a]; "
                   "return JSON.stringify(a) }")
                  .starts_with(want));
  EXPECT_EQ(Says("function f(n) { return n == 0 ? 0 : 1 + f(n - 1) }"
                 "export function main() { return f(100) }"),
            "100");
}

// Whatever nests deeply ends in an outcome: the engine recurses in C over all of these.
TEST_F(EngineTest, DeepTextsAreNoCrash) {
  limits_.cpu_time = std::chrono::seconds(1);
  for (const std::string part :
       {"(", "[", "{", "!", "-", "a=>", "{a:", "`${", "[...", "f(", "new ", "async()=>", "if(1)",
        "x?", "a.", "class A extends ", "function f(){", "await ", "typeof ", "for(;;)", "a:",
        "let [", "a**", "a ?? (", "yield ", "import(", "/(", "a,", "a+", "a=", "try{", "do ",
        "@"}) {
    const auto outcome = engine_.Run({"job.ts", "let v = " + Deep(part)}, "{}", limits_, host_,
                                     stop_);
    EXPECT_TRUE(outcome.ok() && outcome.value().end != End::kReturned) << part;
    EXPECT_FALSE(engine_.Check({"job.ts", Deep(part)}).ok()) << part;
  }
}

TEST_F(EngineTest, DeepExpressionsAreNoCrash) {
  limits_.cpu_time = std::chrono::seconds(1);
  for (const std::string part :
       {"(", "(?:", "[", "(?=", "a|", "(a*)*", "(?<n>", "\\\\1", "a{1,9}?"}) {
    for (const std::string end : {"", "` + ')'.repeat(1e5) + `"}) {
      const Outcome outcome = Run("export function main() { return new RegExp(`" + Deep(part) +
                                  end + "`).test('aaaa') }");
      EXPECT_LT(outcome.cpu_time, most_time_) << part << outcome.message;
    }
  }
}

TEST_F(EngineTest, DeepValuesAreNoCrash) {
  limits_.cpu_time = std::chrono::seconds(1);
  for (const std::string body :
       {"let f = null; for (let i = 0; i < 3e5; i++) { const g = f; f = () => g } f = null",
        "let a = []; for (let i = 0; i < 3e5; i++) a = [a]; a = null",
        "let a = []; for (let i = 0; i < 3e5; i++) a = [a]; return a.flat(Infinity).length",
        "let a = {}; for (let i = 0; i < 3e5; i++) a = new Proxy(a, {}); return a.x",
        "let a = {}; for (let i = 0; i < 3e5; i++) a = Object.create(a); return a.x",
        "let a = () => 1; for (let i = 0; i < 3e5; i++) a = a.bind(null); return a()",
        "let a = ''; for (let i = 0; i < 1e6; i++) a = 'x' + a + 'y'; return a.charAt(5)",
        "let a = new Map(); for (let i = 0; i < 1e5; i++) a = new Map([[a, a]]); a = null",
        "let a = Promise.resolve(); for (let i = 0; i < 1e5; i++) a = Promise.resolve(a)"
        ".then(() => a); return a",
        "function* g(a) { if (a) yield* a; yield 1 } let a = null; "
        "for (let i = 0; i < 1e5; i++) a = g(a); return a.next().value",
        "let e = null; for (let i = 0; i < 1e5; i++) e = new Error('x', { cause: e }); throw e",
        "const a = {}; a.toString = () => `${a}`; return `${a}`",
        "const a = []; a[0] = a; return a.join()",
        "let s = 'v'; for (let i = 0; i < 1e5; i++) s = `[${s}]`; return JSON.parse(s)",
        "return eval('('.repeat(3e5))", "return new Function('a'.repeat(3e5), '{'.repeat(3e5))",
        "let a = []; for (let i = 0; i < 1e5; i++) a = [a]; return structuredClone(a)",
        "let a = []; for (let i = 0; i < 1e5; i++) a = [a]; console.log(a)"}) {
    const Outcome outcome = Run("export function main() { " + body + " }");
    EXPECT_LT(outcome.cpu_time, most_time_) << body;
  }
}

TEST_F(EngineTest, HugeValuesAreBounded) {
  limits_.cpu_time = std::chrono::seconds(1);
  for (const std::string body :
       {"return 'x'.padEnd(1e9)", "return 'x'.repeat(2 ** 30)",
        "return new Array(2 ** 32 - 1).join()", "return (2n ** 131000n).toString()",
        "return (2n ** 1000000n).toString()", "let a = 1n; while (true) a = a * a + 3n",
        "return [].concat(...Array(1e6).fill([1]))", "return Math.max(...Array(1e6))",
        "return String.fromCharCode.apply(null, { length: 1e7 })"}) {
    const Outcome outcome = Run("export function main() { " + body + " }");
    EXPECT_LT(outcome.cpu_time, most_time_) << body;
  }
}

TEST_F(EngineTest, EndlessLoopsAreStopped) {
  ExpectStopped("while (true) {}");
  ExpectStopped("try { while (true) {} } finally { while (true) {} }");
  ExpectStopped("while (true) { try { while (true) {} } catch { } }");
  ExpectStopped("const f = () => Promise.resolve().then(f); return f()");
  ExpectStopped("return (async () => { while (true) await 0 })()");
  ExpectStopped("return { toJSON() { while (true) {} } }");
  ExpectStopped("throw { get message() { while (true) {} }, toString() { while (true) {} } }");
  ExpectStopped("const e = new Error('x'); Object.defineProperty(e, 'message', "
                "{ get() { while (true) {} } }); throw e");
  ExpectStopped("const f = () => setTimeout(f, 0); f(); return new Promise(() => {})");
}

TEST_F(EngineTest, LongWorkInsideTheEngineIsStopped) {
  if (!kSlow) most_millis_ = 300;  // Making long strings takes its time too.
  ExpectStopped("return /^(a+)+$/.test('a'.repeat(100) + 'b')");
  ExpectStopped("return Array.prototype.includes.call({ length: 2 ** 53 - 1 }, 1)");
  ExpectStopped("return Array.prototype.indexOf.call({ length: 2 ** 53 - 1 }, 1)");
  ExpectStopped("return 'a'.repeat(2e7).indexOf('a'.repeat(1e7) + 'b')");
  ExpectStopped("return 'a'.repeat(2e7).includes('a'.repeat(1e7) + 'b')");
  ExpectStopped("const t = JSON.stringify(Array(1e5).fill({ a: [1] }));"
                "while (true) JSON.parse(t)");
  ExpectStopped("const v = Array(1e5).fill({ a: [1] }); while (true) JSON.stringify(v)");
  ExpectStopped("const v = ['a'.repeat(4e6) + 'b', 'a'.repeat(4e6) + 'c'];"
                "while (true) Array(1e4).fill(0).map((_, i) => v[i % 2]).sort()");
  ExpectStopped("return '\u3042'.repeat(6e6).indexOf('\u3042'.repeat(3e6) + 'b')");
  ExpectStopped("return '\u3042'.repeat(6e6).lastIndexOf('\u3042'.repeat(3e6) + 'b')");
  ExpectStopped("return '\u3042'.repeat(6e6).replaceAll('\u3042'.repeat(3e6) + 'b', 'x')");
  ExpectStopped("while (true) Array.from({ length: 1e5 }, Math.random).sort()");
}

TEST_F(EngineTest, LongCompilingIsStopped) {
  if (!kSlow) most_millis_ = 300;
  limits_.cpu_time = milliseconds(100);
  std::string globals;
  std::string exports;
  std::string locals = "function f() {";
  std::string fields = "class A {";
  for (int at = 0; at < 60'000; ++at) {
    globals += fmt::format("let a{} = 1;\n", at);
    exports += fmt::format("export let a{} = 1;\n", at);
    locals += fmt::format("let a{} = 1; (() => a{});\n", at, at);
    fields += fmt::format("#a{};\n", at);
  }
  for (const std::string& text : {globals, exports, locals + "}", fields + "}"}) {
    const sys::Duration began = sys::ThreadCpuTime();
    const Outcome outcome = Run(text);
    EXPECT_EQ(EndName(outcome.end), "cpu_time") << outcome.message;
    EXPECT_LT(sys::Millis(sys::ThreadCpuTime() - began), most_millis_) << text.substr(0, 30);
  }
  ExpectStopped("eval(Array.from({ length: 6e4 }, (_, i) => `let a${i}=1;(()=>a${i});`).join(''))");
}

TEST_F(EngineTest, AStopIsObeyedWhileRunningAndWhileWaiting) {
  for (const std::string body : {"while (true) {}", "await fetch('http://127.0.0.1/wait')",
                                 "await new Promise((keep) => setTimeout(keep, 1e8))"}) {
    SCOPED_TRACE(body);
    sys::Stop stop;
    TestHost host;
    std::thread asker([&] {
      host.WaitForRequests(1);
      stop.Ask();
    });
    const auto outcome =
        engine_.Run({"job.ts", "export async function main() { fetch('http://127.0.0.1/wait'); " +
                                   body + " }"},
                    "{}", limits_, host, stop);
    asker.join();
    ASSERT_FALSE(outcome.ok());
    EXPECT_EQ(outcome.error().code, Code::kCancelled);
    EXPECT_FALSE(host.wanted());
    host.Answer();  // Too late, and harmless.
  }
}

TEST_F(EngineTest, ADeadlineEndsAWait) {
  limits_.wall_time = milliseconds(20);
  EXPECT_EQ(Says("export async function main() { await fetch('http://127.0.0.1/wait') }"),
            "wall_time: the script ran for longer than 20 ms");
  EXPECT_EQ(Says("export async function main() { await new Promise((k) => setTimeout(k, 1e8)) }"),
            "wall_time: the script ran for longer than 20 ms");
}

// ---- Worlds ----

TEST_F(EngineTest, NothingReachesTheNextJob) {
  EXPECT_EQ(Says("Object.prototype.dirty = 1; globalThis.dirty = 1; Array.prototype.map = 0;"
                 "JSON.parse = () => 0; globalThis.fetch = 0; Promise.prototype.then = 0;"
                 "export function main() { return dirty }"),
            "1");
  EXPECT_EQ(Value("[({}).dirty, typeof dirty, [1].map((v) => v), JSON.parse('2'), typeof fetch]"),
            "[null,\"undefined\",[1],2,\"function\"]");
}

TEST_F(EngineTest, NoDoorLeadsOutside) {
  EXPECT_EQ(Value("[typeof process, typeof require, typeof os, typeof std, typeof Deno, "
                  "typeof bjson, typeof print, typeof load, typeof Worker, typeof native]"),
            "[\"undefined\",\"undefined\",\"undefined\",\"undefined\",\"undefined\",\"undefined\","
            "\"undefined\",\"undefined\",\"undefined\",\"undefined\"]");
  EXPECT_EQ(Says("export function main() { Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), "
                 "0, 0) }")
                .substr(0, 17),
            "threw: TypeError:");
}

TEST_F(EngineTest, TheSameScriptRunsAgainFromItsCode) {
  const std::string text = "let n = 0; export function main(x) { n += x; return n }";
  for (int at = 1; at <= 3; ++at) {
    EXPECT_EQ(Says(text, fmt::format("{{\"x\":{}}}", at)), std::to_string(at));
  }
  const Outcome failed = Run("export function main() {\n  throw new Error('x') }");
  EXPECT_EQ(Run("export function main() {\n  throw new Error('x') }").stack, failed.stack);
}

TEST_F(EngineTest, MemoryOfEndedWorldsIsGivenBack) {
  const std::string text =
      "const a = []; export async function main() { for (let i = 0; i < 1e4; i++) a.push({ a, i });"
      "const r = await fetch('http://127.0.0.1/x'); setTimeout(() => {}, 1e6);"
      "fetch('http://127.0.0.1/wait'); return (await r.text()).length }";
  for (int at = 0; at < 20; ++at) EXPECT_EQ(Says(text), "22");
  const int64_t before = sys::ReadProcessUsage().rss_bytes;
  for (int at = 0; at < 100; ++at) EXPECT_EQ(Says(text), "22");
  if (!kSlow) {
    EXPECT_LT(sys::ReadProcessUsage().rss_bytes - before, 20 << 20);
  }
}

TEST_F(EngineTest, ManyRunAtOnce) {
  std::vector<std::thread> threads;
  for (int thread = 0; thread < 4; ++thread) {
    threads.emplace_back([&, thread] {
      TestHost host;
      for (int at = 0; at < 50; ++at) {
        const auto outcome = engine_.Run(
            {"job.ts", "globalThis.n = (globalThis.n ?? 0) + 1; export async function main(x) { "
                       "await (await fetch('http://127.0.0.1/x')).text(); return x + n }"},
            fmt::format("{{\"x\":{}}}", thread * 1000 + at), limits_, host, stop_);
        ASSERT_TRUE(outcome.ok());
        EXPECT_EQ(outcome.value().result, std::to_string(thread * 1000 + at + 1));
      }
    });
  }
  for (std::thread& thread : threads) thread.join();
}

TEST_F(EngineTest, CheckCompilesOnly) {
  EXPECT_TRUE(engine_.Check({"a.ts", "throw 1; export const x = 1"}).ok());
  const Status bad = engine_.Check({"a.ts", "let x = 1;\nlet x = 2;"});
  ASSERT_FALSE(bad.ok());
  EXPECT_EQ(bad.error().code, Code::kInvalid);
  EXPECT_NE(bad.error().message.find("a.ts:2:"), std::string::npos) << bad.error().message;
}

}  // namespace
}  // namespace weir::script
