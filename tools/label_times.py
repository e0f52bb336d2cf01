#!/usr/bin/env python3
"""Print seconds per test label against a budget. Over budget is a warning, never a failure.

Usage: label_times.py BUILD_FOLDER BUDGET_FILE [--build-seconds N]

Reads BUILD_FOLDER/tests.xml, which ctest --output-junit wrote, and asks ctest for the labels. The
budget file has lines `label seconds`; `build` and `total` are budgets for the build and for all
tests together.
"""
import argparse
import collections
import json
import pathlib
import subprocess
import sys
import xml.etree.ElementTree


def read_budget(path: pathlib.Path) -> dict[str, float]:
    budget = {}
    for number, line in enumerate(path.read_text().splitlines(), 1):
        words = line.split("#")[0].split()
        if not words:
            continue
        if len(words) != 2 or not words[1].isdigit():
            raise SystemExit(f"{path}:{number}: want `label seconds`, got '{line}'")
        budget[words[0]] = float(words[1])
    return budget


def read_labels(ctest_json: str) -> dict[str, str]:
    """Test name -> its first label."""
    labels = {}
    for test in json.loads(ctest_json)["tests"]:
        properties = {p["name"]: p["value"] for p in test.get("properties", [])}
        labels[test["name"]] = (properties.get("LABELS") or ["(none)"])[0]
    return labels


def sum_by_label(junit: str, labels: dict[str, str]) -> dict[str, tuple[int, float]]:
    """Label -> how many tests, how many seconds."""
    counts: dict[str, int] = collections.Counter()
    seconds: dict[str, float] = collections.Counter()
    for case in xml.etree.ElementTree.fromstring(junit).iter("testcase"):
        label = labels.get(case.get("name"), "(none)")
        counts[label] += 1
        seconds[label] += float(case.get("time", 0))
    return {label: (counts[label], seconds[label]) for label in counts}


def table(times: dict[str, tuple[int, float]], budget: dict[str, float],
          build_seconds: float | None) -> list[str]:
    rows = [(label, str(count), spent) for label, (count, spent) in sorted(times.items())]
    rows.append(("total", str(sum(count for count, _ in times.values())),
                 sum(spent for _, spent in times.values())))
    if build_seconds is not None:
        rows.append(("build", "", build_seconds))
    lines = [f"{'label':<14}{'tests':>6}{'seconds':>10}{'budget':>9}"]
    for label, count, spent in rows:
        limit = budget.get(label)
        shown = "-" if limit is None else f"{limit:.0f}"
        line = f"{label:<14}{count:>6}{spent:>10.1f}{shown:>9}"
        if limit is None:
            line += "  warning: no budget for this label"
        elif spent > limit:
            line += "  warning: over budget"
        lines.append(line)
    return lines


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("build", type=pathlib.Path)
    parser.add_argument("budget", type=pathlib.Path)
    parser.add_argument("--build-seconds", type=float)
    options = parser.parse_args()
    shown = subprocess.run(["ctest", "--show-only=json-v1"], cwd=options.build, check=True,
                           capture_output=True, text=True).stdout
    junit = (options.build / "tests.xml").read_text()
    times = sum_by_label(junit, read_labels(shown))
    print("\n".join(table(times, read_budget(options.budget), options.build_seconds)))


if __name__ == "__main__":
    sys.exit(main())
