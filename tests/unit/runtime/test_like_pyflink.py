"""What the same programs showed on PyFlink: see tests/differential."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import Any

import pytest

from headrace.common import Instant, Row, RowKind, Types
from headrace.datastream import (
    CheckpointingMode,
    KeyedProcessFunction,
    ProcessFunction,
    StreamExecutionEnvironment,
)
from headrace.datastream.formats.csv import CsvReaderFormat, CsvSchema
from headrace.datastream.state import MapStateDescriptor
from headrace.runtime.sinks import PrintSink
from tests.unit.runtime.local_jobs import LocalJob

NO_TIME = -(1 << 63)
ROW = Types.ROW([Types.STRING(), Types.FLOAT(), Types.BOOLEAN()])


class Times(ProcessFunction):
    def process_element(self, value: Any, ctx: ProcessFunction.Context) -> Iterable[Any] | None:
        yield ctx.timestamp()


class KeyedTimes(KeyedProcessFunction):
    def process_element(
        self, value: Any, ctx: KeyedProcessFunction.Context
    ) -> Iterable[Any] | None:
        yield ctx.timestamp()


class PutAll(KeyedProcessFunction):
    def open(self, runtime_context: Any) -> None:
        self.map = runtime_context.get_map_state(MapStateDescriptor("map"))

    def process_element(
        self, value: Any, ctx: KeyedProcessFunction.Context
    ) -> Iterable[Any] | None:
        self.map.put_all(value)
        yield sorted(self.map.items())


def test_rows_print_with_pythons_values() -> None:
    row = Row.of_kind(RowKind.DELETE, "a", 0.1, None)
    assert PrintSink(None, ROW).line(ROW.check(row)) == "-D[a,0.10000000149011612,None]"
    assert PrintSink(None, Types.TUPLE([ROW])).line((Row("a", 0.5, True),)) == "(+I[a, 0.5, true])"


def test_rows_of_csv_print_as_tables_rows() -> None:
    schema = CsvSchema.builder().add_string_column("name").add_boolean_column("b").build()
    declared = CsvReaderFormat.for_schema(schema).produced_type
    assert PrintSink(None, declared).line(Row("a", True)) == "+I(a,true)"


def test_names_and_kinds_of_rows() -> None:
    row = Row(name="Ada", born=1815)
    assert "name" in row
    assert "Ada" not in row
    assert "Ada" in Row("Ada", 1815)
    assert [str(kind) for kind in RowKind] == ["+I", "-U", "+U", "-D"]
    assert repr(Instant.of_epoch_milli(-1)) == "Instant<-1, 999000000>"


def test_a_record_without_a_time_has_the_smallest() -> None:
    assert LocalJob(lambda s: s.process(Times()), out_of_orderness=None).only(s0=[1]) == [NO_TIME]
    keyed = LocalJob(lambda s: s.key_by(lambda n: n).process(KeyedTimes()), out_of_orderness=None)
    assert keyed.only(s0=[1]) == [NO_TIME]


def test_put_all_takes_a_dict_and_pairs() -> None:
    job = LocalJob(lambda s: s.key_by(lambda _: 0).process(PutAll()), out_of_orderness=None)
    assert job.only(s0=[{1: 2}, [(3, 4)]]) == [[(1, 2)], [(1, 2), (3, 4)]]


WRONG: dict[str, Callable[[Any], object]] = {
    "map": lambda stream: stream.map(5),
    "flat_map": lambda stream: stream.flat_map(5),
    "filter": lambda stream: stream.filter("no"),
    "reduce": lambda stream: stream.key_by(lambda n: n).reduce(5),
    "key selector": lambda stream: stream.key_by(None),
}


@pytest.mark.parametrize("kind", WRONG)
def test_what_is_no_function_is_refused_at_once(kind: str) -> None:
    stream = StreamExecutionEnvironment.get_execution_environment().from_elements(1)
    with pytest.raises(TypeError, match=kind):
        WRONG[kind](stream)


def test_checkpointing_that_is_off_is_at_least_once() -> None:
    env = StreamExecutionEnvironment.get_execution_environment()
    assert env.get_checkpointing_mode() is CheckpointingMode.AT_LEAST_ONCE
    env.enable_checkpointing(1000)
    assert env.get_checkpointing_mode() is CheckpointingMode.EXACTLY_ONCE
