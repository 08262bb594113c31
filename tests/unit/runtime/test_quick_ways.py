"""The quick ways of records through windows and reductions give what the general ways give."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from headrace.common import Time
from headrace.datastream import DataStream, OutputTag, ProcessWindowFunction
from headrace.datastream.state import ValueStateDescriptor
from headrace.datastream.window import TumblingEventTimeWindows
from headrace.runtime import paged
from headrace.runtime.operators import tumbling, window
from headrace.runtime.operators.keyed import Reduce
from headrace.runtime.operators.operator import KeyedOperator, OperatorError
from tests.unit.runtime.local_jobs import LocalJob

LATE = OutputTag("late")
KEYS = st.sampled_from(["a", "b", 1, 0, True, 1.0, None, (1, "a"), (True, "a")])
#: (event time, key), in batches
BATCHES = st.lists(st.lists(st.tuples(st.integers(0, 60), KEYS), max_size=12), max_size=5)
CASES = settings(max_examples=60, deadline=None, derandomize=True)


class Listed(ProcessWindowFunction[Any, Any, Any, Any]):
    """Remembers how often it was called for a window, and for a key."""

    def process(self, key: Any, context: Any, elements: Iterable[Any]) -> Iterable[Any]:
        counts = []
        for store in (context.window_state(), context.global_state()):
            state = store.get_state(ValueStateDescriptor("n"))
            state.update((state.value() or 0) + 1)
            counts.append(state.value())
        yield repr(key), context.window().start, context.current_watermark(), [*elements], counts


def listed(lateness: int) -> Callable[[DataStream], list[DataStream]]:
    def build(stream: DataStream) -> list[DataStream]:
        windows = stream.key_by(lambda v: v[1]).window(
            TumblingEventTimeWindows.of(Time.milliseconds(10), Time.milliseconds(3))
        )
        fired = windows.allowed_lateness(lateness).side_output_late_data(LATE).process(Listed())
        return [fired, fired.get_side_output(LATE)]

    return build


def reduced(stream: DataStream) -> list[DataStream]:
    keyed = stream.map(lambda v: (v[0], v[1], 1)).key_by(lambda v: v[1])
    windows = keyed.window(TumblingEventTimeWindows.of(Time.milliseconds(10)))
    return [
        windows.reduce(lambda a, b: (min(a[0], b[0]), a[1], a[2] + b[2])),
        keyed.reduce(lambda a, b: None if a[2] == 3 else (b[0], b[1], a[2] + b[2])),
    ]


def results(build: Any, batches: list[list[Any]]) -> tuple[list[Any], int]:
    job = LocalJob(build, out_of_orderness=5)
    found = [job.batch(s0=values) for values in batches]
    found.append(job.batch(ended=True))
    return [[list(map(repr, sink)) for sink in each] for each in found], job.run.state_entries()


def agree(build: Any, batches: list[list[Any]]) -> None:
    quick = results(build, batches)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(window, "goes", lambda *_: False)
        patch.setattr(Reduce, "process_many", KeyedOperator.process_many)
        assert quick == results(build, batches)


@CASES
@given(BATCHES, st.sampled_from([0, 7]))
def test_windows_with_a_function(batches: list[list[Any]], lateness: int) -> None:
    agree(listed(lateness), batches)


@CASES
@given(BATCHES)
def test_windows_of_more_than_a_page(batches: list[list[Any]]) -> None:
    with pytest.MonkeyPatch.context() as patch:
        for module in (paged, tumbling):
            patch.setattr(module, "PAGE_LENGTH", 3)
        agree(listed(0), batches)


@CASES
@given(BATCHES)
def test_reductions(batches: list[list[Any]]) -> None:
    agree(reduced, batches)


def test_an_error_names_the_record_that_it_is_about() -> None:
    def build(stream: DataStream) -> DataStream:
        keyed = stream.key_by(lambda v: v[1])
        return keyed.reduce(lambda a, b: (b[0], b[1], 1 // b[2]))

    job = LocalJob(build)
    with pytest.raises(OperatorError) as caught:
        job.batch(s0=[(1, "a", 1), (2, "a", 1), (3, "a", 0), (4, "a", 1)])
    assert caught.value.value == (3, "a", 0)
