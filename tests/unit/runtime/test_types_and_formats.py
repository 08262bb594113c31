"""Declared types, Rows, JSON, and how values print."""

from __future__ import annotations

import pickle
from dataclasses import dataclass
from datetime import datetime, time
from decimal import Decimal

import pytest

from headrace.common import Instant, Row, Types
from headrace.common.serialization import DeserializationError, SimpleStringSchema
from headrace.common.typeinfo import TypeInformation, TypeMismatch
from headrace.datastream.formats.json import (
    JsonRowDeserializationSchema,
    JsonRowSerializationSchema,
)
from headrace.runtime.sinks import PrintSink

PERSON = Types.ROW_NAMED(["name", "age", "born"], [Types.STRING(), Types.INT(), Types.INSTANT()])


def reader(strict: bool = True) -> JsonRowDeserializationSchema:
    builder = JsonRowDeserializationSchema.builder().type_info(PERSON)
    return (builder.fail_on_missing_field() if strict else builder.ignore_parse_errors()).build()


def test_json_to_row_and_back() -> None:
    text = b'{"name":"Ada","age":36,"born":"1815-12-10T01:02:03Z"}'
    row = reader().deserialize(text)
    assert row == Row(name="Ada", age=36, born=Instant(-4861724277))
    writer = JsonRowSerializationSchema.builder().with_type_info(PERSON).build()
    assert writer.serialize(row) == text


@pytest.mark.parametrize(
    ("data", "reason"),
    [
        (b"{broken", "not JSON"),
        (b"[1]", "a JSON list, not an object"),
        (None, "no value"),
        (b'{"name":"Ada","age":NaN,"born":null}', "NaN is no JSON number"),
        (b'{"name":"Ada","age":1,"born":null} {}', "Extra data"),
        (b'{"name":"\\ud800","age":1,"born":null}', "surrogates not allowed"),
        (b'{"name":"\\uD800","age":1,"born":null}', "surrogates not allowed"),
        (b'{"name":"\xed\xa0\x80","age":1,"born":null}', "not JSON"),
        (b"\xff\xfe", "not JSON"),
        (b"[" * 100_000, "not JSON"),
    ],
)
def test_what_is_no_object_of_json_says_why(data: bytes | None, reason: str) -> None:
    with pytest.raises(DeserializationError, match=reason):
        reader().deserialize(data)
    assert reader(strict=False).deserialize(data) is None


@pytest.mark.parametrize(
    ("field", "value", "reason"),
    [
        ("age", '"old"', "field age is 'old', which is no INT"),
        ("age", "3000000000", "outside"),
        ("age", "1e400", "which is no INT"),
        ("age", "1.5", "not a whole number"),
        ("age", '"1.5"', "field age is '1.5'"),
        ("age", '"1_000"', "not a number"),
        ("age", "true", "not a whole number"),
        ("age", "[1]", "field age is"),
        ("born", '"yesterday"', "'yesterday', which is no INSTANT"),
        ("born", '"2013-01-01T00:00:00"', "no time zone"),
        ("born", '"0001-01-01T00:00:00+14:00"', "which is no INSTANT"),
    ],
)
def test_a_field_that_does_not_fit_says_why_or_is_none(field: str, value: str, reason: str) -> None:
    others = {"name": '"Ada"', "age": "1", "born": "null", field: value, "height": "1e999"}
    pairs = ",".join(f'"{name}":{each}' for name, each in others.items())
    data = f"{{{pairs}}}".encode()
    with pytest.raises(DeserializationError, match=reason):
        reader().deserialize(data)
    row = reader(strict=False).deserialize(data)
    assert row is not None
    assert (row.name, row[field]) == ("Ada", None)


def test_fields_that_are_missing_are_named() -> None:
    with pytest.raises(DeserializationError, match="no field 'age', 'born'"):
        reader().deserialize(b'{"name":"Ada"}')
    outer = Types.ROW_NAMED(["person"], [PERSON])
    strict = JsonRowDeserializationSchema.builder().type_info(outer).fail_on_missing_field()
    with pytest.raises(DeserializationError, match="field person has no field 'born'"):
        strict.build().deserialize(b'{"person":{"name":"Ada","age":1}}')
    assert strict.build().deserialize(b'{"person":null}') == Row(None)
    assert strict.build().deserialize(b"null") is None


