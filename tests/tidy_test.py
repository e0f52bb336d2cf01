#!/usr/bin/env python3
"""Tests of tools/tidy.py: a good tree passes, and each rule refuses the tree that breaks it."""
import json
import pathlib
import sys
import tempfile
import unittest

sys.path.insert(0, str(pathlib.Path(__file__).parent.parent / "tools"))
import tidy

GOOD = {
    "Makefile": "all:\n\ttools/go.sh\n",
    "tools/go.sh": "python3 tools/more.py\n",
    "tools/more.py": "def Run():\n    return 1\n",
    "tools/doors.txt": "fmt/: *\nsqlite3.h: ledger base/one.cc\ngtest/: tests\n"
                       "nlohmann/: ledger; sources only\narrow/: ledger\n"
                       "arrow/api.h: ledger; sources only\n",
    "src/weir/LAYERS": "# order\nbase:\nledger: base\n",
    "src/weir/base/README.md": "# base\n`a.h` holds a.\n",
    "src/weir/base/a.h": "#pragma once\n#include <fmt/format.h>\n#include <vector>\n",
    "src/weir/base/a.cc": '#include "weir/base/a.h"\n\n#include <sys/stat.h>\n',
    "src/weir/ledger/README.md": "# ledger\n",
    "src/weir/ledger/CMakeLists.txt": "weir_module(ledger EMBED_SQL)\n",
    "src/weir/ledger/sql/runs.sql": "SELECT 1;\n",
    "src/weir/ledger/runs.cc": '#include <sqlite3.h>\n#include "weir/base/a.h"\n',
    "src/weir/ledger/runs_test.cc": "#include <gtest/gtest.h>\nTEST(Runs, Go) {\n}\n",
}


def long_function(name: str, lines: int) -> str:
    return f"int {name}() {{\n" + "  ++n;\n" * (lines - 2) + "}\n"


