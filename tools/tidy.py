#!/usr/bin/env python3
"""Refuse what the style forbids: one line per problem, exit 1 if there is any.

Usage: tidy.py ROOT BUILD

ROOT is the checkout, BUILD the CMake folder with compile_commands.json. Runs as the test `tidy`;
HACKING.md lists the rules. That each header compiles alone is checked by the target headers_alone.
"""
import ast
import functools
import json
import os
import pathlib
import re
import subprocess
import sys
from collections.abc import Iterator

MAX_FUNCTION_LINES = 70
MAX_COLUMNS = 100
MAX_NOTE_LINES = 40  # Folder READMEs and decision records.
CODE_SUFFIXES = (".cc", ".h", ".py", ".sh", ".cmake", ".sql")
INCLUDE = re.compile(r'^[ \t]*#[ \t]*include[ \t]+([<"])([^>"]+)[>"]', re.M)
C_HEADERS = re.compile(
    r"(arpa|linux|net|netinet|sys)/[a-z0-9_/]+\.h|"
    r"(ctype|errno|inttypes|limits|locale|math|stddef|stdint|stdio|stdlib|string|time|"
    r"dirent|dlfcn|execinfo|fcntl|glob|grp|malloc|netdb|poll|pthread|pwd|sched|signal|spawn|"
    r"sysexits|termios|unistd|wordexp|cxxabi|immintrin|x86intrin|arm_neon)\.h")
# Spelled in two parts so that this file does not find itself.
MARKS = re.compile(r"\b(FIX" r"ME|TO" r"DO|XX" r"X)\b")
SLEEPS = re.compile(r"\b(sleep_for|sleep_until|usleep|nanosleep|sleep)\s*\(")
DRAWER = re.compile(r"utils?|helpers?|commons?", re.I)
MACHINE_PATH = re.compile(r"(?<![\w.$}~-])/(work|root|home)/\w")
URL_HOST = re.compile(r"https?://([^\s/\"'<>)`\]:\\]+)")
BARE_HOST = re.compile(r"(?<![\w.-])(?:[a-z0-9-]+\.)+(?:org|com)\b")
KNOWN_HOST = re.compile(
    r"127\.0\.0\.1|\[|[^.]*|.*[{$].*|(.*\.)?(example(\.\w+)?|test|invalid|apache\.org|gnu\.org|"
    r"postgresql\.org|rfc-editor\.org|w3\.org)")
Problems = Iterator[tuple[str, int, str]]  # path, line, what is wrong


class Tree:
    """The files of a checkout, read once."""

    def __init__(self, root: pathlib.Path, build: pathlib.Path):
        self.root = root.resolve()
        self.build = build.resolve()
        self.paths = sorted(path for path in self._list() if (self.root / path).is_file())

    def _list(self) -> list[str]:
        """Tracked and new files; every file outside build/ where there is no git."""
        command = ["git", "-c", "safe.directory=*", "ls-files", "-z", "--cached", "--others",
                   "--exclude-standard"]
        listed = subprocess.run(command, cwd=self.root, capture_output=True, text=True)
        if listed.returncode == 0:
            return [path for path in listed.stdout.split("\0") if path]
        found = (path.relative_to(self.root) for path in self.root.rglob("*"))
        return [str(path) for path in found
                if path.parts[0] not in ("build", ".git") and "__pycache__" not in path.parts]

    @functools.cache
    def text(self, path: str) -> str:
        """The file's text; empty for one that is missing or not text."""
        try:
            return (self.root / path).read_text(encoding="utf-8")
        except (UnicodeDecodeError, FileNotFoundError):
            return ""

    def lines(self, path: str) -> Iterator[tuple[int, str]]:
        return enumerate(self.text(path).splitlines(), 1)

    def all_lines(self) -> Iterator[tuple[str, int, str]]:
        return ((path, number, line) for path in self.paths for number, line in self.lines(path))

    def cpp(self) -> list[str]:
        return [path for path in self.paths if path.endswith((".cc", ".h"))]

    def includes(self, path: str) -> Iterator[tuple[int, str, str]]:
        """Line, '<' or '"', and the name of each include."""
        for match in INCLUDE.finditer(self.text(path)):
            yield line_of(self.text(path), match.start(1)), match[1], match[2]


def line_of(text: str, offset: int) -> int:
    return text.count("\n", 0, offset) + 1


def folder_of(path: str) -> str:
    """`pg` for src/weir/pg/x.cc, `tests` for what is under tests/, else nothing."""
    match = re.match(r"src/weir/(\w+)/|(tests)/", path)
    return (match[1] or match[2]) if match else ""


