#!/usr/bin/env python3
"""Turn a folder's sql/ tree into one generated header of string constants.

sql/content_items.sql -> weir::<folder>::sql::kContentItems
sql/migrations/0001_init.up.sql -> kMigrations0001InitUp
"""
import pathlib
import re
import sys


def constant_name(path: pathlib.Path) -> str:
    words = re.split(r"[^A-Za-z0-9]+", str(path.with_suffix("")))
    return "k" + "".join(word[:1].upper() + word[1:] for word in words if word)


def main() -> None:
    folder, root, out = sys.argv[1], pathlib.Path(sys.argv[2]), pathlib.Path(sys.argv[3])
    lines = ["#pragma once", f"// Generated from src/weir/{folder}/sql by tools/embed_sql.py.",
             "#include <string_view>", f"namespace weir::{folder}::sql {{"]
    for path in sorted(root.rglob("*.sql")):
        name = constant_name(path.relative_to(root))
        lines.append(f'inline constexpr std::string_view {name} =')
        lines.append(f'    R"weirsql({path.read_text()})weirsql";')
    lines.append(f"}}  // namespace weir::{folder}::sql")
    out.parent.mkdir(parents=True, exist_ok=True)
    out.write_text("\n".join(lines) + "\n")


if __name__ == "__main__":
    main()
