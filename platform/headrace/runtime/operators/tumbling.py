"""The quick way into the windows that most jobs have: tumbling ones of event time, which fire when
the watermark passes their end.

Only the first record that a micro-batch has for a window goes through the window's state and
timers; all others of its key and window are added to the content that is at hand. The result is
that of the operator's general way.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass
from typing import Any

from headrace.datastream.window import EventTimeTrigger, TimeWindow, TumblingEventTimeWindows
from headrace.runtime.frames import MAX_WATERMARK
from headrace.runtime.operators.operator import KeyedContext, KeyedElement
from headrace.runtime.operators.window_content import Content
from headrace.runtime.paged import PAGE_LENGTH

#: The name of a window's state that has its content.
CONTENT = "content"

#: Of a window that is not known.
_NONE: dict[str, Any] = {}


@dataclass(frozen=True)
class Ways:
    """The operator's general ones."""

    process: Callable[[Any, int, KeyedContext], None]
    #: (window, where its content is kept, content, context)
    fire: Callable[[Any, Any, Any, KeyedContext], None]
    #: (input, value) -> what windows keep of it; None: the value.
    wrap: Callable[[int, Any], Any] | None


def goes(assigner: Any, trigger: Any, evictor: Any) -> bool:
    """Whether windows of this kind can be filled so."""
    kinds = type(assigner) is TumblingEventTimeWindows and type(trigger) is EventTimeTrigger
    return kinds and evictor is None


class Tumbling:
    """The windows of one operator."""

    def __init__(self, assigner: Any, content: Content, lateness: int, ways: Ways) -> None:
        self._size, self._offset = assigner._size, assigner._offset
        self._content = content
        self._lateness = lateness
        self._process, self._fire, self._wrap = ways.process, ways.fire, ways.wrap
        self._batch: object = None
        #: (key, the window's start) -> the window's states
        self._known: dict[tuple[str | int, int], dict[str, Any]] = {}

    def process_many(
        self, records: Iterable[KeyedElement], input_: int, context: KeyedContext
    ) -> None:
        size, offset, wrap, fold = self._size, self._offset, self._wrap, self._content.fold
        known = self._of_batch(context).get
        for context.timestamp, key, value in records:
            context.value = value
            timestamp = context.timestamp
            # exact types only: 1, 1.0 and True are three keys
            if timestamp is None or (type(key) is not str and type(key) is not int):
                context.turn_to(key)
                self._process(value, input_, context)
                continue
            start = timestamp - (timestamp - offset) % size
            states = known((key, start), _NONE)
            content = states.get(CONTENT)
            if content is None or (type(content) is list and len(content) >= PAGE_LENGTH - 1):
                self._first(value, input_, key, start, context)
            else:
                states[CONTENT] = fold(content, value if wrap is None else wrap(input_, value))

    def ends(self, timestamp: int, window: TimeWindow, context: KeyedContext) -> bool:
        """The window's timer: fires it and drops what it had, unless there is more to it."""
        if self._lateness or timestamp != window.end - 1:
            return False
        content = context.state(CONTENT, window)
        if content is not None:
            self._fire(window, window, content, context)
        return True

    def _of_batch(self, context: KeyedContext) -> dict[tuple[str | int, int], dict[str, Any]]:
        if self._batch is not context.batch:
            self._batch = context.batch
            self._known = {}
        return self._known

    def _first(
        self, value: Any, input_: int, key: str | int, start: int, context: KeyedContext
    ) -> None:
        context.turn_to(key)
        end = start + self._size - 1
        if end <= context.watermark:  # late, or to be fired at once
            self._process(value, input_, context)
            return
        window = TimeWindow(start, end + 1)
        element = value if self._wrap is None else self._wrap(input_, value)
        before = context.state(CONTENT, window)
        content = self._content.add(before, element, context.timestamp)
        context.set_state(CONTENT, content, window)
        context.register_timer(end, window)
        if self._lateness and end + self._lateness < MAX_WATERMARK:
            context.register_timer(end + self._lateness, window)
        self._known[key, start] = context.states(window)
