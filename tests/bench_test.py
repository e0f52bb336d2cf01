#!/usr/bin/env python3
"""Runs `weir bench` small, end to end: cells, report, a kill in the middle, compare.

Usage: bench_test.py WEIR PYTHON

PYTHON is an interpreter with the module duckdb.

Ratios of so few rows mean nothing and are not looked at.
"""
import csv
import json
import os
import pathlib
import re
import signal
import subprocess
import sys
import tempfile
import unittest

WEIR = ""
PYTHON = ""
SIZES = ["--rows", "2000", "--narrow-rows", "5000", "--wide-columns-rows", "20",
         "--wide-value-mb", "2"]
CELLS = [("content_items", "raw_copy"), ("content_items", "weir_fast"),
         ("content_items", "weir_balanced"), ("narrow", "raw_copy"), ("narrow", "weir_fast"),
         ("wide_value", "weir_fast"), ("wide_columns", "weir_fast")]


def weir(*arguments, fault=None, **variables):
    # What tests are told through the environment is no concern of a ladder's.
    environment = {name: value for name, value in os.environ.items()
                   if not name.startswith("WEIR_") or name == "WEIR_PG_BIN"}
    if arguments[:2] == ("bench", "hydrate"):
        environment.pop("WEIR_PG_BIN", None)
    environment.update(variables)
    if fault:
        environment["WEIR_FAULT"] = fault
    return subprocess.run([WEIR, *map(str, arguments)], capture_output=True, text=True,
                          env=environment)


def read_cells(folder):
    with open(folder / "cells.csv", newline="") as file:
        return list(csv.DictReader(file))