def is_test(path: str) -> bool:
    return path.startswith("tests/") or path.endswith(("_test.cc", "_test.py", "_test.sh"))


# ---- Includes -----------------------------------------------------------------------------------


def read_layers(tree: Tree) -> tuple[dict[str, list[str]], list[tuple[str, int, str]]]:
    path = "src/weir/LAYERS"
    layers: dict[str, list[str]] = {}
    problems = []
    for number, line in tree.lines(path):
        match = re.match(r"(\w+):(.*)", line)
        if not match:
            continue
        for below in match[2].split():
            if below not in layers:
                problems.append((path, number, f"{match[1]} names {below}, which is not before it"))
        layers[match[1]] = match[2].split()
    return layers, problems


def check_layers(tree: Tree) -> Problems:
    """Own headers: named from src/, by folders that LAYERS lets, `_internal.h` at home only."""
    layers, problems = read_layers(tree)
    yield from problems
    for folder in {folder_of(path) for path in tree.cpp()} - {"tests", ""}:
        if folder not in layers:
            yield f"src/weir/{folder}", 1, "the folder has no line in src/weir/LAYERS"
    for path in tree.cpp():
        folder = folder_of(path)
        for line, quote, name in tree.includes(path):
            if quote == "<":
                continue
            target = re.fullmatch(r"weir/(\w+)/(.+)", name)
            if not target:
                if not (is_test(path) and name.startswith("tests/")):
                    yield path, line, f'include "{name}": name it from src/, as "weir/folder/x.h"'
                continue
            if folder not in ("tests", target[1]) and target[1] not in layers.get(folder, []):
                yield path, line, f"{folder} may not include {target[1]} (src/weir/LAYERS)"
            if name.endswith("_internal.h") and target[1] != folder:
                yield path, line, f'"{name}" is internal to {target[1]}'


def check_own_header_first(tree: Tree) -> Problems:
    for path in tree.cpp():
        header = path.removesuffix(".cc") + ".h"
        if not path.endswith(".cc") or header not in tree.paths:
            continue
        first = next(tree.includes(path), (1, "", "nothing"))
        if first[2] != header.removeprefix("src/"):
            yield path, first[0], "a source includes its own header first"


def read_doors(tree: Tree) -> dict[str, tuple[set[str], bool]]:
    """Header or prefix -> folders and files that may include it, and whether sources only."""
    doors = {}
    for _, line in tree.lines("tools/doors.txt"):
        match = re.match(r"([^#\s:]+):([^;]*)(;\s*sources only)?$", line)
        if match:
            doors[match[1]] = (set(match[2].split()), match[3] is not None)
    return doors


def check_doors(tree: Tree) -> Problems:
    """Third-party headers only behind their doors (tools/doors.txt)."""
    doors = read_doors(tree)
    for path in tree.cpp():
        mine = {"*", folder_of(path), path.removeprefix("src/weir/")}
        mine |= {"tests"} if is_test(path) else set()
        for line, quote, name in tree.includes(path):
            standard = re.fullmatch(r"\w+", name) or C_HEADERS.fullmatch(name)
            if quote == '"' or standard:
                continue
            fitting = [door for door in doors if name == door or
                       (door.endswith("/") and name.startswith(door))]
            if not fitting:
                yield path, line, f"<{name}> has no door in tools/doors.txt"
                continue
            folders, sources_only = doors[max(fitting, key=len)]
            if not folders & mine:
                yield path, line, f"<{name}> may only be included in {' '.join(sorted(folders))}"
            elif sources_only and path.endswith(".h"):
                yield path, line, f"<{name}> may not stand in a header of ours"


# ---- Files that nothing builds or runs ----------------------------------------------------------


def check_sources_reached(tree: Tree) -> Problems:
    commands = json.loads((tree.build / "compile_commands.json").read_text())
    built = {os.path.realpath(os.path.join(c["directory"], c["file"])) for c in commands}
    for path in tree.cpp():
        if path.endswith(".cc") and str(tree.root / path) not in built:
            yield path, 1, "no target compiles this source"
        if path.startswith("src/") and path.endswith(".h"):
            alone = tree.build / "headers_alone" / (path.removeprefix("src/") + ".cc")
            if os.path.realpath(alone) not in built:
                yield path, 1, "no unit of headers_alone compiles this header"


def check_sql_reached(tree: Tree) -> Problems:
    for path in tree.paths:
        if not path.endswith(".sql") or path.startswith("examples/"):
            continue
        match = re.match(r"(src/weir/\w+)/sql/", path)
        if not match or "EMBED_SQL" not in tree.text(f"{match[1]}/CMakeLists.txt"):
            yield path, 1, "no target embeds this SQL: move it to an EMBED_SQL folder"


