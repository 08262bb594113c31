"""Streams cut into windows."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Self

from headrace.common.time import Duration, Time, to_millis
from headrace.common.typeinfo import TypeInformation
from headrace.datastream.functions import (
    AggregateFunction,
    AllWindowFunction,
    NullByteKeySelector,
    ProcessAllWindowFunction,
    ProcessWindowFunction,
    WindowFunction,
)
from headrace.datastream.output_tag import OutputTag
from headrace.datastream.streams.keyed import KeyedStream
from headrace.datastream.streams.refusals import refuse
from headrace.datastream.streams.stream import DataStream
from headrace.datastream.window import Evictor, Trigger, WindowAssigner
from headrace.runtime.operators.window import Window

if TYPE_CHECKING:
    from headrace.datastream.stream_execution_environment import StreamExecutionEnvironment


class _Windows:
    """What can be said of windows before a function ends it."""

    #: The kinds of function that may see a whole window.
    _functions: tuple[type, ...]

    def __init__(self, stream: KeyedStream, window_assigner: WindowAssigner[Any, Any]) -> None:
        if not isinstance(window_assigner, WindowAssigner):
            refuse(f"windows are made by a WindowAssigner, not by {window_assigner!r:.80}")
        self._stream = stream
        self._assigner = window_assigner
        self._trigger: Trigger[Any, Any] | None = None
        self._evictor: Evictor | None = None
        self._allowed_lateness = 0
        self._late_tag: OutputTag | None = None

    def get_execution_environment(self) -> StreamExecutionEnvironment:
        return self._stream.get_execution_environment()

    def get_input_type(self) -> TypeInformation | None:
        return self._stream.get_type()

    def trigger(self, trigger: Trigger[Any, Any]) -> Self:
        """When windows fire, instead of the assigner's own trigger."""
        self._trigger = trigger
        return self

    def evictor(self, evictor: Evictor) -> Self:
        """Java's: what leaves a window before its function, or behind it. The window then keeps
        all its elements, even where it reduces or aggregates them."""
        self._evictor = evictor
        return self

    def allowed_lateness(self, time_ms: int | Time | Duration) -> Self:
        """How long after its end a window still takes records, firing again for each."""
        self._allowed_lateness = to_millis(time_ms)
        if self._allowed_lateness < 0:
            refuse(f"the allowed lateness cannot be negative: {self._allowed_lateness}")
        return self

    def side_output_late_data(self, output_tag: OutputTag) -> Self:
        """Where records go that came too late for all their windows, instead of being dropped."""
        self._late_tag = output_tag
        return self

    def _reduce(
        self, reduce: Any, function: Any, output_type: TypeInformation | None
    ) -> DataStream:
        declared = output_type or (None if function else self._stream.get_type())
        return self._window("reduce", declared, reduce=reduce, function=function)

    def _aggregate(
        self, aggregate: Any, function: Any, output_type: TypeInformation | None
    ) -> DataStream:
        if not isinstance(aggregate, AggregateFunction):
            refuse(f"aggregate takes an AggregateFunction, not {aggregate!r}")
        return self._window("aggregate", output_type, aggregate=aggregate, function=function)

    def _whole(self, kind: str, function: Any, output_type: TypeInformation | None) -> DataStream:
        if function is None:
            refuse(f"{kind} needs a function")
        return self._window(kind, output_type, function=function)

    def _window(
        self, kind: str, output_type: TypeInformation | None, *, function: Any, **incremental: Any
    ) -> DataStream:
        if function is not None and not isinstance(function, self._functions):
            kinds = " or ".join(each.__name__ for each in self._functions)
            refuse(f"these windows take a {kinds}, not {function!r}")
        try:
            operator = Window(
                self._assigner,
                self._trigger or self._assigner.get_default_trigger(self._stream._environment),
                evictor=self._evictor,
                allowed_lateness=self._allowed_lateness,
                late_tag=self._late_tag.tag_id if self._late_tag else None,
                function=function,
                **incremental,
            )
        except ValueError as error:
            refuse(str(error))
        return self._stream._keyed(f"{self._assigner!r}, {kind}", operator, output_type)


class WindowedStream(_Windows):
    """A keyed stream cut into windows; `reduce`, `aggregate`, `process` or `apply` ends it."""

    _functions = (ProcessWindowFunction, WindowFunction)

    def reduce(
        self,
        reduce_function: Any,
        window_function: WindowFunction[Any, Any, Any, Any]
        | ProcessWindowFunction[Any, Any, Any, Any]
        | None = None,
        output_type: TypeInformation | None = None,
    ) -> DataStream:
        """The window's values reduced to one, which `window_function` may see with the window."""
        return self._reduce(reduce_function, window_function, output_type)

    def aggregate(
        self,
        aggregate_function: AggregateFunction,
        window_function: WindowFunction[Any, Any, Any, Any]
        | ProcessWindowFunction[Any, Any, Any, Any]
        | None = None,
        accumulator_type: TypeInformation | None = None,
        output_type: TypeInformation | None = None,
    ) -> DataStream:
        """The window's values aggregated; `window_function` may see the result with the window."""
        return self._aggregate(aggregate_function, window_function, output_type)

    def apply(
        self,
        window_function: WindowFunction[Any, Any, Any, Any],
        output_type: TypeInformation | None = None,
    ) -> DataStream:
        """The window keeps all its elements until it is dropped."""
        return self._whole("apply", window_function, output_type)

    def process(
        self,
        process_window_function: ProcessWindowFunction[Any, Any, Any, Any],
        output_type: TypeInformation | None = None,
    ) -> DataStream:
        """As `apply`, with time and state for the function."""
        return self._whole("process", process_window_function, output_type)


class AllWindowedStream(_Windows):
    """All of a stream, whatever the key, cut into windows. One key group does all the work, as in
    Flink one task."""

    _functions = (ProcessAllWindowFunction, AllWindowFunction)

    @classmethod
    def of(cls, stream: DataStream, window_assigner: WindowAssigner[Any, Any]) -> AllWindowedStream:
        keyed = KeyedStream(stream._environment, stream._reads, NullByteKeySelector().get_key)
        return cls(keyed, window_assigner)

    def reduce(
        self,
        reduce_function: Any,
        window_function: AllWindowFunction[Any, Any, Any]
        | ProcessAllWindowFunction[Any, Any, Any]
        | None = None,
        output_type: TypeInformation | None = None,
    ) -> DataStream:
        """The window's values reduced to one, which `window_function` may see with the window."""
        return self._reduce(reduce_function, window_function, output_type)

    def aggregate(
        self,
        aggregate_function: AggregateFunction,
        window_function: AllWindowFunction[Any, Any, Any]
        | ProcessAllWindowFunction[Any, Any, Any]
        | None = None,
        accumulator_type: TypeInformation | None = None,
        output_type: TypeInformation | None = None,
    ) -> DataStream:
        """The window's values aggregated; `window_function` may see the result with the window."""
        return self._aggregate(aggregate_function, window_function, output_type)

    def apply(
        self,
        window_function: AllWindowFunction[Any, Any, Any],
        output_type: TypeInformation | None = None,
    ) -> DataStream:
        """The window keeps all its elements until it is dropped."""
        return self._whole("apply", window_function, output_type)

    def process(
        self,
        process_window_function: ProcessAllWindowFunction[Any, Any, Any],
        output_type: TypeInformation | None = None,
    ) -> DataStream:
        """As `apply`, with time and state for the function."""
        return self._whole("process", process_window_function, output_type)
