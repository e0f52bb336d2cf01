#!/usr/bin/env python3
"""Parquet files that weir did not write, and their content hash as DuckDB computes it.

Usage: foreign_files.py write FOLDER    folders of files, each a table
       foreign_files.py hash FOLDER     of one table: "rows:hash"

The hash is that of src/weir/file/content_hash.h.
"""
import datetime
import decimal
import pathlib
import sys

import duckdb
import pyarrow
import pyarrow.parquet


def columns():
    """Of every Arrow type that a column of weir's carries in another form, and of some others."""
    day = datetime.date(2020, 2, 29)
    return {
        "i8": pyarrow.array([1, -2, None], pyarrow.int8()),
        "u16": pyarrow.array([65535, 0, 1], pyarrow.uint16()),
        "u32": pyarrow.array([2**32 - 1, None, 1], pyarrow.uint32()),
        "u64": pyarrow.array([2**64 - 1, 0, None], pyarrow.uint64()),
        "small": pyarrow.array([decimal.Decimal("1.20"), None, decimal.Decimal("-3.45")],
                               pyarrow.decimal128(7, 2)),
        "large": pyarrow.array([decimal.Decimal(10) ** 30, None, decimal.Decimal(-1)],
                               pyarrow.decimal128(38, 3)),
        "day": pyarrow.array([day, None, datetime.date(1969, 12, 31)]),
        "moment": pyarrow.array([1_000, -1_000, None], pyarrow.timestamp("ms")),
        "text": pyarrow.array(["a", None, "ß\n"], pyarrow.large_string()),
        "word": pyarrow.array(["x", "y", None]).dictionary_encode(),
    }


def write(folder):
    whole = pyarrow.table(columns())
    for name in ("one.parquet", "two.parquet"):
        path = folder / "mixed" / name
        path.parent.mkdir(exist_ok=True)
        pyarrow.parquet.write_table(whole, path, row_group_size=2)
    single = {
        "nested": pyarrow.table({"pair": pyarrow.array([{"x": 1}])}),
        "precise": pyarrow.table({"at": pyarrow.array([1], pyarrow.timestamp("ns"))}),
    }
    for name, table in single.items():
        (folder / name).mkdir()
        pyarrow.parquet.write_table(table, folder / name / "part.parquet")
    (folder / "unlike").mkdir()
    pyarrow.parquet.write_table(whole, folder / "unlike" / "a.parquet")
    pyarrow.parquet.write_table(whole.drop_columns(["text"]), folder / "unlike" / "b.parquet")


def content_hash(folder):
    files = f"read_parquet('{folder}/*.parquet')"
    names = [row[0] for row in duckdb.sql(f"DESCRIBE SELECT * FROM {files}").fetchall()]
    row_text = " || chr(31) || ".join(
        f"coalesce(CAST(\"{name}\" AS VARCHAR), chr(30))" for name in names)
    word = f"CAST(CAST('0x' || substr(md5({row_text}), 1, 16) AS UBIGINT) AS HUGEINT)"
    rows, total = duckdb.sql(
        f"SELECT count(*), sum(word - CASE WHEN word >= 9223372036854775808 THEN "
        f"18446744073709551616 ELSE 0 END) FROM (SELECT {word} AS word FROM {files})").fetchall()[0]
    return f"{rows}:{int(total)}"


def main():
    action, folder = sys.argv[1], pathlib.Path(sys.argv[2])
    if action == "write":
        write(folder)
    else:
        print(content_hash(folder))


if __name__ == "__main__":
    main()
