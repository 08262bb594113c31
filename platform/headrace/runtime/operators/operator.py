"""The two kinds of operator and what they see of their surroundings."""

from __future__ import annotations

import abc
from collections.abc import Callable, Iterable
from typing import Any, Protocol

from headrace.common.type_base import shown
from headrace.datastream.functions import RuntimeContext
from headrace.datastream.output_tag import OutputTag

#: (timestamp or None, value)
Element = tuple[int | None, Any]
#: (timestamp or None, key, value)
KeyedElement = tuple[int | None, Any, Any]


class Clock(Protocol):
    """The times that functions may ask for."""

    @property
    def processing_time(self) -> int:
        """Time of the micro-batch, ms."""

    @property
    def watermark(self) -> int:
        """That of the keyed operator in front; the smallest in the stage that reads sources."""


class Output(Clock, Protocol):
    """Where an operator's results go."""

    def emit(self, elements: list[Element], tag: str | None = None) -> None:
        """To the main output, or to the side output named `tag`."""


class StatelessOperator(abc.ABC):
    """Handles a batch of elements at a time, in order."""

    def open(self, context: RuntimeContext) -> None:  # noqa: B027
        """Called once per worker process, before the first batch."""

    @abc.abstractmethod
    def process(self, elements: list[Element], output: Output) -> None: ...

    def process_from(self, input_: int, elements: list[Element], output: Output) -> None:
        """As `process`, for operators that tell their inputs apart."""
        self.process(elements, output)

    def for_batch(self) -> StatelessOperator:
        """What runs in its place where all input is read before event time moves."""
        return self

    def begin(self) -> None:  # noqa: B027
        """Called in front of a task or key group in a micro-batch, once it is open."""

    def finish(self, output: Output) -> None:  # noqa: B027
        """Called behind the last elements of a task or key group in a micro-batch."""

    def close(self) -> None:  # noqa: B027
        """Called once, when the worker process ends in order."""


class KeyedContext(Protocol):
    """What a keyed operator sees: the current key, its state and timers, and its output."""

    key: Any
    #: The current element.
    value: Any
    #: Event time of the current element, or of the timer that fires.
    timestamp: int | None
    watermark: int
    #: Time of the micro-batch, ms.
    processing_time: int
    #: Another object for each micro-batch and key group.
    batch: object
    #: Whether this key group is the one of its subtask that does what is done once per subtask.
    leads: bool

    def turn_to(self, key: Any) -> None:
        """Make another key the current one."""

    def emit(self, value: Any, timestamp: int | None) -> None: ...
    def emit_to(self, tag: str, value: Any, timestamp: int | None) -> None: ...
    def count(self, counter: str, n: int = 1) -> None: ...
    def state(self, name: str, namespace: Any = None) -> Any: ...
    def set_state(self, name: str, value: Any, namespace: Any = None) -> None: ...

    def states(self, namespace: Any = None) -> dict[str, Any]:
        """All by name. Plain values of those that were set in this micro-batch may be put in the
        place of others."""

    def clear_state(self, namespace: Any) -> None:
        """Drop all states of a namespace of the current key."""

    def expire_later(self, name: str, namespace: Any, ttl: int) -> None:
        """A while after `ttl` ms, drop what has not been used of a state since."""

    def group_state(self, name: str) -> Any:
        """State of the operator in this key group, without a key: broadcast and operator state."""

    def set_group_state(self, name: str, value: Any) -> None: ...
    def register_timer(self, timestamp: int, namespace: Any = None) -> None: ...
    def delete_timer(self, timestamp: int, namespace: Any = None) -> None: ...
    def register_processing_timer(self, timestamp: int, namespace: Any = None) -> None: ...
    def delete_processing_timer(self, timestamp: int, namespace: Any = None) -> None: ...


class KeyedOperator(abc.ABC):
    """Handles one element of one key at a time, with state and timers."""

    #: Whether elements without a timestamp are of no use to it.
    needs_timestamps = False
    #: Whether what it emits has a timestamp, whatever it gets.
    gives_timestamps = False

    def for_batch(self) -> KeyedOperator:
        """What runs in its place where all input is read before event time moves."""
        return self

    def open(self, context: RuntimeContext, keyed: KeyedContext) -> None:  # noqa: B027
        """Called once per worker process. `keyed` is the object the other calls get, too."""

    def close(self) -> None:  # noqa: B027
        """Called once, when the worker process ends in order."""

    def finish(self, context: KeyedContext) -> None:  # noqa: B027
        """Called at the end of a key group's batch; nothing can be emitted any more."""

    @abc.abstractmethod
    def process(self, value: Any, input_: int, context: KeyedContext) -> None: ...

    def process_many(
        self, records: Iterable[KeyedElement], input_: int, context: KeyedContext
    ) -> None:
        """As `process` with one after the other. The context's `value` is the newest that was
        taken: an error is told with it."""
        turn_to, process = context.turn_to, self.process
        for context.timestamp, key, value in records:
            context.value = value
            turn_to(key)
            process(value, input_, context)

    def on_timer(self, timestamp: int, namespace: Any, context: KeyedContext) -> None:  # noqa: B027
        """Called in order of time for each timer that the watermark has passed."""

    def on_processing_timer(self, timestamp: int, namespace: Any, context: KeyedContext) -> None:  # noqa: B027
        """Called in order of time for each timer that the time of the micro-batch has reached:
        before the batch's data where it is past, else behind it. The context's `timestamp` is
        None, as what is emitted has none."""


class OperatorError(RuntimeError):
    """A function of the job raised. The micro-batch is not committed; nothing of it is visible."""

    def __init__(self, operator: str, value: Any, traceback: str) -> None:
        super().__init__(operator, value, traceback)
        self.operator = operator
        self.value = value
        self.traceback = traceback

    def __str__(self) -> str:
        return f"operator {self.operator!r} failed on {shown(self.value, 200)}\n{self.traceback}"


def method(function: Any, name: str) -> Callable[..., Any]:
    """The method `name` of a Function, or the callable given in its place."""
    return getattr(function, name, function)  # type: ignore[no-any-return]


def known_time(timestamp: int | None) -> int:
    """As functions see it: of an element without a time the smallest there is, as in PyFlink."""
    return -(1 << 63) if timestamp is None else timestamp


def side_or_main(result: Any) -> tuple[str | None, Any]:
    """What a process function yielded: (side output's name or None, value)."""
    if isinstance(result, tuple) and len(result) == 2 and isinstance(result[0], OutputTag):
        return result[0].tag_id, result[1]
    return None, result


def emit_results(results: Iterable[Any] | None, context: KeyedContext, ts: int | None) -> None:
    """Send what a function returned, side outputs included, with one timestamp."""
    for result in results or ():
        tag, value = side_or_main(result)
        if tag is None:
            context.emit(value, ts)
        else:
            context.emit_to(tag, value, ts)
