"""What every trigger and window assigner is."""

from __future__ import annotations

import abc
from collections.abc import Collection, Iterable
from enum import Enum
from typing import Any, Generic, TypeVar

from headrace.common.serializer import TypeSerializer
from headrace.datastream.state import StateDescriptor

T = TypeVar("T")
W = TypeVar("W")
W2 = TypeVar("W2")


class TriggerResult(Enum):
    """What a trigger decides: (fire, purge). Firing a window without content emits nothing."""

    CONTINUE = (False, False)
    FIRE_AND_PURGE = (True, True)
    FIRE = (True, False)
    PURGE = (False, True)

    def is_fire(self) -> bool:
        return self.value[0]

    def is_purge(self) -> bool:
        return self.value[1]


class Trigger(abc.ABC, Generic[T, W]):
    """Decides when a window fires. Must be stateless: one instance serves all windows; what it
    has to remember of a window it keeps in the context's state."""

    class TriggerContext(abc.ABC):
        """Time, timers and state of the current key and window."""

        @abc.abstractmethod
        def get_current_processing_time(self) -> int:
            """The time of the micro-batch."""

        @abc.abstractmethod
        def get_metric_group(self) -> Any: ...

        @abc.abstractmethod
        def get_current_watermark(self) -> int: ...

        @abc.abstractmethod
        def register_processing_time_timer(self, time: int) -> None: ...

        @abc.abstractmethod
        def register_event_time_timer(self, time: int) -> None: ...

        @abc.abstractmethod
        def delete_processing_time_timer(self, time: int) -> None: ...

        @abc.abstractmethod
        def delete_event_time_timer(self, time: int) -> None: ...

        @abc.abstractmethod
        def get_partitioned_state(self, state_descriptor: StateDescriptor) -> Any:
            """State of this key and window; dropped with the window."""

    class OnMergeContext(TriggerContext):
        """The context of `on_merge`."""

        @abc.abstractmethod
        def merge_partitioned_state(self, state_descriptor: StateDescriptor) -> None:
            """The state of all merged windows becomes that of the window they merged into. For
            reducing, aggregating and list state."""

    @abc.abstractmethod
    def on_element(
        self, element: T, timestamp: int, window: W, ctx: TriggerContext
    ) -> TriggerResult: ...

    def on_processing_time(self, time: int, window: W, ctx: TriggerContext) -> TriggerResult:
        """A processing-time timer of the window fired."""
        return TriggerResult.CONTINUE

    def on_event_time(self, time: int, window: W, ctx: TriggerContext) -> TriggerResult:
        """An event-time timer of the window fired."""
        return TriggerResult.CONTINUE

    def can_merge(self) -> bool:
        """Whether the trigger may be used with merging windows; it then has `on_merge`."""
        return False

    def on_merge(self, window: W, ctx: OnMergeContext) -> None:
        """Windows were merged into `window`; `clear` is called for each of them next."""
        raise NotImplementedError(f"{type(self).__name__} cannot be used with merging windows")

    @abc.abstractmethod
    def clear(self, window: W, ctx: TriggerContext) -> None:
        """Delete timers and state of the window; called when it is dropped, not when purged."""


class WindowAssigner(abc.ABC, Generic[T, W]):
    """Puts a record into windows."""

    class WindowAssignerContext(abc.ABC):
        @abc.abstractmethod
        def get_current_processing_time(self) -> int:
            """The time of the micro-batch."""

        @abc.abstractmethod
        def get_runtime_context(self) -> Any:
            """Where the assigner finds state of the current key."""

    @abc.abstractmethod
    def assign_windows(
        self, element: T, timestamp: int, context: WindowAssignerContext
    ) -> Collection[W]:
        """`timestamp` is the smallest long for a record without one."""

    @abc.abstractmethod
    def get_default_trigger(self, env: Any = None) -> Trigger[T, W]:
        """`env`: the StreamExecutionEnvironment."""

    def get_window_serializer(self) -> TypeSerializer[W]:
        """As PyFlink's assigners have it; not called: windows are kept by their fields."""
        raise NotImplementedError(f"{type(self).__name__} names no serializer")

    @abc.abstractmethod
    def is_event_time(self) -> bool: ...


class MergingWindowAssigner(WindowAssigner[T, W]):
    """An assigner whose windows merge, as sessions do."""

    class MergeCallback(abc.ABC, Generic[W2]):
        @abc.abstractmethod
        def merge(self, to_be_merged: Iterable[W2], merge_result: W2) -> None:
            """These windows shall become this one."""

    @abc.abstractmethod
    def merge_windows(self, windows: Iterable[W], callback: MergeCallback[W]) -> None:
        """Call the callback for each group of windows to be merged; must depend on the windows
        only, not on their order."""
