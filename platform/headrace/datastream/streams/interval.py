"""Joins of two keyed streams by how near their event times are."""

from __future__ import annotations

from typing import Any

from headrace.common.time import Duration, Time, to_millis
from headrace.common.typeinfo import TypeInformation
from headrace.datastream.join_functions import ProcessJoinFunction
from headrace.datastream.output_tag import OutputTag
from headrace.datastream.streams.connected import numbered
from headrace.datastream.streams.keyed import KeyedStream
from headrace.datastream.streams.refusals import refuse
from headrace.datastream.streams.stream import DataStream
from headrace.runtime.operators.interval_join import IntervalJoinOperator
from headrace.runtime.transformations import Edge, KeyedTransformation


class IntervalJoin:
    """`between` says how near."""

    def __init__(self, left: KeyedStream, right: KeyedStream) -> None:
        if not isinstance(right, KeyedStream):
            refuse("an interval join takes two keyed streams; call key_by on the other one, too")
        self._left = left
        self._right = right

    def between(
        self, lower_bound: int | Time | Duration, upper_bound: int | Time | Duration
    ) -> IntervalJoined:
        """Pairs with left + lower <= right <= left + upper in event time; both may be negative."""
        lower, upper = _signed(lower_bound), _signed(upper_bound)
        if lower > upper:
            refuse(f"the lower bound {lower} ms of a join is above its upper bound {upper} ms")
        return IntervalJoined(self._left, self._right, lower, upper)

    def in_event_time(self) -> IntervalJoin:
        """What it always is: interval joins have no processing time."""
        return self


class IntervalJoined:
    """`process` ends it."""

    def __init__(self, left: KeyedStream, right: KeyedStream, lower: int, upper: int) -> None:
        self._left = left
        self._right = right
        self._lower = lower
        self._upper = upper
        self._late: list[str | None] = [None, None]

    def lower_bound_exclusive(self) -> IntervalJoined:
        self._lower += 1
        return self

    def upper_bound_exclusive(self) -> IntervalJoined:
        self._upper -= 1
        return self

    def side_output_left_late_data(self, output_tag: OutputTag) -> IntervalJoined:
        """Where left values go that are behind the watermark, instead of being dropped."""
        self._late[0] = output_tag.tag_id
        return self

    def side_output_right_late_data(self, output_tag: OutputTag) -> IntervalJoined:
        self._late[1] = output_tag.tag_id
        return self

    def process(
        self, process_join_function: ProcessJoinFunction, output_type: TypeInformation | None = None
    ) -> DataStream:
        """A pair's timestamp is the later one of its two."""
        if not isinstance(process_join_function, ProcessJoinFunction):
            raise TypeError(f"not a ProcessJoinFunction: {process_join_function!r:.80}")
        operator = IntervalJoinOperator(
            process_join_function, self._lower, self._upper, self._late, output_type
        )
        left, right = self._left._keyed_edges(), self._right._keyed_edges()
        node = KeyedTransformation(
            name="Interval Join",
            inputs=[*numbered(left, 0), *numbered(right, 1)],
            operator=operator,
            output_type=output_type,
        )
        return DataStream(self._left._environment, [Edge(node)])


def _signed(bound: Any) -> int:
    return int(bound) if isinstance(bound, int) else to_millis(bound)
