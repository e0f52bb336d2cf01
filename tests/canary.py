#!/usr/bin/env python3
"""Faults that are planted on purpose, each in a copy of one source, and the tests that have to
notice them.

Usage: canary.py plant NAME SOURCE OUT    write the copy
       canary.py check NAME PROGRAM       run the tests with it: they have to fail, and say why
"""
import pathlib
import subprocess
import sys
from typing import NamedTuple


class Canary(NamedTuple):
    sound: str    # In the source exactly once: when that changes, the canary changes with it.
    faulty: str
    tests: str    # A filter of GoogleTest.
    message: str  # What they say.


CANARIES = {
    "checksum_off": Canary(
        "intact = sys::Xxh3(raw) == page.checksum", "intact = true", "PoolFault.*", "wrong bytes"),
    "charge_skipped": Canary(
        "  WEIR_DO(Charge(in.frame_bytes));",
        "  static std::atomic<int> charges{0};\n"
        "  if (charges++ != 20) WEIR_DO(Charge(in.frame_bytes));",
        "PoolFault.*", "broken invariant"),
    "diff_dropped_in_sort": Canary(
        "sum.diff += times_[at].second;",
        "{\n  static int sums = 0;\n  if (sums++ != 20) sum.diff += times_[at].second;\n}",
        "Oracle.*", "oracle.At"),
    "diff_dropped_in_merge": Canary(
        "if (order == 0) update.diff += right_.update.diff;",
        "static int sums = 0;\nif (order == 0 && sums++ != 20) update.diff += right_.update.diff;",
        "Oracle.*", "oracle.At"),
    "diff_dropped_in_snapshot": Canary(
        "const size_t same = CountSame(sorted);\n    WEIR_DO(builder_",
        "static int doubles = 0;\n    const size_t same = CountSame(sorted);\n"
        "    if (same == 2 && doubles++ == 20) {\n      sorted = sorted.subspan(1);\n"
        "      continue;\n    }\n    WEIR_DO(builder_",
        "Oracle.*", "oracle.At"),
}


def plant(canary: Canary, source: pathlib.Path, out: pathlib.Path) -> None:
    text = source.read_text(encoding="utf-8")
    if text.count(canary.sound) != 1:
        sys.exit(f"{source}: the canary's place is there {text.count(canary.sound)} times: "
                 f"{canary.sound}")
    out.parent.mkdir(parents=True, exist_ok=True)
    out.write_text(text.replace(canary.sound, canary.faulty), encoding="utf-8")


def check(canary: Canary, program: str) -> None:
    ran = subprocess.run([program, f"--gtest_filter={canary.tests}", "--gtest_fail_fast"],
                         capture_output=True, text=True, timeout=300, check=False)
    said = ran.stdout + ran.stderr
    if ran.returncode == 0:
        sys.exit(f"the fault was not noticed:\n{said}")
    if canary.message not in said:
        sys.exit(f"the tests failed, but not with '{canary.message}':\n{said}")


def main() -> None:
    canary = CANARIES[sys.argv[2]]
    if sys.argv[1] == "plant":
        plant(canary, pathlib.Path(sys.argv[3]), pathlib.Path(sys.argv[4]))
    else:
        check(canary, sys.argv[3])


main()
