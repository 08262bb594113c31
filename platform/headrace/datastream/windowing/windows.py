"""What records are grouped into, and how a window travels as bytes."""

from __future__ import annotations

import abc
import copyreg
import struct
from collections.abc import Callable, Iterable
from io import BytesIO
from typing import Any

from headrace.common.serializer import TypeSerializer

MAX_TIMESTAMP = (1 << 63) - 1


class Window(abc.ABC):
    """A finite group of records. Windows of one class are equal when their fields are; a class of
    your own needs `__eq__` and `__hash__` to that effect."""

    __slots__ = ()

    @abc.abstractmethod
    def max_timestamp(self) -> int:
        """The last millisecond that is in the window."""


class TimeWindow(Window):
    """From `start` (inclusive) to `end` (exclusive), milliseconds."""

    __slots__ = ("end", "start")

    def __init__(self, start: int, end: int) -> None:
        self.start = start
        self.end = end

    def max_timestamp(self) -> int:
        return self.end - 1

    def intersects(self, other: TimeWindow) -> bool:
        """Whether the two overlap or touch."""
        return self.start <= other.end and self.end >= other.start

    def cover(self, other: TimeWindow) -> TimeWindow:
        return TimeWindow(min(self.start, other.start), max(self.end, other.end))

    @staticmethod
    def get_window_start_with_offset(timestamp: int, offset: int, window_size: int) -> int:
        return timestamp - (timestamp - offset) % window_size

    @staticmethod
    def merge_windows(windows: Iterable[TimeWindow], callback: Any) -> None:
        """Tell the callback of each group of windows that overlap or touch."""
        group: list[TimeWindow] = []
        covered: TimeWindow | None = None
        for window in sorted(windows):
            if covered is not None and covered.intersects(window):
                covered = covered.cover(window)
                group.append(window)
                continue
            _tell(group, covered, callback)
            group, covered = [window], window
        _tell(group, covered, callback)

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, TimeWindow):
            return NotImplemented
        return (self.start, self.end) == (other.start, other.end)

    def __lt__(self, other: TimeWindow) -> bool:
        return (self.start, self.end) < (other.start, other.end)

    def __le__(self, other: TimeWindow) -> bool:
        return (self.start, self.end) <= (other.start, other.end)

    def __hash__(self) -> int:
        return hash((self.start, self.end))

    def __repr__(self) -> str:
        return f"TimeWindow(start={self.start}, end={self.end})"


def _reduced(window: TimeWindow) -> tuple[Any, ...]:
    return TimeWindow, (window.start, window.end)


# state has many of them; for subclasses pickle's own way stays
copyreg.pickle(TimeWindow, _reduced)


def _tell(group: list[TimeWindow], covered: TimeWindow | None, callback: Any) -> None:
    distinct = set(group)
    if len(distinct) > 1:
        callback.merge(distinct, covered)


class CountWindow(Window):
    """The n-th window of a key that is cut by the number of its records."""

    def __init__(self, id: int) -> None:
        self.id = id

    def max_timestamp(self) -> int:
        return MAX_TIMESTAMP

    def __eq__(self, other: object) -> bool:
        return type(other) is type(self) and vars(other) == vars(self)

    def __hash__(self) -> int:
        return hash(self.id)

    def __repr__(self) -> str:
        return f"CountWindow(id={self.id})"


class GlobalWindow(Window):
    """The one window that all records of a key are in."""

    @staticmethod
    def get() -> GlobalWindow:
        return GlobalWindow()

    def max_timestamp(self) -> int:
        return MAX_TIMESTAMP

    def __eq__(self, other: object) -> bool:
        return type(other) is type(self)

    def __hash__(self) -> int:
        return 0

    def __repr__(self) -> str:
        return "GlobalWindow"


class _Packed(TypeSerializer[Any]):
    """Fields as big-endian longs."""

    _layout: struct.Struct
    _fields: Callable[[Any], tuple[int, ...]]
    _make: Callable[..., Any]

    def serialize(self, element: Any, stream: BytesIO) -> None:
        stream.write(self._layout.pack(*type(self)._fields(element)))

    def deserialize(self, stream: BytesIO) -> Any:
        return type(self)._make(*self._layout.unpack(stream.read(self._layout.size)))


class TimeWindowSerializer(_Packed):
    """For custom assigners that name one; state does not need it."""

    _layout = struct.Struct(">qq")
    _fields = staticmethod(lambda window: (window.start, window.end))
    _make = TimeWindow


class CountWindowSerializer(_Packed):
    """As TimeWindowSerializer."""

    _layout = struct.Struct(">q")
    _fields = staticmethod(lambda window: (window.id,))
    _make = CountWindow


class GlobalWindowSerializer(_Packed):
    """As TimeWindowSerializer."""

    _layout = struct.Struct(">q")
    _fields = staticmethod(lambda window: (0,))
    _make = staticmethod(lambda zero: GlobalWindow())
