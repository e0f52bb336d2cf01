#!/usr/bin/env python3
"""Tests of tools/label_times.py."""
import json
import pathlib
import sys
import tempfile
import unittest

sys.path.insert(0, str(pathlib.Path(__file__).parent.parent / "tools"))
import label_times

JUNIT = """<testsuite><testcase name="pg_test" time="2.5"/><testcase name="pg_bench" time="1"/>
<testcase name="mem_test" time="0.25"/><testcase name="lonely" time="4"/></testsuite>"""
CTEST = json.dumps({"tests": [
    {"name": "pg_test", "properties": [{"name": "LABELS", "value": ["pg"]}]},
    {"name": "pg_bench", "properties": [{"name": "LABELS", "value": ["pg"]}]},
    {"name": "mem_test", "properties": [{"name": "LABELS", "value": ["mem"]}]},
    {"name": "lonely"}]})


class LabelTimes(unittest.TestCase):
    def test_sums_by_label(self):
        times = label_times.sum_by_label(JUNIT, label_times.read_labels(CTEST))
        self.assertEqual(times, {"pg": (2, 3.5), "mem": (1, 0.25), "(none)": (1, 4.0)})

    def test_marks_what_is_over_and_what_has_no_budget(self):
        times = {"pg": (2, 3.5), "mem": (1, 0.25)}
        lines = label_times.table(times, {"pg": 3.0, "total": 9.0}, build_seconds=7.0)
        marks = {line.split()[0]: line.partition("warning: ")[2] for line in lines[1:]}
        none = "no budget for this label"
        self.assertEqual(marks, {"pg": "over budget", "mem": none, "total": "", "build": none})

    def test_reads_the_budget_and_refuses_other_lines(self):
        with tempfile.TemporaryDirectory() as folder:
            path = pathlib.Path(folder) / "budget.txt"
            path.write_text("# all\npg 90 # seconds\n\nmem 10\n")
            self.assertEqual(label_times.read_budget(path), {"pg": 90.0, "mem": 10.0})
            path.write_text("pg ninety\n")
            with self.assertRaises(SystemExit) as refused:
                label_times.read_budget(path)
            self.assertIn(":1:", str(refused.exception))


if __name__ == "__main__":
    unittest.main()
