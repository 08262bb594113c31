"""Two streams whose values meet in windows, which PyFlink has none of; Java's `JoinedStreams` and
`CoGroupedStreams`."""

from __future__ import annotations

from typing import Any

from headrace.common.time import Duration, Time, to_millis
from headrace.common.typeinfo import TypeInformation
from headrace.datastream.join_functions import CoGroupFunction, FlatJoinFunction, JoinFunction
from headrace.datastream.streams.connected import numbered
from headrace.datastream.streams.refusals import refuse
from headrace.datastream.streams.stream import DataStream
from headrace.datastream.window import Trigger, WindowAssigner
from headrace.runtime.operators import window_join
from headrace.runtime.transformations import Edge, KeyedTransformation


class _Pair:
    """Two streams on their way to a window: `where`, `equal_to`, `window`, in this order."""

    def __init__(self, one: DataStream, two: DataStream) -> None:
        self._streams = (one, two)
        self._selectors: list[Any] = []

    def where(self, key_selector: Any, key_type: TypeInformation | None = None) -> _Pair:
        """The first stream's key: a selector, a position or a field's name."""
        self._selectors = [key_selector]
        return self

    def equal_to(self, key_selector: Any) -> _Pair:
        """The second stream's key. 1, 1.0 and "1" are three keys."""
        if not self._selectors:
            refuse("where() says the first stream's key, before equal_to()")
        self._selectors = [self._selectors[0], key_selector]
        return self

    def _edges(self) -> list[Edge]:
        if len(self._selectors) != 2:
            refuse("where() and equal_to() say both keys, before window()")
        pairs = zip(self._streams, self._selectors, strict=True)
        keyed = [stream.key_by(selector)._keyed_edges() for stream, selector in pairs]
        return [*numbered(keyed[0], 0), *numbered(keyed[1], 1)]


class JoinedStreams(_Pair):
    """`stream.join(other).where(key).equal_to(key).window(assigner).apply(function)`."""

    def where(self, key_selector: Any, key_type: TypeInformation | None = None) -> JoinedStreams:
        super().where(key_selector, key_type)
        return self

    def equal_to(self, key_selector: Any) -> JoinedStreams:
        super().equal_to(key_selector)
        return self

    def window(self, assigner: WindowAssigner[Any, Any]) -> JoinedInWindows:
        return JoinedInWindows(self._streams[0], self._edges(), assigner)


class CoGroupedStreams(_Pair):
    """`stream.co_group(other).where(key).equal_to(key).window(assigner).apply(function)`."""

    def where(self, key_selector: Any, key_type: TypeInformation | None = None) -> CoGroupedStreams:
        super().where(key_selector, key_type)
        return self

    def equal_to(self, key_selector: Any) -> CoGroupedStreams:
        super().equal_to(key_selector)
        return self

    def window(self, assigner: WindowAssigner[Any, Any]) -> CoGroupedInWindows:
        return CoGroupedInWindows(self._streams[0], self._edges(), assigner)


class _InWindows:
    def __init__(
        self, one: DataStream, edges: list[Edge], assigner: WindowAssigner[Any, Any]
    ) -> None:
        self._one = one
        self._inputs = edges
        self._assigner = assigner
        self._settings: dict[str, Any] = {}

    def _apply(
        self, name: str, function: window_join.Grouped, output_type: TypeInformation | None
    ) -> DataStream:
        operator = window_join.WindowJoin(self._assigner, function=function, **self._settings)
        node = KeyedTransformation(
            name=name, inputs=self._inputs, operator=operator, output_type=output_type
        )
        return DataStream(self._one._environment, [Edge(node)])

    def _set_trigger(self, trigger: Trigger[Any, Any]) -> None:
        self._settings["trigger"] = trigger

    def _set_evictor(self, evictor: Any) -> None:
        self._settings["evictor"] = evictor

    def _set_lateness(self, time: int | Time | Duration) -> None:
        millis = to_millis(time)
        if millis < 0:
            raise ValueError(f"the allowed lateness cannot be negative: {millis}")
        self._settings["allowed_lateness"] = millis


class JoinedInWindows(_InWindows):
    """`apply` ends it. Triggers and evictors see `window_join.TaggedUnion`s, as Flink's do."""

    def trigger(self, trigger: Trigger[Any, Any]) -> JoinedInWindows:
        self._set_trigger(trigger)
        return self

    def evictor(self, evictor: Any) -> JoinedInWindows:
        self._set_evictor(evictor)
        return self

    def allowed_lateness(self, time: int | Time | Duration) -> JoinedInWindows:
        self._set_lateness(time)
        return self

    def apply(self, function: Any, output_type: TypeInformation | None = None) -> DataStream:
        """A JoinFunction, a FlatJoinFunction, or a function of two values that gives one, for each
        pair of a key and window."""
        if not isinstance(function, JoinFunction | FlatJoinFunction) and not callable(function):
            raise TypeError(f"not a function of two values: {function!r:.80}")
        return self._apply("Window Join", window_join.Pairs(function), output_type)


class CoGroupedInWindows(_InWindows):
    """`apply` ends it."""

    def trigger(self, trigger: Trigger[Any, Any]) -> CoGroupedInWindows:
        self._set_trigger(trigger)
        return self

    def evictor(self, evictor: Any) -> CoGroupedInWindows:
        self._set_evictor(evictor)
        return self

    def allowed_lateness(self, time: int | Time | Duration) -> CoGroupedInWindows:
        self._set_lateness(time)
        return self

    def apply(
        self, function: CoGroupFunction, output_type: TypeInformation | None = None
    ) -> DataStream:
        if not isinstance(function, CoGroupFunction):
            raise TypeError(f"not a CoGroupFunction: {function!r:.80}")
        return self._apply("CoGroup", window_join.Groups(function), output_type)
