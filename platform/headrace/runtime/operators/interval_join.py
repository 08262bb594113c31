"""Pairs of two streams whose event times are near each other; Flink's `IntervalJoinOperator`."""

from __future__ import annotations

from bisect import bisect_left, bisect_right
from typing import Any

from headrace.common.typeinfo import TypeInformation
from headrace.datastream.function import RuntimeContext
from headrace.datastream.join_functions import ProcessJoinFunction
from headrace.runtime.frames import MIN_WATERMARK
from headrace.runtime.operators.operator import (
    KeyedContext,
    KeyedOperator,
    emit_results,
    side_or_main,
)

LATE_DROPPED = "numLateRecordsDropped"
_SIDES = ("left", "right")

#: Values of one side and key in order of time: their times, and beside them the values.
Buffer = tuple[list[int], list[Any]]


class IntervalJoinOperator(KeyedOperator):
    """`late` has the side output of each side, or None. A value waits until the watermark says
    that nothing can come that it would meet."""

    needs_timestamps = gives_timestamps = True

    def __init__(
        self,
        function: ProcessJoinFunction,
        lower: int,
        upper: int,
        late: list[str | None],
        output_type: TypeInformation | None,
    ) -> None:
        self.function = function
        self.late = late
        self.output_type = output_type
        # seen from each side: the other's times, as distances from its own
        self.bounds = ((lower, upper), (-upper, -lower))

    def open(self, context: RuntimeContext, keyed: KeyedContext) -> None:
        self._context = _JoinContext()
        self.function.open(context)

    def close(self) -> None:
        self.function.close()

    def process(self, value: Any, input_: int, context: KeyedContext) -> None:
        time = context.timestamp
        if time is None:
            raise ValueError(
                "an interval join got a record without a timestamp; give its source a "
                "WatermarkStrategy with a timestamp assigner"
            )
        if context.watermark != MIN_WATERMARK and time < context.watermark:
            self._too_late(value, input_, time, context)
            return
        self._keep(value, input_, time, context)
        lower, upper = self.bounds[input_]
        times, values = context.state(_SIDES[1 - input_]) or ((), ())
        for at in range(bisect_left(times, time + lower), bisect_right(times, time + upper)):
            self._pair(input_, (time, value), (times[at], values[at]), context)

    def on_timer(self, timestamp: int, namespace: Any, context: KeyedContext) -> None:
        """What is so old that it has met all it can meet."""
        side = int(namespace)
        times, values = context.state(_SIDES[side]) or ([], [])
        gone = bisect_right(times, timestamp - max(0, self.bounds[side][1]))
        del times[:gone], values[:gone]
        context.set_state(_SIDES[side], (times, values) if times else None)

    def _keep(self, value: Any, side: int, time: int, context: KeyedContext) -> None:
        buffer: Buffer = context.state(_SIDES[side]) or ([], [])
        at = bisect_right(buffer[0], time)
        buffer[0].insert(at, time)
        buffer[1].insert(at, value)
        context.set_state(_SIDES[side], buffer)
        context.register_timer(time + max(0, self.bounds[side][1]), side)

    def _too_late(self, value: Any, side: int, time: int, context: KeyedContext) -> None:
        tag = self.late[side]
        if tag is None:
            context.count(LATE_DROPPED)
        else:
            context.emit_to(tag, value, time)

    def _pair(
        self, side: int, own: tuple[int, Any], other: tuple[int, Any], context: KeyedContext
    ) -> None:
        left, right = (own, other) if side == 0 else (other, own)
        self._context.left, self._context.right = left[0], right[0]
        later = max(left[0], right[0])
        results = self.function.process_element(left[1], right[1], self._context)
        if self.output_type is None:
            emit_results(results, context, later)
            return
        for result in results or ():
            is_main = side_or_main(result)[0] is None
            checked = self.output_type.check(result) if is_main else result
            emit_results((checked,), context, later)


class _JoinContext(ProcessJoinFunction.Context):
    left = right = 0

    def get_left_timestamp(self) -> int:
        return self.left

    def get_right_timestamp(self) -> int:
        return self.right

    def get_timestamp(self) -> int:
        return max(self.left, self.right)
