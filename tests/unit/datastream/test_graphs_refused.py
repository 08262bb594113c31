"""What is refused when the program says it, naming its line, and what failures tell."""

from __future__ import annotations

import threading
from collections.abc import Callable
from typing import Any

import pytest

from headrace.common import Configuration, Types
from headrace.datastream import DataStream, OutputTag, StreamExecutionEnvironment
from headrace.runtime.errors import JobFailed
from headrace.runtime.transformations import GraphError

PAIRS = Types.ROW_NAMED(["name", "n"], [Types.STRING(), Types.INT()])


@pytest.fixture
def pairs() -> DataStream:
    settings = Configuration({"headrace.executor": "in-process", "parallelism.default": "1"})
    env = StreamExecutionEnvironment.get_execution_environment(settings)
    return env.from_collection([("a", 1)], PAIRS)


def by_name(pairs: DataStream) -> Any:
    return pairs.key_by(lambda row: row[0])


@pytest.mark.parametrize(
    ("build", "reason"),
    [
        (lambda s: s.map(str, output_type="text"), "output type of 'Map': 'text' has no declared"),
        (lambda s: s.flat_map(list, Types.STRING), "output type of 'FlatMap'"),
        (lambda s: by_name(s).sum("m"), "no field 'm'; the fields are name, n"),
        (lambda s: by_name(s).max_by(2), "no field 2"),
        (lambda s: by_name(s.map(tuple, Types.TUPLE([Types.STRING()]))).min(1), "fields are 0 "),
        (lambda s: by_name(s).window("5 s"), "made by a WindowAssigner, not by '5 s'"),
    ],
)
def test_the_line_is_named(
    pairs: DataStream, build: Callable[[DataStream], Any], reason: str
) -> None:
    with pytest.raises(GraphError, match=rf"{reason}.*test_graphs_refused\.py:\d+\)"):
        build(pairs)


def test_fields_of_declared_types_are_found(pairs: DataStream) -> None:
    results = by_name(pairs).sum("n").key_by(lambda row: 0).max(-1).execute_and_collect()
    assert [tuple(row) for row in results] == [("a", 1)]


def test_a_side_output_has_a_type() -> None:
    with pytest.raises(TypeError, match="'text' has no declared type"):
        OutputTag("side", "text")  # type: ignore[arg-type]


def test_what_cannot_be_sent_is_named(pairs: DataStream) -> None:
    lock = threading.Lock()
    pairs.map(lambda row: lock and row).name("locked").print()
    with pytest.raises(GraphError, match=r"'locked' cannot be sent.*test_graphs_refused\.py:\d+\)"):
        pairs.get_execution_environment().execute()


def test_results_that_are_none_are_said(pairs: DataStream) -> None:
    pairs.flat_map(lambda row: row[1]).print()
    with pytest.raises(JobFailed) as failure:
        pairs.get_execution_environment().execute()
    assert str(failure.value) == (
        "operator 'FlatMap' failed on Row(name='a', n=1): "
        "TypeError: flat_map gives an iterable of values or None, not 1"
    )