def check_scripts_reached(tree: Tree) -> Problems:
    """A script is reached from the Makefile, .ci/run or CMake, or from a script that is reached."""
    waiting = [path for path in tree.paths if path.endswith((".py", ".sh"))]
    texts = [tree.text(path) for path in tree.paths
             if path in ("Makefile", ".ci/run") or path.endswith((".cmake", "CMakeLists.txt"))]
    while texts:
        text = texts.pop()
        for path in list(waiting):
            name = pathlib.PurePath(path)
            imported = rf"^\s*(import|from) {re.escape(name.stem)}\b"
            if name.name in text or (name.suffix == ".py" and re.search(imported, text, re.M)):
                waiting.remove(path)
                texts.append(tree.text(path))
    for path in waiting:
        yield path, 1, "nothing runs this script"


# ---- Functions, lines, words --------------------------------------------------------------------


def strip_cpp(text: str) -> str:
    """The text with comments, literals and preprocessor lines blanked; lines keep their numbers."""
    blank = re.compile(r'//[^\n]*|/\*.*?\*/|R"([^()\\ ]{0,16})\(.*?\)\1"|"(?:\\.|[^"\\\n])*"'
                       r"|(?<![0-9a-fA-F])'(?:\\.|[^'\\\n])*'"
                       r"|^[ \t]*#(?:[^\n]*\\\n)*[^\n]*", re.S | re.M)
    return blank.sub(lambda match: re.sub(r"[^\n]", " ", match[0]), text)


def function_name(head: str) -> str:
    test = re.search(r"\bTEST(?:_[FP])?\s*\(\s*(\w+)\s*,\s*(\w+)\s*\)", head)
    if test:
        return f"{test[1]}.{test[2]}"
    name = re.search(r"([\w:~]+)\s*\(", head)
    return name[1] if name else "operator"


def is_container(head: str) -> bool:
    """True for what is not a function: namespace, class, enum, initialiser."""
    head = re.sub(r"alignas\s*\([^)]*\)", "", head)
    return ")" not in head


def cpp_functions(text: str) -> list[tuple[str, int, int]]:
    """Name, first and last line of each outermost function."""
    code = strip_cpp(text)
    functions: list[tuple[str, int, int]] = []
    stack: list[tuple[str, str, int]] = []  # kind, name, first line
    head_start = 0
    after_function = False
    for match in re.finditer("[{};]", code):
        outside = not stack or stack[-1][0] == "container"
        if match[0] == "{":
            head = code[head_start:match.start()]
            start = line_of(code, head_start + len(head) - len(head.lstrip()))
            if not outside:
                stack.append(("inner", "", 0))
            elif after_function and re.fullmatch(r"\s*(,.*)?", head, re.S):
                name, start, _ = functions.pop()  # The body after a brace in an initialiser list.
                stack.append(("function", name, start))
            elif is_container(head):
                stack.append(("container", "", 0))
            else:
                stack.append(("function", function_name(head), start))
            head_start = match.end()
        elif match[0] == "}":
            kind, name, start = stack.pop() if stack else ("", "", 0)
            if kind == "function":
                functions.append((name, start, line_of(code, match.start())))
            after_function = kind == "function"
            head_start = match.end()
        elif outside:
            head_start = match.end()
            after_function = False
    return functions


def python_functions(text: str) -> list[tuple[str, int, int]]:
    return [(node.name, node.lineno, node.end_lineno or node.lineno)
            for node in ast.walk(ast.parse(text))
            if isinstance(node, (ast.FunctionDef, ast.AsyncFunctionDef))]


def check_function_lengths(tree: Tree) -> Problems:
    listing = "tools/long_functions.txt"
    allowed: dict[tuple[str, str], int] = {}
    for number, line in tree.lines(listing) if listing in tree.paths else []:
        entry = re.fullmatch(r"(\S+) (\S+): \S.*", line)
        if entry:
            allowed[entry[1], entry[2]] = number
        elif line and not line.startswith("#"):
            yield listing, number, "want `path function: reason`"
    for path in tree.paths:
        if not path.endswith((".cc", ".h", ".py")):
            continue
        find = python_functions if path.endswith(".py") else cpp_functions
        for name, first, last in find(tree.text(path)):
            length = last - first + 1
            if length > MAX_FUNCTION_LINES and allowed.pop((path, name), None) is None:
                yield path, first, f"{name} has {length} lines; at most {MAX_FUNCTION_LINES}"
    for (path, name), number in allowed.items():
        yield listing, number, f"{path} has no long function {name}: remove the line"


