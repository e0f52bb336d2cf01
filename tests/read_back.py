#!/usr/bin/env python3
"""Reads the Parquet files of an export with pyarrow and with DuckDB, and compares every value.

Usage: read_back.py FOLDER EXPECTED.csv

EXPECTED.csv is PostgreSQL's: a header of `name:kind`, then the rows in the export's order. Values
are PostgreSQL's text, but for kinds `days` (since 1970-01-01), `micros` (since 1970-01-01, or since
midnight) and `json`; NULL is <null>.
"""
import csv
import decimal
import json
import pathlib
import struct
import sys

import duckdb
import pyarrow
import pyarrow.parquet

NULL = "<null>"


def float_bits(value, code):
    number = float(value)
    return "NaN" if number != number else struct.pack(code, number).hex()


def plain(value):
    """A list element as it stands in JSON."""
    if value is None or isinstance(value, (bool, int, str)):
        return value
    if isinstance(value, float):
        return decimal.Decimal(repr(value))
    return value if isinstance(value, decimal.Decimal) else str(value)


def expected_form(kind, text):
    if text == NULL:
        return None
    if kind in ("float4", "float8"):
        return float_bits(text, "<f" if kind == "float4" else "<d")
    if kind == "json":
        return [decimal.Decimal(item) if isinstance(item, int) and not isinstance(item, bool)
                else item for item in json.loads(text, parse_float=decimal.Decimal)]
    return text


def read_form(kind, value):
    """What a reader gave, in the form of expected_form."""
    if value is None:
        return None
    if kind in ("float4", "float8"):
        return float_bits(value, "<f" if kind == "float4" else "<d")
    if kind == "json":
        return [decimal.Decimal(item) if isinstance(item, int) and not isinstance(item, bool)
                else item for item in map(plain, value)]
    if isinstance(value, bool):
        return "t" if value else "f"
    if isinstance(value, decimal.Decimal):
        return format(value, "f")
    if isinstance(value, (bytes, bytearray)):
        return "\\x" + bytes(value).hex()
    return str(value)


def read_with_pyarrow(paths, kinds):
    rows = []
    for path in paths:
        table = pyarrow.parquet.read_table(path)
        columns = []
        for kind, column in zip(kinds, table.columns):
            if kind == "days":
                column = column.cast(pyarrow.int32())
            elif kind == "micros":
                column = column.cast(pyarrow.int64())
            columns.append(column.to_pylist())
        rows += [list(row) for row in zip(*columns)]
    return rows


def read_with_duckdb(paths, names, kinds):
    forms = {"days": "{} - DATE '1970-01-01'", "micros": "epoch_us({})"}
    select = ", ".join(
        forms.get(kind, "{}").format('"' + name.replace('"', '""') + '"')
        for name, kind in zip(names, kinds))
    connection = duckdb.connect()
    connection.execute("SET TimeZone = 'UTC'; SET threads = 1")
    rows = []
    for path in paths:
        rows += connection.execute(f"SELECT {select} FROM read_parquet(?)", [str(path)]).fetchall()
    return rows


def check_schema(path, names):
    """Field ids are the attribute numbers that weir.schema names."""
    schema = pyarrow.parquet.read_schema(path)
    columns = json.loads(schema.metadata[b"weir.schema"])["columns"]
    assert [column["name"] for column in columns] == names, columns
    ids = [int(field.metadata[b"PARQUET:field_id"]) for field in schema]
    assert ids == [column["attnum"] for column in columns], ids


def compare(reader, names, kinds, expected, rows):
    problems = 0
    if len(rows) != len(expected):
        print(f"{reader}: {len(rows)} rows, PostgreSQL has {len(expected)}")
        problems += 1
    for number, (want, got) in enumerate(zip(expected, rows), 1):
        for name, kind, text, value in zip(names, kinds, want, got):
            if expected_form(kind, text) != read_form(kind, value):
                print(f"{reader}: row {number}, {name} ({kind}): {value!r}, not {text!r}")
                problems += 1
    return problems


def main():
    folder, expected_path = pathlib.Path(sys.argv[1]), sys.argv[2]
    paths = sorted(folder.glob("part-*.parquet"))
    with open(expected_path, newline="", encoding="utf-8") as file:
        header, *expected = list(csv.reader(file))
    names, kinds = zip(*(column.rsplit(":", 1) for column in header))
    for path in paths:
        check_schema(path, list(names))
    problems = compare("pyarrow", names, kinds, expected, read_with_pyarrow(paths, kinds))
    problems += compare("duckdb", names, kinds, expected, read_with_duckdb(paths, names, kinds))
    print(f"{len(expected)} rows of {len(names)} columns, {len(paths)} files, {problems} problems")
    return 0 if problems == 0 and paths else 1


if __name__ == "__main__":
    sys.exit(main())
