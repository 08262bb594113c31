"""What fits the types of JSON's fields, and yet makes no value."""

from __future__ import annotations

from dataclasses import dataclass

import pytest

from headrace.common import Instant, Row, Types
from headrace.common.serialization import DeserializationError
from headrace.common.typeinfo import TypeInformation
from headrace.datastream.formats.json import (
    JsonRowDeserializationSchema,
    JsonRowSerializationSchema,
)

_RAISED: dict[str, Exception] = {
    "value": ValueError("too low"),
    "key": KeyError("too low"),
    "type": TypeError("too low"),
    "division": ZeroDivisionError("too low"),
}


@dataclass
class Age:
    years: int
    how: str

    def __post_init__(self) -> None:
        if self.years < 0:
            raise _RAISED[self.how]


def reader(declared: object, ignoring: bool) -> JsonRowDeserializationSchema:
    row = Types.ROW_NAMED(["age", "x"], [Types.OF(declared), Types.INT()])
    builder = JsonRowDeserializationSchema.builder().type_info(row)
    return (builder.ignore_parse_errors() if ignoring else builder).build()


def record(how: str, years: int = -1) -> bytes:
    return f'{{"age":{{"years":{years},"how":"{how}"}},"x":1}}'.encode()


@pytest.mark.parametrize("how", _RAISED)
@pytest.mark.parametrize("declared", [Age, Age | None])
def test_a_class_that_refuses_its_fields_is_named(how: str, declared: object) -> None:
    name = type(_RAISED[how]).__name__
    with pytest.raises(DeserializationError, match=f"field age makes no Age: {name}: .?too low"):
        reader(declared, ignoring=False).deserialize(record(how))
    assert reader(declared, ignoring=False).deserialize(record(how, 7)) == Row(Age(7, how), 1)


@pytest.mark.parametrize("how", _RAISED)
def test_where_errors_are_ignored_it_is_none_or_the_record_is_left_out(how: str) -> None:
    assert reader(Age | None, ignoring=True).deserialize(record(how)) == Row(None, 1)
    assert reader(Age, ignoring=True).deserialize(record(how)) is None


@pytest.mark.parametrize("how", _RAISED)
def test_an_element_of_an_array_is_found(how: str) -> None:
    row = Types.ROW_NAMED(["ages"], [Types.OF(list[Age])])
    read = JsonRowDeserializationSchema.builder().type_info(row).build()
    data = f'{{"ages":[{{"years":1,"how":""}},{{"years":-1,"how":"{how}"}}]}}'.encode()
    with pytest.raises(DeserializationError, match=r"field ages\[1\] makes no Age"):
        read.deserialize(data)


BORN: TypeInformation = Types.ROW_NAMED(["born"], [Types.INSTANT()])


@pytest.mark.parametrize("seconds", [10**20, -(10**20), 253_402_300_800, -62_135_596_801])
def test_seconds_that_are_in_no_year_are_refused(seconds: int) -> None:
    data = f'{{"born":{seconds}}}'.encode()
    builder = JsonRowDeserializationSchema.builder().type_info(BORN)
    with pytest.raises(DeserializationError, match=r"field born is .*, which is no INSTANT"):
        builder.build().deserialize(data)
    assert builder.ignore_parse_errors().build().deserialize(data) == Row(None)


@pytest.mark.parametrize(
    ("seconds", "text"),
    [(253_402_300_799, "9999-12-31T23:59:59Z"), (-62_135_596_800, "0001-01-01T00:00:00Z")],
)
def test_seconds_that_are_read_can_be_written(seconds: int, text: str) -> None:
    read = JsonRowDeserializationSchema.builder().type_info(BORN).build()
    row = read.deserialize(f'{{"born":{seconds}}}'.encode())
    assert row == Row(Instant(seconds))
    write = JsonRowSerializationSchema.builder().with_type_info(BORN).build()
    assert write.serialize(row).decode() == f'{{"born":"{text}"}}'