@pytest.mark.parametrize(
    ("declared", "given", "value", "written"),
    [
        (Types.STRING(), "1.50", "1.5", '"1.5"'),
        (Types.STRING(), "1e5", "100000.0", '"100000.0"'),
        (Types.STRING(), '{"a": [true]}', '{"a":[true]}', r'"{\"a\":[true]}"'),
        (Types.BOOLEAN(), '"TRUE"', True, "true"),
        (Types.INT(), '" 7 "', 7, "7"),
        (Types.FLOAT(), '"0.1"', 0.10000000149011612, "0.1"),
        (Types.DOUBLE(), "1e22", 1e22, "1.0E22"),
        (Types.DOUBLE(), '"0.0001"', 0.0001, "1.0E-4"),
        (Types.DOUBLE(), "-1e400", float("-inf"), '"-Infinity"'),
        (Types.DOUBLE(), '"-Infinity"', float("-inf"), '"-Infinity"'),
        (Types.BIG_INT(), "1" * 30, int("1" * 30), "1" * 30),
        (Types.BIG_DEC(), "1." + "1" * 40, Decimal("1." + "1" * 40), "1." + "1" * 40),
        (Types.BIG_DEC(), "1.50", Decimal("1.5"), "1.5"),
        (Types.BIG_DEC(), '"1.50"', Decimal("1.50"), "1.50"),
        (Types.BIG_DEC(), "1e3", Decimal("1E+3"), "1E+3"),
        (Types.SQL_TIME(), '"12:34:56Z"', time(12, 34, 56), '"12:34:56Z"'),
        (
            Types.SQL_TIMESTAMP(),
            '"2021-02-03T04:05:06.100Z"',
            datetime(2021, 2, 3, 4, 5, 6, 100_000),
            '"2021-02-03T04:05:06.1Z"',
        ),
        (Types.INSTANT(), "1612325106", Instant(1612325106), '"2021-02-03T04:05:06Z"'),
        (Types.PRIMITIVE_ARRAY(Types.BYTE()), '"YWI="', b"ab", '"YWI="'),
        (Types.BASIC_ARRAY(Types.STRING()), '["a",null,1]', ["a", None, "1"], '["a",null,"1"]'),
        (Types.MAP(Types.INT(), Types.INT()), '{"1":"2"}', {1: 2}, '{"1":2}'),
        (Types.TUPLE([Types.INT()]), '{"f0":1}', (1,), '{"f0":1,"arity":1}'),
    ],
)
def test_json_is_read_and_written_as_flink_does(
    declared: TypeInformation, given: str, value: object, written: str
) -> None:
    row = Types.ROW_NAMED(["a"], [declared])
    found = JsonRowDeserializationSchema.builder().type_info(row).build()
    assert found.deserialize(f'{{"a":{given}}}'.encode()) == Row(value)
    writer = JsonRowSerializationSchema.builder().with_type_info(row).build()
    assert writer.serialize(Row(value)).decode() == f'{{"a":{written}}}'


@dataclass(kw_only=True)
class Place:
    lat: float
    name: str | None = None


def test_objects_within_may_be_of_a_dataclass() -> None:
    row = Types.ROW_NAMED(["at"], [Types.OF(Place)])
    read = JsonRowDeserializationSchema.builder().type_info(row).build()
    assert read.deserialize(b'{"at":{"lat":"1.5"}}') == Row(Place(lat=1.5))
    with pytest.raises(DeserializationError, match=r"field at\.lat is null"):
        read.deserialize(b'{"at":{}}')
    write = JsonRowSerializationSchema.builder().with_type_info(row).build()
    assert write.serialize(Row(Place(lat=1.5))) == b'{"at":{"lat":1.5,"name":null}}'


def test_parts_that_do_not_fit_are_none_where_errors_are_ignored() -> None:
    full = Types.ROW_NAMED(["n"], [Types.NOT_NULL(Types.INT())])
    outer = Types.ROW_NAMED(["xs", "r"], [Types.BASIC_ARRAY(Types.INT()), full])
    lenient = JsonRowDeserializationSchema.builder().type_info(outer).ignore_parse_errors().build()
    lenient = pickle.loads(pickle.dumps(lenient))
    assert lenient.deserialize(b'{"xs":[1,"x"],"r":{"n":1}}') == Row([1, None], Row(1))
    assert lenient.deserialize(b'{"xs":"x","r":{"n":"x"}}') == Row(None, None)
    inner = JsonRowDeserializationSchema.builder().type_info(full).ignore_parse_errors().build()
    assert inner.deserialize(b'{"n":"x"}') is None


def test_missing_fields_are_null_unless_told_otherwise() -> None:
    row = reader(strict=False).deserialize(b'{"name":"Ada"}')
    assert row is not None
    assert row.as_dict() == {"name": "Ada", "age": None, "born": None}


def test_characters_beyond_the_basic_plane_are_read() -> None:
    row = reader().deserialize(b'{"name":"\\ud83d\\ude00","age":null,"born":null}')
    assert row is not None
    assert row.name == "\U0001f600"


