#include "weir/script/strip_types.h"

#include <stdlib.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <charconv>
#include <cstring>
#include <utility>

#include "weir/script/text_internal.h"
#include "weir/sys/child.h"
#include "weir/sys/files.h"

namespace weir::script {
namespace {

constexpr const char* kInput = "script.ts";
constexpr const char* kOutput = "script.js";
constexpr const char* kErrors = "errors";
// Lowering makes texts longer, source maps about twice that; what is past this is no script.
constexpr int64_t kMaxOutputBytes = 16 * static_cast<int64_t>(kMaxTypescriptBytes);

// A folder for one text and what is made of it.
class WorkFolder {
 public:
  static Result<WorkFolder> Make() {
    const char* base = getenv("TMPDIR");
    std::string path = sys::JoinPath(base == nullptr || *base == '\0' ? "/tmp" : base,
                                     "weir-script-XXXXXX");
    if (mkdtemp(path.data()) == nullptr) {
      return Fail(errno == ENOSPC ? Code::kExhausted : Code::kInvalid,
                  "cannot make a folder '{}': {}; name another with TMPDIR", path,
                  std::strerror(errno));
    }
    return WorkFolder(std::move(path));
  }
  ~WorkFolder() {
    if (!path_.empty()) (void)sys::DiskFiles().Remove(path_);
  }
  WorkFolder(WorkFolder&& other) noexcept : path_(std::exchange(other.path_, {})) {}
  WorkFolder& operator=(WorkFolder&&) = delete;

  const std::string& path() const { return path_; }
  std::string Path(std::string_view name) const { return sys::JoinPath(path_, name); }

 private:
  explicit WorkFolder(std::string path) : path_(std::move(path)) {}

  std::string path_;
};

sys::ChildOptions OptionsFor(const std::string& program, const WorkFolder& folder) {
  sys::ChildOptions options;
  options.argv = {program, kInput, "--loader:.ts=ts", "--format=esm", "--target=es2023",
                  "--charset=utf8", "--tsconfig-raw={}", "--sourcemap=inline",
                  "--sources-content=false", "--log-level=error", "--log-limit=1", "--color=false",
                  std::string("--outfile=") + kOutput};
  options.folder = folder.path();
  options.output_path = folder.Path("said");
  options.error_path = folder.Path(kErrors);
  return options;
}

// esbuild says "✘ [ERROR] what", an empty line, and "    script.ts:2:24:".
Error Refusal(std::string_view said, std::string_view name) {
  constexpr std::string_view kMark = "[ERROR] ";
  const size_t mark = said.find(kMark);
  if (mark == std::string_view::npos) {
    return Fail(Code::kInvalid, "script '{}' is no TypeScript that esbuild can read: {}", name,
                AsUtf8(said.substr(0, 200)));
  }
  said.remove_prefix(mark + kMark.size());
  const std::string what = AsUtf8(said.substr(0, said.find('\n')));
  const std::string place = std::string("\n    ") + kInput + ":";
  const size_t at = said.find(place);
  if (at == std::string_view::npos) return Fail(Code::kInvalid, "script '{}': {}", name, what);
  said.remove_prefix(at + place.size());
  int64_t line = 0;
  int64_t column = 0;
  const char* end = said.data() + said.size();
  const auto after_line = std::from_chars(said.data(), end, line);
  if (after_line.ptr < end) std::from_chars(after_line.ptr + 1, end, column);
  // esbuild counts columns from 0.
  return Fail(Code::kInvalid, "script '{}', line {}, column {}: {}", name, line, column + 1, what);
}

Status RunIn(const WorkFolder& folder, const std::string& program, sys::Duration time,
             std::string_view name) {
  WEIR_TRY(const auto child, sys::Child::Start(OptionsFor(program, folder)),
           "script '{}' cannot be made JavaScript", name);
  const auto code =
      child->WaitFor(std::chrono::duration_cast<std::chrono::milliseconds>(time));
  if (!code) {
    return Fail(Code::kUnavailable, "script '{}' was not made JavaScript within {} ms", name,
                sys::Millis(time));
  }
  if (*code == 0) return Ok();
  constexpr int64_t kMaxErrorBytes = 1 << 20;
  const auto said = sys::DiskFiles().Read(folder.Path(kErrors), kMaxErrorBytes);
  if (*code != 1 || !said.ok()) {
    return Fail(Code::kUnavailable, "script '{}' was not made JavaScript: esbuild ended with {}",
                name, *code);
  }
  return Refusal(said.value(), name);
}

}  // namespace

TypeStripper::TypeStripper(std::string program, sys::Duration time)
    : program_(std::move(program)), time_(time) {}

Result<TypeStripper> TypeStripper::BesideThisProgram() {
  std::array<char, 4096> buffer{};
  const ssize_t size = readlink("/proc/self/exe", buffer.data(), buffer.size() - 1);
  if (size <= 0) return Fail(Code::kNotFound, "cannot tell where this program stands");
  const std::string folder = sys::ParentPath({buffer.data(), static_cast<size_t>(size)});
  sys::DiskFiles files;
  for (const std::string& path :
       {folder + "/lib/esbuild", sys::JoinPath(sys::ParentPath(folder), "lib/esbuild")}) {
    if (files.KindOf(path) == sys::PathKind::kFile) return TypeStripper(path);
  }
  return Fail(Code::kNotFound, "no lib/esbuild beside this program in '{}': install it again",
              folder);
}

Result<std::string> TypeStripper::ToJavaScript(std::string_view typescript,
                                               std::string_view name) const {
  if (typescript.size() > kMaxTypescriptBytes) {
    return Fail(Code::kInvalid, "script '{}' has {} bytes; at most {}", name, typescript.size(),
                kMaxTypescriptBytes);
  }
  if (!IsUtf8(typescript)) {
    return Fail(Code::kInvalid, "script '{}' is not UTF-8: store it again in that encoding", name);
  }
  WEIR_TRY(const WorkFolder folder, WorkFolder::Make(), "script '{}'", name);
  sys::DiskFiles files;
  WEIR_DO(files.WriteWhole(folder.Path(kInput), typescript), "script '{}'", name);
  WEIR_DO(RunIn(folder, program_, time_, name));
  return files.Read(folder.Path(kOutput), kMaxOutputBytes);
}

}  // namespace weir::script