def check_line_lengths(tree: Tree) -> Problems:
    for path, number, line in tree.all_lines():
        code = path.endswith((*CODE_SUFFIXES, "CMakeLists.txt"))
        if code and len(line) > MAX_COLUMNS:
            yield path, number, f"{len(line)} columns; at most {MAX_COLUMNS}"


def check_names(tree: Tree) -> Problems:
    """No drawer for odds and ends: not in a path, not in a type or namespace."""
    defined = re.compile(r"\b(?:class|struct|enum|namespace|using|union|concept)\s+(\w+)")
    for path in tree.paths:
        if any(DRAWER.fullmatch(word) for word in re.split(r"[/_.-]", path)):
            yield path, 1, "the name says nothing: what does it hold?"
        if not path.endswith((".cc", ".h")):
            continue
        code = strip_cpp(tree.text(path))
        for match in defined.finditer(code):
            words = re.findall(r"[A-Z]?[a-z0-9]+|[A-Z]+", match[1])
            if any(DRAWER.fullmatch(word) for word in words):
                yield path, line_of(code, match.start()), f"{match[1]} says nothing: what is it?"


def check_sleeps(tree: Tree) -> Problems:
    for path in tree.paths:
        if not is_test(path) or not path.endswith((".cc", ".h", ".py", ".sh")):
            continue
        text = strip_cpp(tree.text(path)) if path.endswith((".cc", ".h")) else tree.text(path)
        for number, line in enumerate(text.splitlines(), 1):
            if SLEEPS.search(line) or (path.endswith(".sh") and re.match(r"\s*sleep\s", line)):
                yield path, number, "a test waits for a signal, it does not sleep"


def check_marks(tree: Tree) -> Problems:
    for path, number, line in tree.all_lines():
        if match := MARKS.search(line):
            yield path, number, f"{match[0]}: do it, or file it"


# ---- Documents, places --------------------------------------------------------------------------


def check_readmes(tree: Tree) -> Problems:
    """Every folder under src/weir says what it is; what documents name is there."""
    for folder in sorted({folder_of(path) for path in tree.paths} - {"tests", ""}):
        if f"src/weir/{folder}/README.md" not in tree.paths:
            yield f"src/weir/{folder}", 1, "the folder has no README.md"
    for path in tree.paths:
        if not path.endswith(".md"):
            continue
        home = pathlib.PurePath(path).parent
        in_folder = path.startswith("src/weir/")
        length = tree.text(path).count("\n")
        if (in_folder or path.startswith("docs/decisions/")) and length > MAX_NOTE_LINES:
            yield path, 1, f"{length} lines; at most {MAX_NOTE_LINES}"
        for number, line in tree.lines(path):
            for name in re.findall(r"`([\w./-]+\.(?:h|cc|sql|md|py|sh|txt|yaml|cmake))`", line):
                rooted = re.match(r"(src|tools|tests|docs|cmake)/", name)
                places = [home / name, pathlib.PurePath("src") / name, pathlib.PurePath(name)]
                if (in_folder or rooted) and not any((tree.root / p).exists() for p in places):
                    yield path, number, f"names {name}, which is not there"
            for name in re.findall(r"\]\(([^)#:\s]+)(?:#[^)]*)?\)", line):
                if not (tree.root / home / name).exists():
                    yield path, number, f"links to {name}, which is not there"


def check_places(tree: Tree) -> Problems:
    """Nothing in the repository depends on one machine or names where packages come from."""
    for path, number, line in tree.all_lines():
        if machine := MACHINE_PATH.search(line):
            yield path, number, f"{machine[0]}... is a path of one machine"
        for host in URL_HOST.findall(line) + BARE_HOST.findall(line):
            if not KNOWN_HOST.fullmatch(host):
                yield path, number, f"names the host {host}"


RULES = (check_layers, check_own_header_first, check_doors, check_sources_reached,
         check_sql_reached, check_scripts_reached, check_function_lengths, check_line_lengths,
         check_names, check_sleeps, check_marks, check_readmes, check_places)


def run(root: pathlib.Path, build: pathlib.Path) -> list[str]:
    tree = Tree(root, build)
    found = {problem for rule in RULES for problem in rule(tree)}
    return [f"{path}:{line}: {what}" for path, line, what in sorted(found)]


def main() -> int:
    if len(sys.argv) != 3:
        print(__doc__, file=sys.stderr)
        return 64
    problems = run(pathlib.Path(sys.argv[1]), pathlib.Path(sys.argv[2]))
    for problem in problems:
        print(problem)
    print(f"tidy: {len(problems)} problems")
    return 1 if problems else 0


if __name__ == "__main__":
    sys.exit(main())