def test_a_validation_refuses_what_fits_the_type() -> None:
    def adult(person: Row) -> None:
        if person.age < 18:
            raise ValueError(f"{person.name} is a child")

    builder = JsonRowDeserializationSchema.builder().type_info(PERSON).validate(adult)
    assert builder.build().deserialize(b'{"name":"Ada","age":36}') is not None
    with pytest.raises(DeserializationError, match="Ada is a child"):
        builder.build().deserialize(b'{"name":"Ada","age":6}')
    assert builder.ignore_parse_errors().build().deserialize(b'{"name":"Ada","age":6}') is None


def test_null_is_refused_where_declared() -> None:
    row = Types.ROW_NAMED(["name", "age"], [Types.NOT_NULL(Types.STRING()), Types.INT()])
    assert row.check({"name": "Ada"}) == Row("Ada", None)
    with pytest.raises(TypeMismatch, match=r"^field name is null$"):
        row.check({"age": 1})
    assert pickle.loads(pickle.dumps(row)).format(Row("Ada", 1)) == "+I[Ada, 1]"


PLACE = Types.ROW_NAMED(
    ["pos", "tags"],
    [
        Types.ROW_NAMED(["lat", "lon"], [Types.DOUBLE(), Types.DOUBLE()]),
        Types.MAP(Types.STRING(), Types.LIST(Types.INT())),
    ],
)


def test_a_nested_row_may_be_null() -> None:
    place = PLACE.check({"pos": None})
    assert place == Row(None, None)
    assert PLACE.format(place) == "+I[null, null]"
    assert PLACE.check({"pos": [1, 2]}).pos == Row(lat=1.0, lon=2.0)
    writer = JsonRowSerializationSchema.builder().with_type_info(PLACE).build()
    assert writer.serialize(place) == b'{"pos":null,"tags":null}'
    with pytest.raises(TypeMismatch, match="no row"):
        writer.serialize(None)


@pytest.mark.parametrize(
    ("value", "reason"),
    [
        ({"pos": 5}, "field pos is 5, no row"),
        ({"pos": "ab"}, "field pos is 'ab', no row"),
        ({"pos": [1]}, "field pos has 1 fields, not 2"),
        ({"pos": {"lat": "x"}}, "field pos.lat is 'x', which is no DOUBLE"),
        ({"tags": {"a": [1, "b"]}}, "field tags['a'][1] is 'b', which is no INT"),
        ({"tags": 1}, "field tags is 1, no map"),
    ],
)
def test_what_does_not_fit_is_named_by_its_path(value: object, reason: str) -> None:
    with pytest.raises(TypeMismatch) as failure:
        PLACE.check(value)
    assert str(failure.value).startswith(reason)


@pytest.mark.parametrize(
    "declared",
    [
        Types.INSTANT(),
        Types.INT(),
        Types.TUPLE([Types.INT()]),
        Types.LIST(Types.INT()),
        Types.MAP(Types.STRING(), Types.INT()),
        PLACE,
    ],
)
def test_messages_stay_short_whatever_the_value(declared: TypeInformation) -> None:
    with pytest.raises(TypeMismatch) as failure:
        declared.check("x" * 1_000_000)
    assert len(str(failure.value)) < 300


def test_float_is_single_precision() -> None:
    assert Types.FLOAT().check(0.1) == 0.10000000149011612
    assert Types.DOUBLE().check(1) == 1.0
    with pytest.raises(TypeMismatch, match="which is no SHORT"):
        Types.SHORT().check(40_000)


def test_values_print_as_in_pyflink() -> None:
    pair = Types.TUPLE([Types.STRING(), Types.INT()])
    assert PrintSink(None, pair).line(("hi", 5)) == "(hi,5)"
    assert PrintSink("out", None).line(("hi", 5)) == "out> ('hi', 5)"
    assert (
        PrintSink(None, Types.ROW([Types.STRING(), Types.BOOLEAN()])).line(Row("a", True))
        == "+I[a,True]"
    )


def test_rows_by_name_and_position_survive_pickling() -> None:
    row = Row(name="Ada", age=36)
    assert (row.name, row["age"], row[0], list(row), len(row)) == ("Ada", 36, "Ada", ["Ada", 36], 2)
    again = pickle.loads(pickle.dumps(row))
    assert again == row
    assert again.as_dict() == {"name": "Ada", "age": 36}
    with pytest.raises(AttributeError, match="no field 'size'"):
        _ = row.size
    with pytest.raises(ValueError, match="no field 'size'"):
        _ = row["size"]


def test_types_survive_pickling() -> None:
    assert pickle.loads(pickle.dumps(PERSON)).check(["Ada", 1, None]) == Row("Ada", 1, None)


def test_text_in_another_character_set() -> None:
    assert SimpleStringSchema("latin-1").deserialize(b"\xe9") == "é"
    with pytest.raises(DeserializationError, match="not UTF-8 text"):
        SimpleStringSchema().deserialize(b"\xe9")
    with pytest.raises(LookupError):
        SimpleStringSchema("no-such-charset")
