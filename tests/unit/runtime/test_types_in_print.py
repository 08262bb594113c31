"""Declared types: how values print, what fits, and Python's own types in their place."""

from __future__ import annotations

import array
import pickle
import struct
from dataclasses import dataclass
from datetime import UTC, date, datetime, time
from decimal import Decimal
from typing import Any

import numpy
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from headrace.common import Instant, Row, RowKind, Types, java_text
from headrace.common.typeinfo import DataclassTypeInfo, TypeInformation, TypeMismatch
from headrace.datastream import StreamExecutionEnvironment


@pytest.mark.parametrize(
    ("declared", "value", "text"),
    [
        (Types.STRING(), "hi", "hi"),
        (Types.STRING(), None, "null"),
        (Types.BOOLEAN(), True, "true"),
        (Types.LONG(), -5, "-5"),
        (Types.DOUBLE(), 1, "1.0"),
        (Types.FLOAT(), 0.1, "0.1"),
        (Types.FLOAT(), 16777216, "1.6777216E7"),
        (Types.BIG_DEC(), Decimal("1.50"), "1.50"),
        (Types.BIG_INT(), 1 << 70, "1180591620717411303424"),
        (Types.SQL_DATE(), date(2021, 1, 9), "2021-01-09"),
        (Types.SQL_TIME(), time(3, 4, 5, 6), "03:04:05"),
        (Types.SQL_TIMESTAMP(), datetime(2021, 1, 9, 3, 4, 5), "2021-01-09 03:04:05.0"),
        (Types.SQL_TIMESTAMP(), datetime(2021, 1, 9, 3, 4, 5, 120000), "2021-01-09 03:04:05.12"),
        (Types.SQL_TIMESTAMP(), datetime(21, 1, 9, 3, 4, 5), "0021-01-09 03:04:05.0"),
        (Types.INSTANT(), Instant(0, 1_000_000), "1970-01-01T00:00:00.001Z"),
        (Types.INSTANT(), datetime(1970, 1, 2, tzinfo=UTC), "1970-01-02T00:00:00Z"),
        (Types.LIST(Types.STRING()), ["a", None], "[a, null]"),
        (Types.BASIC_ARRAY(Types.DOUBLE()), (1, 2.5), "[1.0, 2.5]"),
        (Types.PRIMITIVE_ARRAY(Types.INT()), array.array("i", [1, 2]), "[1, 2]"),
        (Types.OBJECT_ARRAY(Types.ROW([Types.INT()])), [Row(1)], "[+I[1]]"),
        (Types.MAP(Types.STRING(), Types.BOOLEAN()), {"a": True, "b": None}, "{a=true, b=null}"),
        (Types.TUPLE([Types.STRING(), Types.INT(), Types.FLOAT()]), ("hi", 0, 5), "(hi,0,5.0)"),
        (Types.TUPLE([Types.TUPLE([Types.INT()]), Types.STRING()]), ((1,), None), "((1),null)"),
        (Types.ROW([Types.INT(), Types.BOOLEAN()]), Row(1, None), "+I[1, null]"),
        (Types.ROW([Types.INT()]), Row.of_kind(RowKind.DELETE, 1), "-D[1]"),
        (Types.ROW([Types.INT()]), (1,), "+I[1]"),
        (Types.PICKLED_BYTE_ARRAY(), ("hi", None), "('hi', None)"),
    ],
)
def test_values_print_as_in_java(declared: TypeInformation, value: Any, text: str) -> None:
    assert declared.format(declared.check(value)) == text


@pytest.mark.parametrize(
    ("number", "text"),
    [
        (0.0, "0.0"),
        (-0.0, "-0.0"),
        (100.0, "100.0"),
        (0.001, "0.001"),
        (0.00099, "9.9E-4"),
        (9999999.0, "9999999.0"),
        (10000000.0, "1.0E7"),
        (123456789.125, "1.23456789125E8"),
        (1e21, "1.0E21"),
        (5e-324, "4.9E-324"),
        (float("inf"), "Infinity"),
        (float("-inf"), "-Infinity"),
        (float("nan"), "NaN"),
    ],
)
def test_doubles_have_javas_layout(number: float, text: str) -> None:
    if number != 5e-324:  # Java shows two digits of the smallest double
        assert java_text.double(number) == text
    if number == number:
        assert float(java_text.double(number).replace("Infinity", "inf")) == number


@settings(derandomize=True, deadline=None)
@given(st.floats(width=32))
def test_a_floats_text_is_the_float(value: float) -> None:
    text = java_text.single(value).replace("Infinity", "inf")
    assert struct.pack("f", float(text)) == struct.pack("f", value) or value != value
    assert Types.FLOAT().check(Types.FLOAT().collected(value)) == value or value != value


@settings(derandomize=True, deadline=None)
@given(st.floats(allow_nan=False, allow_infinity=False))
def test_a_doubles_text_is_the_double(value: float) -> None:
    text = java_text.double(value)
    assert float(text) == value
    mantissa, _, exponent = text.partition("E")
    assert len(mantissa.split(".")[1]) >= 1
    assert (not exponent) == (value == 0 or 1e-3 <= abs(value) < 1e7)


