"""sum, min, max, min_by, max_by, project and what a key is made of."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, NamedTuple

import pytest

from headrace.common import Row, Types
from headrace.datastream import DataStream, KeySelector, MapFunction, RuntimeContext
from headrace.datastream.data_stream import KeyedStream
from headrace.datastream.state import ValueStateDescriptor
from headrace.runtime.operators.operator import OperatorError
from headrace.runtime.transformations import GraphError
from tests.unit.runtime.local_jobs import LocalJob


def results(build: Callable[[DataStream], DataStream], values: list[Any]) -> list[Any]:
    return LocalJob(build, out_of_orderness=None).only(s0=values)


def one_key(stream: DataStream) -> KeyedStream:
    return stream.key_by(lambda value: 0)


TUPLES = [(3, "a"), (1, "b"), (5, "c"), (1, "d"), (5, "e")]


def test_the_five_aggregations_of_tuples() -> None:
    assert results(lambda s: one_key(s).sum(0), TUPLES)[-1] == (15, "a")
    assert results(lambda s: one_key(s).min(0), TUPLES)[-1] == (1, "a")
    assert results(lambda s: one_key(s).max(0), TUPLES)[-1] == (5, "a")
    assert results(lambda s: one_key(s).min_by(0), TUPLES)[-1] == (1, "b")
    assert results(lambda s: one_key(s).max_by(0), TUPLES)[-1] == (5, "c")
    assert results(lambda s: one_key(s).max_by(1), TUPLES)[-1] == (5, "e")


def test_they_roll() -> None:
    assert results(lambda s: one_key(s).max_by(0), TUPLES) == [
        (3, "a"),
        (3, "a"),
        (5, "c"),
        (5, "c"),
        (5, "c"),
    ]


def test_rows_by_name_or_position_keep_their_names() -> None:
    rows = [Row(k=1, n=2), Row(k=2, n=1)]
    for field in ("n", 1):
        last = results(lambda s, f=field: one_key(s).sum(f), rows)[-1]
        assert last.as_dict() == {"k": 1, "n": 3}
    assert results(lambda s: one_key(s).min_by("n"), rows)[-1].as_dict() == {"k": 2, "n": 1}
    assert rows[0].as_dict() == {"k": 1, "n": 2}


def test_lists_named_tuples_and_plain_numbers() -> None:
    class Trip(NamedTuple):
        taxi: str
        fare: int

    summed = results(lambda s: one_key(s).sum(1), [Trip("x", 1), Trip("x", 2)])[-1]
    assert (summed, type(summed).__name__) == (("x", 3), "Trip")
    assert results(lambda s: one_key(s).sum(1), [["x", 1], ["y", 2]])[-1] == ["x", 3]
    assert results(lambda s: one_key(s).sum(), [1, 2, 3]) == [1, 3, 6]
    assert results(lambda s: one_key(s).min_by(), [2, 1, 3]) == [2, 1, 1]


def test_a_field_that_is_not_there_is_named() -> None:
    with pytest.raises(OperatorError, match="operator 'Sum' failed on 2") as caught:
        results(lambda s: one_key(s).sum(1), [1, 2])
    assert "sum of field 1, but 1 has no fields" in str(caught.value)
    with pytest.raises(TypeError, match="a field is an int or a str"):
        results(lambda s: one_key(s).sum(1.5), [])  # type: ignore[arg-type]


class Initial(KeySelector):
    def open(self, runtime_context: RuntimeContext) -> None:
        self.length = 1

    def get_key(self, value: Any) -> str:
        return str(value[0][: self.length])


@dataclass
class Person:
    name: str
    n: int


@pytest.mark.parametrize(
    ("key", "values"),
    [
        (0, [("a", 1), ("b", 1), ("a", 1)]),
        ("f0", [("a", 1), ("b", 1), ("a", 1)]),
        ("name", [Row(name="a", n=1), Row(name="b", n=1), Row(name="a", n=1)]),
        ("name", [Person("a", 1), Person("b", 1), Person("a", 1)]),
        pytest.param(Initial(), [("ax", 1), ("bx", 1), ("ay", 1)], id="Initial"),
        ([0, 1], [("a", 1), ("b", 1), ("a", 1)]),
    ],
    ids=str,
)
def test_what_a_key_may_be_made_of(key: Any, values: list[Any]) -> None:
    def counted(stream: DataStream) -> DataStream:
        return stream.key_by(key).map(Nth())

    assert sorted(results(counted, values)) == [1, 1, 2]


class Nth(MapFunction):
    """How many values of the key have come."""

    def open(self, runtime_context: RuntimeContext) -> None:
        self.seen = runtime_context.get_state(ValueStateDescriptor("seen", Types.INT()))

    def map(self, value: Any) -> int:
        self.seen.update((self.seen.value() or 0) + 1)
        return int(self.seen.value())


def test_a_new_key_by_replaces_the_one_before() -> None:
    build = results(lambda s: s.key_by(1).key_by(0).map(Nth()), [("a", 1), ("a", 2), ("b", 1)])
    assert sorted(build) == [1, 1, 2]


def test_a_projection_keeps_fields_and_their_types() -> None:
    declared = Types.TUPLE([Types.INT(), Types.STRING(), Types.FLOAT()])

    def build(stream: DataStream) -> DataStream:
        projected = stream.map(lambda v: v, declared).project(2, 0)
        assert projected.get_type() == Types.TUPLE([Types.FLOAT(), Types.INT()])
        return projected

    assert results(build, [(1, "a", 0.5)]) == [(0.5, 1)]
    with pytest.raises(GraphError, match="only streams of tuples can be projected"):
        results(lambda s: s.map(str, Types.STRING()).project(0), [])


def test_a_keyed_stream_has_no_settings_of_its_own() -> None:
    with pytest.raises(GraphError, match="a keyed stream has no operator of its own"):
        results(lambda s: s.key_by(0).name("x"), [])
    with pytest.raises(GraphError, match="partitioning of a keyed stream cannot be overridden"):
        results(lambda s: s.key_by(0).rebalance(), [])
