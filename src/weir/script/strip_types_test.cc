#include "weir/script/strip_types.h"

#include <sys/stat.h>

#include <algorithm>
#include <array>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <string>
#include <vector>

#include "tests/support/folder.h"
#include "tests/support/program.h"
#include "weir/script/engine.h"

namespace weir::script {
namespace {

namespace fs = std::filesystem;

class NoHost final : public Host {
 public:
  void Fetch(Request, Reply) override {}
  void Log(Level, std::string_view) override {}
};

TypeStripper Stripper() {
  auto found = TypeStripper::BesideThisProgram();
  EXPECT_TRUE(found.ok()) << found.error().message;
  return std::move(found).value();
}

std::string ReadFile(const std::string& path) {
  std::ifstream file(path, std::ios::binary);
  return {std::istreambuf_iterator<char>(file), {}};
}

std::string RunJavaScript(const std::string& text) {
  Engine engine;
  NoHost host;
  const sys::Stop stop;
  Limits limits;
  limits.wall_time = std::chrono::seconds(20);
  const auto outcome = engine.Run({"job.ts", text}, R"({"x":"arg"})", limits, host, stop);
  EXPECT_TRUE(outcome.ok()) << outcome.error().message;
  if (!outcome.ok()) return "";
  if (outcome.value().end == End::kReturned) return outcome.value().result;
  return outcome.value().message + "\n" + outcome.value().stack;
}

std::string RunTypeScript(const std::string& text) {
  const auto made = Stripper().ToJavaScript(text, "job.ts");
  EXPECT_TRUE(made.ok()) << made.error().message;
  return made.ok() ? RunJavaScript(made.value()) : "";
}

// One text a kind of syntax that is TypeScript's own, each with a main whose result tells it.
const std::vector<std::string>& Syntax() {
  static const std::vector<std::string> texts = {
      "export async function main(x: string, n: number = 3): Promise<string> { return x + n }",
      "interface A { a: number; b?: string }\ntype B = A | null;\n"
      "export function main() { const v: B = { a: 1 } satisfies A as A; return v!.a }",
      "enum Color { Red, Green = 5, Blue, Text = 'x' }\n"
      "export function main() { return [Color.Blue, Color[5], Color.Text, Object.keys(Color)] }",
      "const enum Bit { A = 1 << 0, B = 1 << 1, AB = A | B }\n"
      "export function main() { return [Bit.AB, Bit.A] }",
      "namespace Outer { export const one = 1; export namespace Inner { export function two() "
      "{ return one + 1 } } }\nexport function main() { return Outer.Inner.two() }",
      "namespace N { export let a = 1 } namespace N { export const b = a + 1 }\n"
      "export function main() { N.a = 5; return [N.a, N.b] }",
      "class P { constructor(private readonly a: number, public b = 'b', protected c?: string) {} "
      "sum() { return `${this.a}${this.b}${this.c}` } }\n"
      "export function main() { const p = new P(1); return [p.sum(), JSON.stringify(p)] }",
      "abstract class Shape { abstract area(): number; name = 'shape'; static made = 0; "
      "declare kind: string; constructor() { Shape.made++ } }\n"
      "class Square extends Shape { override name = 'square'; constructor(readonly side: number) "
      "{ super() } area(): number { return this.side ** 2 } }\n"
      "export function main() { const s = new Square(3); return [s, s.area(), Shape.made] }",
      "function over(a: string): string; function over(a: number): number;\n"
      "function over(a: any): any { return a }\nexport function main() { return over(4) }",
      "export function main() { const id = <T,>(v: T): T => v; return id<number>(3) + "
      "(<any>'x') }",
      "class Box<T extends object = {}> { #hidden: T; constructor(v: T) { this.#hidden = v } "
      "get value(): T { return this.#hidden } static { (Box as any).ready = true } }\n"
      "export const main = () => [new Box({ a: 1 }).value, (Box as any).ready]",
      "function isText(v: unknown): v is string { return typeof v === 'string' }\n"
      "function must(v: unknown): asserts v is string { if (!isText(v)) throw new Error('no') }\n"
      "export function main(x: unknown) { must(x); return x.toUpperCase() }",
      "type Keys<T> = { [K in keyof T as `get${string & K}`]?: () => T[K] };\n"
      "export function main() { const k: Keys<{ a: 1 }> = { geta: () => 1 }; return k.geta?.() }",
      "declare const outside: number; declare function gone(): void; declare module 'm' {}\n"
      "declare global { interface Window { a: 1 } }\nexport function main() { return 'kept' }",
      "import type { A } from 'a'; import { type B } from 'b'; export type { C } from 'c';\n"
      "export function main(a?: A, b?: B) { return [a, b] }",
      "export function main(this: void, x: string, ) { let v: [a: number, b?: string] = [1]; "
      "return [v, x] as const }",
      "class L { accessor size: number = 3 }\n"
      "export function main() { const l = new L(); l.size++; return l.size }",
      "function twice(value: any, _: ClassMethodDecoratorContext) { return function (this: any) "
      "{ return value.call(this) * 2 } }\nclass D { @twice five() { return 5 } }\n"
      "export function main() { return new D().five() }",
      "export async function main() { const got: number[] = []; for await (const v of "
      "(async function* (): AsyncGenerator<number> { yield 1; yield 2 })()) got.push(v); "
      "return got }",
      "export function main(x: string) { const o = { x, n: null as null | { y?: number } }; "
      "return [o?.n?.y ?? 'none', x! + 1_000, 2n ** 3n === 8n] }",
      "let a!: number; a ||= 3; label: for (;;) { break label }\n"
      "export default 1; export const main = async (): Promise<number> => a;",
      "export function main() { const log: string[] = []; { using r = { [Symbol.dispose ?? "
      "Symbol.for('Symbol.dispose')]() { log.push('closed') } } as any; log.push('open') } "
      "return log }",
  };
  return texts;
}

// Files of real projects: rxjs, and the declarations of TypeScript's own library.
std::vector<std::string> RealFiles() {
  std::vector<std::string> files;
  for (const std::string folder : {"/rxjs-7.8.2/src", "/typescript-5.9.3/lib"}) {
    for (const auto& entry : fs::recursive_directory_iterator(WEIR_THIRD_PARTY + folder)) {
      if (entry.path().extension() == ".ts" && entry.file_size() <= kMaxTypescriptBytes) {
        files.push_back(entry.path());
      }
    }
  }
  std::sort(files.begin(), files.end());
  return files;
}

// What the judge makes of the texts in `files`, in their order.
std::vector<std::string> Judged(const test::TempFolder& folder,
                                const std::vector<std::string>& files) {
  std::string list;
  for (size_t at = 0; at < files.size(); ++at) {
    list += files[at] + "\t" + folder.Path("judged" + std::to_string(at) + ".js") + "\n";
  }
  const test::Ended ended =
      test::RunProgram({WEIR_NODE, WEIR_TYPESCRIPT_JUDGE, WEIR_THIRD_PARTY "/typescript-5.9.3",
                        folder.Write("list", list)});
  EXPECT_EQ(ended.code, 0) << ended.err;
  std::vector<std::string> texts;
  for (size_t at = 0; at < files.size(); ++at) {
    texts.push_back(folder.Read("judged" + std::to_string(at) + ".js"));
  }
  return texts;
}

// The texts without comments, blanks and parentheses, as one printer writes them: it keeps those
// around functions, which TypeScript adds.
std::vector<std::string> Normal(const std::vector<std::string>& texts) {
  const test::TempFolder folder;
  std::vector<std::string> argv = {WEIR_ESBUILD, "--minify-whitespace", "--format=esm",
                                   "--log-level=error", "--legal-comments=none",
                                   "--outdir=" + folder.Path("out")};
  for (size_t at = 0; at < texts.size(); ++at) {
    argv.push_back(folder.Write(std::to_string(at) + ".js", texts[at]));
  }
  const test::Ended ended = test::RunProgram(argv);
  EXPECT_EQ(ended.code, 0) << ended.err;
  std::vector<std::string> normal;
  for (size_t at = 0; at < texts.size(); ++at) {
    normal.push_back(folder.Read("out/" + std::to_string(at) + ".js"));
    std::erase_if(normal.back(), [](char c) { return c == '(' || c == ')'; });
  }
  return normal;
}

// True of a text with an enum, with a modifier that makes a property of a parameter, or with the
// export of CommonJS, which esbuild wraps.
bool IsToldApart(std::string_view text) {
  constexpr std::array kWords = {"enum ",      "private ",  "public ",
                                 "protected ", "readonly ", "export = "};
  return std::any_of(kWords.begin(), kWords.end(), [&](std::string_view word) {
    return text.find(word) != std::string_view::npos;
  });
}

// Goal:   real TypeScript becomes what its own compiler makes of it.
// Method: both outputs parse in the engine, and are the same but for comments, blanks and
//         parentheses, except in files that have what the two write differently.
TEST(StripTypes, AgreesWithTypeScriptOnRealFiles) {
  std::vector<std::string> files = RealFiles();
  ASSERT_GE(files.size(), 200U);
  if (std::getenv("WEIR_LONG") == nullptr) {
    std::vector<std::string> some;
    for (size_t at = 0; at < files.size(); at += 6) some.push_back(files[at]);
    files = some;
  }
  const test::TempFolder folder;
  const std::vector<std::string> judged = Judged(folder, files);
  const TypeStripper stripper = Stripper();
  Engine engine;
  std::vector<std::string> ours;
  for (size_t at = 0; at < files.size(); ++at) {
    const auto made = stripper.ToJavaScript(ReadFile(files[at]), files[at]);
    ASSERT_TRUE(made.ok()) << made.error().message;
    for (const std::string& text : {made.value(), judged[at]}) {
      const Status parses = engine.Check({files[at], text});
      // Imports are refused once the text is parsed.
      EXPECT_TRUE(parses.ok() || parses.error().message.find("cannot import") != std::string::npos)
          << parses.error().message;
    }
    ours.push_back(made.value());
  }
  const std::vector<std::string> normal_ours = Normal(ours);
  const std::vector<std::string> normal_judged = Normal(judged);
  size_t same = 0;
  for (size_t at = 0; at < files.size(); ++at) {
    same += normal_ours[at] == normal_judged[at] ? 1 : 0;
    if (normal_ours[at] == normal_judged[at]) continue;
    EXPECT_TRUE(IsToldApart(ReadFile(files[at])))
        << files[at] << "\n" << normal_ours[at] << "\n" << normal_judged[at];
  }
  EXPECT_GE(same * 10, files.size() * 8);
  RecordProperty("files", static_cast<int>(files.size()));
  RecordProperty("same", static_cast<int>(same));
}

// The same results, run: one text for each kind of syntax.
TEST(StripTypes, ProgramsBehaveAsTypeScriptHasIt) {
  const test::TempFolder folder;
  std::vector<std::string> files;
  for (const std::string& text : Syntax()) {
    files.push_back(folder.Write("text" + std::to_string(files.size()) + ".ts", text));
  }
  const std::vector<std::string> judged = Judged(folder, files);
  for (size_t at = 0; at < files.size(); ++at) {
    SCOPED_TRACE(Syntax()[at]);
    const std::string ours = RunTypeScript(Syntax()[at]);
    EXPECT_EQ(ours, RunJavaScript(judged[at]));
    EXPECT_TRUE(ours.find("Error") == std::string::npos) << ours;
  }
}

TEST(StripTypes, FailuresTellTheLinesOfTheTypeScript) {
  EXPECT_EQ(RunTypeScript("interface A {\n  a: number\n}\n\nenum B {\n  C\n}\n\n"
                          "export function main(): void {\n  throw new Error('here');\n}\n"),
            "Error: here\n    at main (job.ts:10:13)");
}

TEST(StripTypes, WhatIsNoTypeScriptIsRefusedWithItsPlace) {
  const TypeStripper stripper = Stripper();
  const auto refusal = [&](std::string_view text) {
    const auto made = stripper.ToJavaScript(text, "f/bad.ts");
    EXPECT_FALSE(made.ok());
    EXPECT_TRUE(made.ok() || made.error().code == Code::kInvalid);
    return made.ok() ? "" : made.error().message;
  };
  EXPECT_EQ(refusal("let a = 1;\nlet b: = 3;\n"),
            "script 'f/bad.ts', line 2, column 8: Unexpected \"=\"");
  EXPECT_EQ(refusal("let v = <div a={1}>x</div>;").find("script 'f/bad.ts', line 1, column "), 0U);
  EXPECT_EQ(refusal("let a;\nlet a;").find("script 'f/bad.ts', line 2, column 5: "), 0U);
  EXPECT_EQ(refusal("\xFF"), "script 'f/bad.ts' is not UTF-8: store it again in that encoding");
  EXPECT_EQ(refusal(std::string(kMaxTypescriptBytes + 1, ' ')),
            "script 'f/bad.ts' has 1048577 bytes; at most 1048576");
  EXPECT_EQ(refusal(std::string(20'000, '(')).find("script 'f/bad.ts'"), 0U);
}

TEST(StripTypes, AnyTextIsTakenOrRefused) {
  EXPECT_EQ(RunTypeScript("export const main = () => 'é\xF0\x9D\x84\x9E' // \xE2\x80\xA8"),
            "\"é\xF0\x9D\x84\x9E\"");
  const TypeStripper stripper = Stripper();
  EXPECT_TRUE(stripper.ToJavaScript("", "a.ts").ok());
  EXPECT_FALSE(stripper.ToJavaScript(std::string_view("a\0b", 3), "a.ts").ok());
}

TEST(StripTypes, AProgramThatIsNotThereOrHangsIsAnError) {
  const auto missing = TypeStripper("/nowhere/esbuild").ToJavaScript("", "a.ts");
  ASSERT_FALSE(missing.ok());
  EXPECT_EQ(missing.error().code, Code::kNotFound);

  const test::TempFolder folder;
  const auto program = [&](const std::string& body) {
    const std::string path = folder.Write("program", "#!/bin/sh\n" + body + "\n");
    chmod(path.c_str(), 0700);
    return path;
  };
  const auto hangs = TypeStripper(program("read x </dev/zero"), std::chrono::milliseconds(50))
                         .ToJavaScript("", "a.ts");
  ASSERT_FALSE(hangs.ok());
  EXPECT_EQ(hangs.error().code, Code::kUnavailable);
  EXPECT_EQ(hangs.error().message, "script 'a.ts' was not made JavaScript within 50 ms");

  const auto dies = TypeStripper(program("kill -9 $$")).ToJavaScript("", "a.ts");
  ASSERT_FALSE(dies.ok());
  EXPECT_EQ(dies.error().code, Code::kUnavailable);

  const auto mute = TypeStripper(program("exit 1")).ToJavaScript("", "a.ts");
  ASSERT_FALSE(mute.ok());
  EXPECT_EQ(mute.error().code, Code::kInvalid);
}

TEST(StripTypes, LeavesNoFilesBehind) {
  const test::TempFolder folder;
  const char* before = std::getenv("TMPDIR");
  const std::string kept = before == nullptr ? "" : before;
  setenv("TMPDIR", folder.path().c_str(), 1);
  EXPECT_TRUE(Stripper().ToJavaScript("let a: number", "a.ts").ok());
  EXPECT_FALSE(Stripper().ToJavaScript("let a: ", "a.ts").ok());
  if (before == nullptr) {
    unsetenv("TMPDIR");
  } else {
    setenv("TMPDIR", kept.c_str(), 1);
  }
  EXPECT_TRUE(fs::is_empty(folder.path()));
}

}  // namespace
}  // namespace weir::script
