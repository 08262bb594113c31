"""Cells of CSV as Flink writes them, and decimals of a declared scale."""

from __future__ import annotations

import pickle
from decimal import Decimal
from pathlib import Path
from typing import Any

import pytest

from headrace.common import Row
from headrace.common.type_base import TypeMismatch
from headrace.datastream.formats.csv import CsvBulkWriters, CsvReaderFormat, CsvSchema
from headrace.datastream.formats.csv_layout import Layout, quoted
from headrace.table import DataTypes


def written(schema: CsvSchema, row: Any, folder: Path) -> str:
    part = CsvBulkWriters.for_schema(schema).open(folder / "part.csv")
    part.write(row)
    part.close()
    return (folder / "part.csv").read_text()


@pytest.mark.parametrize(
    ("layout", "text", "cell"),
    [
        (Layout(), "plain", "plain"),
        (Layout(), "a b", '"a b"'),
        (Layout(), "a\\b", '"a\\b"'),
        (Layout("|"), "plain", '"plain"'),
        (Layout(), "x" * 25, f'"{"x" * 25}"'),
        (Layout(";", "'", "*"), "1'2*", "'1''2**'"),
        (Layout(escape="\\"), 'say, "no"', '"say, ""no"""'),
        (Layout(quote=None), "a b", "a b"),
    ],
)
def test_cells_are_quoted(layout: Layout, text: str, cell: str) -> None:
    assert quoted(text, layout) == cell


def test_files_have_the_numbers_of_java(tmp_path: Path) -> None:
    schema = CsvSchema.builder()
    for name, kind in (
        ("single", DataTypes.FLOAT()),
        ("double", DataTypes.DOUBLE()),
        ("decimal", DataTypes.DECIMAL(5, 2)),
        ("whole", DataTypes.INT()),
    ):
        schema.add_number_column(name, kind)
    built = schema.add_boolean_column("b").add_string_column("s").set_use_header().build()
    row = Row(1e10, 1e-5, Decimal("1.50"), None, True, "a b")
    text = "single,double,decimal,whole,b,s\n" + '1.0E10,1.0E-5,1.50,,true,"a b"\n'
    assert written(built, row, tmp_path) == text


def test_a_cell_without_quotes_that_needs_them_fails(tmp_path: Path) -> None:
    schema = CsvSchema.builder().add_string_column("s").disable_quote_char().build()
    assert written(schema, Row('a "b"'), tmp_path) == 'a "b"\n'
    with pytest.raises(ValueError, match="needs quotes"):
        CsvBulkWriters.for_schema(schema).open(tmp_path / "other.csv").write(Row("a,b"))


def test_decimals_have_their_scale(tmp_path: Path) -> None:
    (tmp_path / "rows.csv").write_text("1.255\n-2.5\n\n")
    schema = CsvSchema.builder().add_number_column("n", DataTypes.DECIMAL(3, 2)).build()
    rows = CsvReaderFormat(schema).read(str(tmp_path / "rows.csv"))
    assert [str(row["n"]) for row in rows] == ["1.26", "-2.50"]
    kind = pickle.loads(pickle.dumps(DataTypes.DECIMAL(3, 2).to_type_info()))
    with pytest.raises(TypeMismatch, match=r"n is .*12\.5.*, which is no DECIMAL\(3, 2\)"):
        kind.check(Decimal("12.5"), "n")
    assert kind.check(None) is None