class Tidy(unittest.TestCase):
    def problems(self, changes=None, unbuilt=()):
        """What tidy says about the good tree with files changed; None removes one."""
        files = {**GOOD, **(changes or {})}
        with tempfile.TemporaryDirectory() as folder:
            root = pathlib.Path(folder).resolve()
            commands = []
            for path, text in files.items():
                if text is None:
                    continue
                (root / path).parent.mkdir(parents=True, exist_ok=True)
                (root / path).write_text(text)
                alone = f"build/headers_alone/{path.removeprefix('src/')}.cc"
                unit = alone if path.endswith(".h") else path
                if path.endswith((".cc", ".h")) and path not in unbuilt:
                    commands.append({"directory": str(root), "file": unit})
            (root / "build").mkdir()
            (root / "build/compile_commands.json").write_text(json.dumps(commands))
            return tidy.run(root, root / "build")

    def refuses(self, changes, *words, unbuilt=()):
        """Exactly one problem, and it says all these words."""
        problems = self.problems(changes, unbuilt)
        self.assertEqual(len(problems), 1, problems)
        for word in words:
            self.assertIn(word, problems[0])

    def test_a_good_tree_passes(self):
        self.assertEqual(self.problems(), [])

    def test_includes_that_climb(self):
        self.refuses({"src/weir/base/b.h": '#include "weir/ledger/runs.h"\n'},
                     "src/weir/base/b.h:1:", "base may not include ledger")

    def test_layers_that_name_a_later_folder(self):
        self.refuses({"src/weir/LAYERS": "base: ledger\nledger: base\n"}, "not before it")

    def test_folders_without_a_line_in_layers(self):
        self.refuses({"src/weir/pond/README.md": "# pond\n", "src/weir/pond/a.cc": "int a;\n"},
                     "src/weir/pond", "no line in src/weir/LAYERS")

    def test_own_headers_named_from_elsewhere(self):
        self.refuses({"src/weir/base/b.cc": '#include "a.h"\n'}, "name it from src/")
        shared = {"tests/row.h": "#pragma once\n"}
        use = '#include "tests/row.h"\n'
        self.assertEqual(self.problems({**shared, "src/weir/base/b_test.cc": use}), [])
        self.refuses({**shared, "src/weir/base/b.cc": use}, "name it from src/")

    def test_internal_headers_used_from_elsewhere(self):
        header = {"src/weir/base/a_internal.h": "#pragma once\n"}
        use = '#include "weir/base/a_internal.h"\n'
        self.assertEqual(self.problems({**header, "src/weir/base/b.cc": use}), [])
        self.refuses({**header, "src/weir/ledger/b.cc": use}, "is internal to base")

    def test_own_header_not_first(self):
        self.refuses({"src/weir/base/a.cc": '#include <vector>\n#include "weir/base/a.h"\n'},
                     "own header first")

    def test_third_party_headers_outside_their_door(self):
        self.refuses({"src/weir/base/b.cc": "#include <sqlite3.h>\n"}, "<sqlite3.h>", "ledger")
        self.assertEqual(self.problems({"src/weir/base/one.cc": "#include <sqlite3.h>\n"}), [])
        self.refuses({"src/weir/base/b.cc": "#include <boost/any.hpp>\n"}, "has no door")
        self.refuses({"src/weir/ledger/b.cc": "#include <gtest/gtest.h>\n"}, "<gtest/gtest.h>")

    def test_heavy_headers_in_a_header_of_ours(self):
        for name in ("nlohmann/json.hpp", "arrow/api.h"):
            use = f"#include <{name}>\n"
            self.assertEqual(self.problems({"src/weir/ledger/b.cc": use}), [])
            self.refuses({"src/weir/ledger/b.h": use}, name, "may not stand in a header")
        self.assertEqual(self.problems({"src/weir/ledger/b.h": "#include <arrow/type.h>\n"}), [])

    def test_sources_and_headers_that_no_target_compiles(self):
        self.refuses({}, "a.cc", "no target compiles", unbuilt=("src/weir/base/a.cc",))
        self.refuses({}, "a.h", "headers_alone", unbuilt=("src/weir/base/a.h",))

    def test_sql_that_no_target_embeds(self):
        self.refuses({"src/weir/base/sql/x.sql": "SELECT 1;\n"}, "no target embeds")
        self.refuses({"tests/x.sql": "SELECT 1;\n"}, "no target embeds")

    def test_scripts_that_nothing_runs(self):
        self.refuses({"tools/idle.sh": "true\n"}, "tools/idle.sh", "nothing runs")
        # Two that only call each other are not reached either.
        ring = {"tools/x.sh": "tools/y.sh\n", "tools/y.sh": "tools/x.sh\n"}
        self.assertEqual(len(self.problems(ring)), 2)

    def test_long_functions(self):
        self.assertEqual(self.problems({"src/weir/base/b.cc": long_function("Fits", 70)}), [])
        self.refuses({"src/weir/base/b.cc": long_function("Long", 71)}, "Long has 71 lines")
        self.refuses({"tools/more.py": "def long():\n" + "    a = 1\n" * 70}, "long has 71 lines")
        method = "namespace x {\nclass C {\n C() : a_{1}, b_(2) {\n" + "\n" * 80 + "}\n};\n}\n"
        self.refuses({"src/weir/base/b.h": method}, "C has 82 lines")
        body = "TEST(Pond, Fills) {\n" + '  F("}", \'{\');  // }\n' * 70 + "}\n"
        self.refuses({"src/weir/base/b_test.cc": body}, "Pond.Fills has 72 lines")

    def test_long_functions_with_a_reason(self):
        code = {"src/weir/base/b.cc": long_function("Long", 71)}
        listing = "tools/long_functions.txt"
        reason = "src/weir/base/b.cc Long: one table of cases\n"
        self.assertEqual(self.problems({**code, listing: reason}), [])
        self.refuses({listing: reason}, listing, "remove the line")
        self.refuses({listing: "src/weir/base/b.cc Long\n"}, "want `path function: reason`")

    def test_long_lines(self):
        self.assertEqual(self.problems({"src/weir/base/b.cc": "//" + "µ" * 98 + "\n"}), [])
        self.refuses({"src/weir/base/b.cc": "//" + "x" * 99 + "\n"}, "101 columns")

    def test_names_that_say_nothing(self):
        self.refuses({"src/weir/base/string_" + "utils.cc": "int a;\n"}, "says nothing")
        self.refuses({"src/weir/base/b.cc": "struct Row" + "Helper {};\n"}, "says nothing")
        self.refuses({"src/weir/base/b.cc": "namespace com" + "mon {}\n"}, "says nothing")
        self.assertEqual(self.problems({"src/weir/base/b.cc": "struct Utility {};\n"}), [])

    def test_sleeps_in_tests(self):
        for call in ("std::this_thread::sleep_for", "usleep", "sleep"):
            test = {"src/weir/base/b_test.cc": f"void F() {{ {call}(1); }}\n"}
            self.refuses(test, "b_test.cc:1:", "does not sleep")
        self.refuses({"tests/x_test.sh": "sleep 1\n", "Makefile": "x_test.sh tools/go.sh\n"},
                     "does not sleep")
        other = {"src/weir/base/b_test.cc": '// sle' 'ep(1)\nauto s = "SELECT pg_sleep(9)";\n'}
        self.assertEqual(self.problems(other), [])

    def test_marks(self):
        for mark in ("FIX" "ME", "TO" "DO"):
            self.refuses({"src/weir/base/b.cc": f"// {mark}: later\n"}, mark)

    def test_readmes(self):
        self.refuses({"src/weir/base/README.md": None}, "src/weir/base", "no README.md")
        self.refuses({"src/weir/base/README.md": "See `gone.h`.\n"}, "gone.h", "not there")
        self.refuses({"src/weir/base/README.md": "x\n" * 41}, "41 lines; at most 40")
        self.refuses({"docs/decisions/x.md": "x\n" * 41}, "41 lines; at most 40")
        self.refuses({"HACKING.md": "See `tools/gone.py`.\n"}, "tools/gone.py", "not there")
        self.refuses({"HACKING.md": "See [this](docs/gone.md).\n"}, "docs/gone.md", "not there")

    def test_places(self):
        self.refuses({"HACKING.md": "Look in /wo" + "rk/main.\n"}, "path of one machine")
        self.refuses({"HACKING.md": "From https://pack" + "ages.io/simple.\n"}, "names the host")
        self.refuses({"Makefile": "pip -i packages." + "org\n\ttools/go.sh\n"}, "names the host")
        fine = "http://127.0.0.1:80/ https://example.com/a www.example.org ~/home/x src/wo"
        fine += "rk/x\n"
        self.assertEqual(self.problems({"HACKING.md": fine}), [])


if __name__ == "__main__":
    unittest.main()