@pytest.mark.parametrize(
    ("declared", "value", "reason"),
    [
        (
            Types.TUPLE([Types.STRING(), Types.INT()]),
            ("a", "b"),
            "value[1] is 'b', which is no INT",
        ),
        (Types.TUPLE([Types.INT()]), (1, 2), "value is (1, 2), no tuple of 1"),
        (Types.LIST(Types.INT()), [1, "b"], "value[1] is 'b', which is no INT"),
        (Types.PRIMITIVE_ARRAY(Types.INT()), [1, None], "value[1] is null"),
        (Types.CHAR(), "ab", "value is 'ab', which is no CHAR"),
        (Types.SQL_DATE(), 5, "value is 5, which is no SQL_DATE"),
        (Types.BIG_DEC(), "x", "value is 'x', which is no BIG_DEC"),
        (Types.BOOLEAN(), 1, "value is 1, which is no BOOLEAN"),
        (Types.MAP(Types.STRING(), Types.INT()), {"a": "b"}, "value['a'] is 'b', which is no INT"),
        (
            Types.ROW_NAMED(["a"], [Types.ROW_NAMED(["b"], [Types.INT()])]),
            Row(a=Row(b="x")),
            "field a.b is 'x', which is no INT",
        ),
    ],
)
def test_what_does_not_fit_is_named(declared: TypeInformation, value: Any, reason: str) -> None:
    with pytest.raises(TypeMismatch) as failure:
        declared.check(value)
    assert str(failure.value).startswith(reason)


def test_numpys_numbers_are_numbers() -> None:
    assert Types.INT().check(numpy.int64(5)) == 5
    assert type(Types.LONG().check(numpy.int64(5))) is int
    assert Types.DOUBLE().check(numpy.float32(0.5)) == 0.5
    assert Types.BASIC_ARRAY(Types.INT()).check(numpy.array([1, 2])) == [1, 2]


def test_bytes_are_an_array_of_bytes() -> None:
    assert Types.PRIMITIVE_ARRAY(Types.BYTE()).check(bytearray(b"ab")) == b"ab"
    with pytest.raises(TypeError, match="no primitive type"):
        Types.PRIMITIVE_ARRAY(Types.STRING())


def test_rows_take_fields_by_name() -> None:
    person = Types.ROW_NAMED(["name", "age"], [Types.STRING(), Types.INT()])
    assert list(person.check(Row(age=36, name="Ada"))) == ["Ada", 36]
    assert list(person.check({"age": 36})) == [None, 36]
    assert str(person) == "RowTypeInfo(name: String, age: Integer)"
    assert str(Types.TUPLE([Types.LONG()])) == "TupleTypeInfo(Long)"


def test_rows_are_pyflinks() -> None:
    assert str(Row("hi", 1, None)) == "<Row('hi', 1, None)>"
    assert str(Row(name="Ada", age=36)) == "Row(name='Ada', age=36)"
    person = Row("name", "age")("Ada", 36)
    assert (person.name, person["age"], "name" in person, len(person)) == ("Ada", 36, True, 2)
    nested = Row(a=Row(b=1), c=[Row(b=2)], d={"e": Row(b=3)})
    assert nested.as_dict(True) == {"a": {"b": 1}, "c": [{"b": 2}], "d": {"e": {"b": 3}}}
    changed = Row(name="Ada", age=36)
    changed["age"], changed[0] = 37, "Lovelace"
    changed.set_row_kind(RowKind.UPDATE_AFTER)
    assert (list(changed), changed.get_row_kind()) == (["Lovelace", 37], RowKind.UPDATE_AFTER)
    assert pickle.loads(pickle.dumps(changed)) == changed
    assert changed.get_fields_by_names(["age"]) == [37]
    with pytest.raises(AttributeError):
        changed.age = 5
    with pytest.raises(TypeError, match="no field names"):
        Row(1).as_dict()


@dataclass(frozen=True)
class Address:
    city: str
    zip: int | None = None


@dataclass(frozen=True)
class Person:
    name: str
    size: float
    addresses: list[Address]


def test_pythons_own_types_stand_for_declared_ones() -> None:
    assert str(Types.OF(tuple[str, int | None])) == "TupleTypeInfo(String NOT NULL, Long) NOT NULL"
    person = Types.OF(Person)
    checked = person.check({"name": "Ada", "size": 2, "addresses": [{"city": "London"}]})
    assert checked == Person("Ada", 2.0, [Address("London", None)])
    assert isinstance(person.check(Person("Ada", 2, [])).size, float)
    unchanged = Person("Ada", 2.0, [])
    assert person.check(unchanged).name is unchanged.name
    with pytest.raises(TypeMismatch, match=r"^field addresses\[1\].zip is 'x', which is no LONG"):
        person.check(Person("A", 1.0, [Address("B"), Address("C", "x")]))  # type: ignore[arg-type]
    with pytest.raises(TypeMismatch, match="field name is null"):
        person.check({"size": 1.0, "addresses": []})
    with pytest.raises(TypeError, match="use a dataclass"):
        Types.OF(StreamExecutionEnvironment)
    with pytest.raises(TypeError, match="only one type or None"):
        Types.OF(int | str)
    assert isinstance(pickle.loads(pickle.dumps(Types.OF(Address | None))), DataclassTypeInfo)


def test_python_types_are_declared_in_a_job() -> None:
    env = StreamExecutionEnvironment.get_execution_environment().set_parallelism(1)
    env.configure(env_settings())
    pairs = env.from_elements("a", "bb").map(lambda s: (s, len(s)), tuple[str, float])  # type: ignore[arg-type]
    assert list(pairs.execute_and_collect()) == [("a", 1.0), ("bb", 2.0)]


def env_settings() -> Any:
    from headrace.common import Configuration

    return Configuration({"headrace.executor": "in-process"})


def test_collected_rows_have_names_and_floats_are_short() -> None:
    env = StreamExecutionEnvironment.get_execution_environment(env_settings()).set_parallelism(1)
    declared = Types.ROW_NAMED(["x", "y"], [Types.FLOAT(), Types.ROW([Types.INT()])])
    [row] = env.from_collection([(0.1, (1,))], declared).execute_and_collect()
    assert str(row) == "Row(x=0.1, y=Row(f0=1))"