class Bench(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.place = tempfile.TemporaryDirectory(prefix="weir-bench-")
        cls.addClassCleanup(cls.place.cleanup)
        os.chmod(cls.place.name, 0o755)  # The private server has a user of its own.
        cls.folder = pathlib.Path(cls.place.name) / "out"
        cls.killed = weir("bench", "extract", *SIZES, "--trials", 1, "--out", cls.folder,
                          fault="cell_store.recorded:3")
        cls.before = read_cells(cls.folder)
        cls.finished = weir("bench", "extract", *SIZES, "--trials", 1, "--out", cls.folder,
                            "--json")

    def test_killed_after_the_third_cell_it_goes_on_from_there(self):
        self.assertEqual(self.killed.returncode, -signal.SIGKILL, self.killed.stderr)
        self.assertEqual(len(self.before), 3)
        self.assertEqual(self.finished.returncode, 0, self.finished.stderr)
        cells = read_cells(self.folder)
        self.assertEqual(cells[:3], self.before)
        self.assertEqual([(cell["kind"], cell["rung"]) for cell in cells], CELLS)
        self.assertNotIn("seeding content_items", self.finished.stderr)

    def test_cells_hold_what_was_measured(self):
        for cell in read_cells(self.folder):
            self.assertEqual(cell["ladder"], "extract")
            self.assertEqual(cell["trial"], "1")
            self.assertGreater(float(cell["wall_s"]), 0)
            self.assertGreater(int(cell["peak_rss_bytes"]), 1 << 20)
            self.assertEqual(len(cell["settings_hash"]), 16)
            if cell["rung"].startswith("weir"):
                self.assertGreater(int(cell["output_bytes"]), 0)
                self.assertGreater(int(cell["batches"]), 0)
            if cell["kind"] == "content_items":
                self.assertRegex(cell["digest"], r"^2000:-?\d+$")
            if cell["rung"].startswith("weir"):
                self.assertEqual(cell["temp_files"], "0")
                self.assertGreater(int(cell["tuples_returned"]), 0)
            if cell["kind"] in ("content_items", "narrow") and cell["rung"] != "raw_copy":
                self.assertGreater(float(cell["floor_ratio"]), 0)

    def test_json_has_the_same_keys_and_values(self):
        objects = [json.loads(line) for line in self.finished.stdout.splitlines()]
        cells = read_cells(self.folder)
        self.assertEqual(len(objects), len(cells))
        for item, cell in zip(objects, cells):
            self.assertEqual(list(item), list(cell))
            for key, value in item.items():
                self.assertEqual("" if value is None else value,
                                 cell[key] if value is None or isinstance(value, str)
                                 else type(value)(cell[key]), key)

    def test_every_digest_is_postgresqls(self):
        digests = {cell["digest"] for cell in read_cells(self.folder)
                   if cell["kind"] == "content_items"}
        self.assertEqual(len(digests), 1, digests)

    def test_throttle_sleeps_as_planned_beside_a_neighbour(self):
        folder = pathlib.Path(self.place.name) / "throttle"
        done = weir("bench", "throttle", "--rows", "20000", "--trials", 1, "--contended", "--out",
                    folder)
        self.assertEqual(done.returncode, 0, done.stderr)
        cells = {cell["rung"]: cell for cell in read_cells(folder)}
        self.assertEqual(list(cells), ["raw_copy", "throttle_50", "throttle_0"])
        for cell in cells.values():
            self.assertEqual(cell["scenario"], "contended")
            self.assertGreater(float(cell["jobs_per_s"]), 0)
            self.assertEqual(cell["digest"], cells["raw_copy"]["digest"])
        self.assertEqual(cells["throttle_50"]["planned_sleep_ms"], "100")
        # Rests are taken in pieces of 50 ms or more, so the last of them may be missing.
        self.assertGreaterEqual(int(cells["throttle_50"]["slept_ms"]), 50)
        self.assertEqual(cells["throttle_0"]["slept_ms"], "0")
        self.assertIn("planned sleep ms", done.stdout)

    def test_hydrate_builds_the_same_indexes_on_every_rung(self):
        folder = self.folder / "hydrate"
        flags = ["--scale-factor", "0.01", "--trials", "1", "--rungs", "legacy,auto,paged_lz4",
                 "--pressures", "0,4", "--out", folder]
        killed = weir("bench", "hydrate", *flags, fault="cell_store.recorded:2")
        self.assertEqual(killed.returncode, -signal.SIGKILL, killed.stderr)
        (folder / "swap").write_text("somebody's")  # Where --limits has its swap.
        ended = weir("bench", "hydrate", *flags)
        self.assertEqual(ended.returncode, 0, ended.stderr)
        refused = weir("bench", "hydrate", "--limits", "5", "--out", folder)
        self.assertEqual(refused.returncode, 1, refused.stderr)
        self.assertIn("was not made by it; move it away", refused.stderr)
        self.assertEqual((folder / "swap").read_text(), "somebody's")
        cells = read_cells(folder)
        self.assertEqual([(cell["rung"], float(cell["pressure"])) for cell in cells],
                         [("legacy", 0), ("auto", 0), ("paged_lz4", 0), ("auto", 4),
                          ("paged_lz4", 4)])
        self.assertEqual({cell["objects_done"] for cell in cells}, {"18"})
        self.assertEqual(len({cell["digest"] for cell in cells}), 1)
        self.assertEqual(len({cell["probe_digest"] for cell in cells}), 1)
        for cell in cells:
            for key in ("decode_s", "sort_s", "wait_read_s", "update_bytes", "probe_sorted_per_s"):
                self.assertNotEqual(cell[key], "", key)
            self.assertGreater(float(cell["cpu_split_ratio"]), 0.95)
        with open(folder / "objects.csv", newline="") as file:
            objects = list(csv.DictReader(file))
        self.assertEqual(len(objects), 18 * 5)
        self.assertEqual({(row["flavor"], float(row["pressure"])) for row in objects},
                         {(cell["rung"], float(cell["pressure"])) for cell in cells})
        self.assertEqual({row["trial"] for row in objects}, {"1"})
        example = (pathlib.Path(__file__).parent.parent / "examples/tpch_indexes.sql").read_text()
        self.assertEqual({row["object"] for row in objects},
                         set(re.findall(r"CREATE INDEX (\w+) ON", example)))
        self.assertTrue(all(int(row["time_ns"]) > 0 for row in objects))
        self.assertIn("span, auto / legacy", ended.stdout)

    def test_hydrate_after_a_kill_is_as_good(self):
        folder = self.folder / "rehydrate"
        flags = ["--scale-factor", "0.01", "--trials", "1", "--rungs", "auto", "--pressures", "0",
                 "--out", folder]
        for scenario in ("initial", "rehydrate"):
            ended = weir("bench", "hydrate", *flags, "--scenario", scenario)
            self.assertEqual(ended.returncode, 0, ended.stderr)
        cells = read_cells(folder)
        self.assertEqual([cell["scenario"] for cell in cells], ["initial", "rehydrate"])
        self.assertEqual(len({cell["digest"] for cell in cells}), 1)
        self.assertIn("2 workers, hc 1, rehydrate: span, auto / legacy", ended.stdout)

    def test_hydrate_in_a_limit_spills_and_says_under_which_pressure(self):
        folder = self.folder / "limited"
        flags = ["--scale-factor", "0.05", "--trials", "1", "--rungs", "legacy,auto,paged_spill",
                 "--limits", "5", "--out", folder]
        ended = weir("bench", "hydrate", *flags)
        if os.geteuid() != 0:
            self.assertEqual(ended.returncode, 64)
            self.assertIn("run it as root, or without --limits", ended.stderr)
            self.skipTest("needs root")
        unable = re.search("swap is on already|no memory controller|a container may lack the right"
                           "|choose a folder on a local disk|its own control group has a limit"
                           "|cannot (make|write)", ended.stderr)
        if unable:
            self.skipTest(unable[0])
        self.assertEqual(ended.returncode, 0, ended.stderr)
        self.assertNotIn(str(folder), pathlib.Path("/proc/swaps").read_text())
        self.assertFalse((folder / "swap").exists())
        cells = {(cell["kind"], cell["rung"], cell["pressure"]): cell
                 for cell in read_cells(folder)}
        legacy = cells["limited", "legacy", "5"]
        limit = int(legacy["limit_bytes"])
        self.assertGreater(int(legacy["peak_swap_bytes"]), 0)
        self.assertLessEqual(int(legacy["peak_usage_bytes"]), limit)
        for rung in ("auto", "paged_spill"):
            cell = cells["limited", rung, "5"]
            self.assertLess(int(cell["memory_bytes"]), limit)
            self.assertGreater(int(cell["extent_bytes_written"]), 0)
            self.assertEqual(cell["void"], "")
        self.assertGreater(float(cells["device", "sequential", ""]["write_bytes_per_s"]), 0)
        self.assertEqual(len({cell["digest"] for cell in cells.values()} - {""}), 1)
        self.assertIn("pressure = (peak swap + peak working set of legacy) / limit", ended.stdout)
        self.assertIn("span, legacy on swap / auto", ended.stdout)

    def test_hydrate_beside_duckdb(self):
        folder = self.folder / "peer"
        flags = ["--scale-factor", "0.01", "--trials", "1", "--out", folder, "--duckdb-python"]
        refused = weir("bench", "hydrate", *flags, "/no/such/python")
        self.assertEqual(refused.returncode, 1, refused.stderr)
        self.assertIn("name another with --duckdb-python", refused.stderr)
        ended = weir("bench", "hydrate", *flags, PYTHON)
        self.assertEqual(ended.returncode, 0, ended.stderr)
        cells = read_cells(folder)
        self.assertEqual([cell["rung"] for cell in cells], ["auto", "duckdb"] * 5)
        self.assertTrue(all(float(cell["span_s"]) > 0 for cell in cells if cell["kind"] == "peer"))
        self.assertEqual({cell["objects"] for cell in cells},
                         {"lineitem (l_orderkey, l_linenumber)", "lineitem (l_partkey, l_suppkey)",
                          "indexes"})
        hashes = [cell["content_hash"] for cell in cells if cell["kind"] == "content"]
        self.assertEqual(len(hashes), 2)
        self.assertEqual(len(hashes[0]), 16)
        self.assertEqual(hashes[0], hashes[1])
        self.assertEqual(len({cell["probe_digest"] for cell in cells if cell["objects"] ==
                              "lineitem (l_partkey, l_suppkey)"} - {""}), 1)
        self.assertIn("in 1/4 of its bytes: span, auto / DuckDB", ended.stdout)

    def test_hydrate_sweeps_a_setting(self):
        folder = self.folder / "sweep"
        flags = ["--scale-factor", "0.05", "--trials", "1", "--sweep", "codec", "--out", folder]
        ended = weir("bench", "hydrate", *flags)
        self.assertEqual(ended.returncode, 0, ended.stderr)
        cells = read_cells(folder)
        self.assertEqual([(cell["rung"], cell["spill_codec"]) for cell in cells],
                         [("legacy", ""), ("auto", "auto"), ("auto", "none"), ("auto", "lz4"),
                          ("paged_spill", ""), ("paged_lz4", "")])
        self.assertEqual(len({cell["digest"] for cell in cells}), 1)
        self.assertIn("span, auto compressing / not", ended.stdout)

    def test_hydrate_refuses_what_would_change_its_figures(self):
        stray = weir("bench", "hydrate", "--out", self.folder / "stray", MALLOC_ARENA_MAX="1")
        self.assertEqual(stray.returncode, 64)
        self.assertIn("MALLOC_ARENA_MAX is set and would change what is measured", stray.stderr)
        unheeded = weir("bench", "hydrate", "--sweep", "eager", "--rungs", "auto")
        self.assertEqual(unheeded.returncode, 64)
        self.assertIn("--rungs", unheeded.stderr)
        for scenario in ("rehydrate", "initial"):
            beside = weir("bench", "hydrate", "--duckdb-python", PYTHON, "--scenario", scenario)
            self.assertEqual(beside.returncode, 64, beside.stderr)
            self.assertIn("--scenario", beside.stderr)

    def test_report_shows_every_rung_and_target(self):
        shown = weir("bench", "report", self.folder)
        self.assertEqual(shown.returncode, 0, shown.stderr)
        for words in ("extract: content_items, 2,000 rows", "extract: narrow, 5,000 rows",
                      "raw_copy", "weir_balanced", "at most 1.300", "at most 96.0 MiB"):
            self.assertIn(words, shown.stdout)
        self.assertIn("| weir_fast |", (self.folder / "report.md").read_text())
        self.assertIn("<svg", (self.folder / "report.svg").read_text())

    def test_compare_gives_one_with_itself_and_refuses_other_sizes(self):
        same = weir("bench", "compare", self.folder, self.folder)
        self.assertEqual(same.returncode, 0, same.stderr)
        self.assertIn("x 1.000", same.stdout)
        other = pathlib.Path(self.place.name) / "other"
        other.mkdir()
        settings = json.loads((self.folder / "settings.json").read_text())
        text = (self.folder / "cells.csv").read_text()
        for number, (key, values) in enumerate(list(settings["settings"].items())):
            values["rows"] += "0"
            settings["settings"][f"{number:016}"] = settings["settings"].pop(key)
            text = text.replace(key, f"{number:016}")
        (other / "settings.json").write_text(json.dumps(settings))
        (other / "cells.csv").write_text(text)
        refused = weir("bench", "compare", self.folder, other)
        self.assertEqual(refused.returncode, 1)
        self.assertIn("rows is '2000' in the first and '20000' in the second", refused.stderr)

    def test_bad_usage(self):
        self.assertEqual(weir("bench").returncode, 64)
        self.assertEqual(weir("bench", "extract", "--trials", "0").returncode, 64)
        missing = weir("bench", "report", pathlib.Path(self.place.name) / "none")
        self.assertEqual(missing.returncode, 1)
        self.assertIn("name a folder that `weir bench` wrote to", missing.stderr)


if __name__ == "__main__":
    WEIR = os.path.abspath(sys.argv.pop(1))
    PYTHON = os.path.abspath(sys.argv.pop(1))
    unittest.main()
