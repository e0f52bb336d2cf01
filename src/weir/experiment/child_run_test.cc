#include "weir/experiment/child_run.h"

#include "tests/support/folder.h"

namespace weir::experiment {
namespace {

ChildCommand Shell(const test::TempFolder& folder, const std::string& script) {
  return {.argv = {"/bin/sh", "-c", script},
          .environment = {"COLOUR=green"},
          .folder = folder.path(),
          .discard_output = false,
          .group_path = ""};
}

TEST(ChildRun, GivesOutputTimeAndMemory) {
  const test::TempFolder folder;
  sys::RealClock clock;
  const sys::Stop never;
  setenv("COLOUR", "red", 1);
  setenv("SHAPE", "round", 1);
  const auto run = RunChild(Shell(folder, "echo $COLOUR $SHAPE; echo aside >&2"), clock, never);
  unsetenv("COLOUR");
  unsetenv("SHAPE");
  ASSERT_TRUE(run.ok()) << run.error().message;
  EXPECT_EQ(run.value().output, "green round\n");
  const Cell cell = run.value().AsCell();
  EXPECT_GT(*cell.Number("wall_s"), 0);
  EXPECT_GT(*cell.Number("peak_rss_bytes"), 100'000);
  EXPECT_GE(*cell.Number("utime_s"), 0);

  ChildCommand quiet = Shell(folder, "echo lost");
  quiet.discard_output = true;
  EXPECT_EQ(RunChild(quiet, clock, never).value().output, "");
}

TEST(ChildRun, AFailureTellsTheCodeAndTheEndOfStderr) {
  const test::TempFolder folder;
  sys::RealClock clock;
  const sys::Stop never;
  struct Case {
    int exit_code;
    Code code;
  };
  for (const Case& each : {Case{1, Code::kInvalid}, Case{2, Code::kUnavailable},
                           Case{3, Code::kCorrupt}, Case{9, Code::kInvalid}}) {
    const auto run = RunChild(
        Shell(folder, fmt::format("echo first >&2; echo last >&2; exit {}", each.exit_code)), clock,
        never);
    ASSERT_FALSE(run.ok());
    EXPECT_EQ(run.error().code, each.code);
    EXPECT_EQ(run.error().message, fmt::format("sh ended with {}: first|last", each.exit_code));
  }
  ChildCommand missing = Shell(folder, "");
  missing.argv = {"/no/such/program"};
  EXPECT_EQ(RunChild(missing, clock, never).error().code, Code::kNotFound);
}

TEST(ChildRun, AStopEndsTheChild) {
  const test::TempFolder folder;
  sys::RealClock clock;
  sys::Stop stop;
  stop.Ask();
  const auto run = RunChild(Shell(folder, "while true; do :; done"), clock, stop);
  ASSERT_FALSE(run.ok());
  EXPECT_EQ(run.error().code, Code::kCancelled);
}

TEST(ChildRun, NamesThisProgram) {
  EXPECT_TRUE(ThisProgram().ends_with("/experiment_test")) << ThisProgram();
}

}  // namespace
}  // namespace weir::experiment
