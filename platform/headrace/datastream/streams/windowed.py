"""A keyed stream cut into windows."""

from __future__ import annotations

from typing import Any

from headrace.common.time import Time, to_millis
from headrace.common.typeinfo import TypeInformation
from headrace.datastream.functions import (
    AggregateFunction,
    ProcessWindowFunction,
    WindowFunction,
)
from headrace.datastream.output_tag import OutputTag
from headrace.datastream.streams.keyed import KeyedStream
from headrace.datastream.streams.stream import DataStream
from headrace.datastream.window import Trigger, WindowAssigner
from headrace.runtime.operators.window import Window


class WindowedStream:
    """A keyed stream cut into windows; `reduce`, `aggregate`, `process` or `apply` ends it."""

    def __init__(self, stream: KeyedStream, assigner: WindowAssigner[Any, Any]) -> None:
        self._stream = stream
        self._assigner = assigner
        self._trigger: Trigger[Any, Any] | None = None
        self._allowed_lateness = 0
        self._late_tag: OutputTag | None = None

    def trigger(self, trigger: Trigger[Any, Any]) -> WindowedStream:
        self._trigger = trigger
        return self

    def allowed_lateness(self, time_ms: int | Time) -> WindowedStream:
        """How long after its end a window still takes records, firing again for each."""
        self._allowed_lateness = to_millis(time_ms)
        if self._allowed_lateness < 0:
            raise ValueError(f"the allowed lateness cannot be negative: {self._allowed_lateness}")
        return self

    def side_output_late_data(self, output_tag: OutputTag) -> WindowedStream:
        """Where records go that came too late for all their windows, instead of being dropped."""
        self._late_tag = output_tag
        return self

    def reduce(
        self,
        reduce_function: Any,
        window_function: Any = None,
        output_type: TypeInformation | None = None,
    ) -> DataStream:
        declared = output_type if window_function else self._stream.get_type()
        return self._window("reduce", declared, reduce=reduce_function, function=window_function)

    def aggregate(
        self,
        aggregate_function: AggregateFunction,
        window_function: ProcessWindowFunction[Any, Any, Any, Any]
        | WindowFunction[Any, Any, Any, Any]
        | None = None,
        accumulator_type: TypeInformation | None = None,
        output_type: TypeInformation | None = None,
    ) -> DataStream:
        return self._window(
            "aggregate", output_type, aggregate=aggregate_function, function=window_function
        )

    def process(
        self,
        process_window_function: ProcessWindowFunction[Any, Any, Any, Any],
        output_type: TypeInformation | None = None,
    ) -> DataStream:
        return self._window("process", output_type, function=process_window_function)

    def apply(
        self,
        window_function: WindowFunction[Any, Any, Any, Any],
        output_type: TypeInformation | None = None,
    ) -> DataStream:
        return self._window("apply", output_type, function=window_function)

    def _window(
        self, kind: str, output_type: TypeInformation | None, **functions: Any
    ) -> DataStream:
        operator = Window(
            self._assigner,
            self._trigger,
            allowed_lateness=self._allowed_lateness,
            late_tag=self._late_tag.tag_id if self._late_tag else None,
            **functions,
        )
        return self._stream._keyed(f"{self._assigner!r}, {kind}", operator, output_type)
