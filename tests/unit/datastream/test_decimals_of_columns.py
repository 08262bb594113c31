"""Numbers that no DECIMAL holds are refused like any value that does not fit."""

from __future__ import annotations

from decimal import Decimal
from pathlib import Path

import pytest

from headrace.common import Row
from headrace.common.serialization import DeserializationError
from headrace.common.typeinfo import TypeMismatch
from headrace.datastream.formats.csv import (
    CsvReaderFormat,
    CsvRowDeserializationSchema,
    CsvSchema,
)
from headrace.datastream.formats.json import (
    JsonRowDeserializationSchema,
    JsonRowSerializationSchema,
)
from headrace.table import DataTypes

PRICE = DataTypes.DECIMAL(10, 2)
ROW = DataTypes.ROW([DataTypes.FIELD("price", PRICE)]).to_type_info()
TOO_LARGE = ["1e9", "1e990", "1e2000", "-1e2000", "1e999999999"]


@pytest.mark.parametrize("number", [*TOO_LARGE, "NaN", "sNaN", "Infinity", "-Infinity"])
def test_a_number_that_does_not_fit_is_named(number: str) -> None:
    with pytest.raises(TypeMismatch, match=r"field price is .*, which is no DECIMAL\(10, 2\)"):
        PRICE.to_type_info().check(Decimal(number), "field price")
    with pytest.raises(TypeMismatch, match=r"field price is .*, which is no DECIMAL\(10, 2\)"):
        write = JsonRowSerializationSchema.builder().with_type_info(ROW).build()
        write.serialize(Row(price=Decimal(number)))


@pytest.mark.parametrize("number", ["0", "0e9999", "1e-999999999", f"0.00{'1' * 3000}"])
def test_what_rounds_to_nothing_fits(number: str) -> None:
    assert PRICE.to_type_info().check(Decimal(number)) == 0


@pytest.mark.parametrize("number", TOO_LARGE)
def test_csv_says_so_or_has_none(number: str) -> None:
    with pytest.raises(DeserializationError, match=r"field price is .* no DECIMAL\(10, 2\)"):
        CsvRowDeserializationSchema.Builder(ROW).build().deserialize(number.encode())
    lenient = CsvRowDeserializationSchema.Builder(ROW).set_ignore_parse_errors(True).build()
    assert lenient.deserialize(number.encode()) == Row(None)


@pytest.mark.parametrize("number", TOO_LARGE)
@pytest.mark.parametrize("quote", ["", '"'])
def test_json_says_so_or_has_none(number: str, quote: str) -> None:
    data = f'{{"price":{quote}{number}{quote}}}'.encode()
    builder = JsonRowDeserializationSchema.builder().type_info(ROW)
    with pytest.raises(DeserializationError, match=r"field price is .* no DECIMAL\(10, 2\)"):
        builder.build().deserialize(data)
    assert builder.ignore_parse_errors().build().deserialize(data) == Row(None)


def test_files_of_csv_say_where(tmp_path: Path) -> None:
    path = tmp_path / "prices.csv"
    path.write_text("1.005\n1e2000\n")
    schema = CsvSchema.builder().add_number_column("price", PRICE).build()
    rows = CsvReaderFormat.for_schema(schema).read(str(path))
    assert next(rows) == Row(Decimal("1.01"))
    with pytest.raises(ValueError, match=r"prices\.csv, line 2: field price is"):
        next(rows)
