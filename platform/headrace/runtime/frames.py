"""Frames: how records travel between the stages of a job on Spark.

A frame is one row of Spark holding many records of one destination and key group as pickled
bytes, like Flink's network buffers, so that the JVM and Arrow see few rows. Frames carry who
sent them and a sequence number: a receiver sorts by both, so that a batch run again sees the
same order.
"""

from __future__ import annotations

import io
import pickle
import traceback
import zlib
from collections import defaultdict
from collections.abc import Callable, Iterable, Iterator
from itertools import chain
from typing import Any, NamedTuple

import cloudpickle

from headrace.runtime import keys
from headrace.runtime.operators.operator import OperatorError

#: Kinds, in the order in which a host handles them within a batch.
BROADCAST, DATA, CONTROL, METRICS = 0, 1, 2, 3
#: Destination of frames for the whole job's report rather than an operator.
REPORT = -1

#: Spark schema of a frame.
SCHEMA = "kg int, op int, input int, kind int, src string, seq long, time long, frame binary"

#: Flink's: the smallest and the largest long.
MIN_WATERMARK = -(1 << 63)
MAX_WATERMARK = (1 << 63) - 1

#: (timestamp or None, key or None, value)
Record = tuple[int | None, Any, Any]


class Frame(NamedTuple):
    """A row of SCHEMA. `time` is the micro-batch's, in ms: the same when it is run again."""

    kg: int
    op: int
    input: int
    kind: int
    src: str
    seq: int
    time: int
    frame: bytes


class Control(NamedTuple):
    """What a source tells every key group: watermarks of its splits, and that input ended."""

    #: "<generator>/<split>" -> watermark in ms
    watermarks: dict[str, int]
    ended: bool


def dumps(value: Any) -> bytes:
    """Plain pickle where it can; classes of the job's own script travel by value."""
    try:
        return pickle.dumps(value, 5)
    except (pickle.PicklingError, AttributeError):
        return bytes(cloudpickle.dumps(value, 5))


loads = pickle.loads

_ATOMS = frozenset((str, int, float, bool, bytes, type(None)))


def pack(records: list[Record]) -> bytes:
    """The body of a frame of data: column by column, which is read faster than row by row."""
    columns = tuple(map(list, zip(*records, strict=True)))
    return _dumps_plain(columns) if all(map(_is_plain, columns)) else dumps(columns)


def unpack(body: bytes) -> Iterator[Record]:
    return zip(*columns(body), strict=True)


def columns(body: bytes) -> tuple[list[Any], list[Any], list[Any]]:
    """Timestamps, keys and values of a frame of data."""
    found: tuple[list[Any], list[Any], list[Any]] = loads(body)
    return found


def _is_plain(column: list[Any]) -> bool:
    """Whether all values are atoms, or all are tuples of atoms."""
    kinds = set(map(type, column))
    if kinds == _TUPLES:
        kinds = set(map(type, chain.from_iterable(column)))
    return kinds <= _ATOMS


_TUPLES = {tuple}


def _dumps_plain(columns: tuple[list[Any], ...]) -> bytes:
    """In half the time: without pickle's memo, which atoms can do without."""
    buffer = io.BytesIO()
    pickler = pickle.Pickler(buffer, 5)
    pickler.fast = True
    pickler.dump(columns)
    return buffer.getvalue()


def detached(value: Any) -> Any:
    """The value as it is now, whatever becomes of the object: a copy unless it cannot change."""
    kind = type(value)
    if kind in _ATOMS:
        return value
    if kind is tuple and _ATOMS.issuperset(map(type, value)):
        return value
    if kind is list and _ATOMS.issuperset(map(type, value)):
        return value[:]
    return value if _cannot_change(value) else loads(dumps(value))


def _cannot_change(value: Any) -> bool:
    kind = type(value)
    return kind in _ATOMS or (kind is tuple and all(map(_cannot_change, value)))


class FrameWriter:
    """Collects the records of one sender and cuts them into frames."""

    def __init__(self, src: str, max_parallelism: int) -> None:
        self._src = src
        self.max_parallelism = max_parallelism
        #: The key group for what has no other.
        self.home = keys.key_group(src, max_parallelism)
        #: Tells senders apart, the same when a batch is run again.
        self.number = zlib.crc32(src.encode())
        self.subtask = 0
        self._turns: defaultdict[int, int] = defaultdict(int)
        self._broadcasts: defaultdict[tuple[int, int], list[Record]] = defaultdict(list)
        self._buffers: defaultdict[tuple[int, int, int], list[Record]] = defaultdict(list)
        self._loops: defaultdict[int, list[tuple[int | None, Any]]] = defaultdict(list)
        self._groups: dict[str | int, int] = {}
        #: The buffers of keys since the last call of `frames`, by operator and input.
        self._places: defaultdict[tuple[int, int], dict[str | int, list[Record]]]
        self._places = defaultdict(dict)
        self._seq = 0
        #: The operator that reads -> bytes of the frames to it.
        self.sent: dict[int, int] = {}
        self.time = 0

    def keyed(
        self,
        op: int,
        input_: int,
        selector: Callable[[Any], Any],
        batch: Iterable[tuple[int | None, Any]],
    ) -> None:
        """Send records to a keyed operator's input, each to the group of its key."""
        # exact types only: True == 1 == 1.0 would share a place, but not a key group
        buffers, places = self._buffers, self._places[op, input_]
        value = None
        try:
            for timestamp, value in batch:
                key = selector(value)
                if type(key) is str or type(key) is int:
                    buffer = places.get(key)
                    if buffer is None:
                        buffer = places[key] = buffers[self._group(key), op, input_]
                else:
                    buffer = buffers[keys.key_group(key, self.max_parallelism), op, input_]
                buffer.append((timestamp, key, value))
        except Exception as error:
            raise OperatorError("key_by", value, traceback.format_exc()) from error

    def _group(self, key: str | int) -> int:
        group = self._groups.get(key)
        if group is None:
            group = self._groups[key] = keys.key_group(key, self.max_parallelism)
        return group

    def to_sink(self, op: int, batch: Iterable[tuple[int | None, Any]]) -> None:
        """Send records to a sink; all of one sender by the same way, so their order stays."""
        self.to_group(self.home, op, 0, batch)

    def to_group(
        self, group: int, op: int, input_: int, batch: Iterable[tuple[int | None, Any]]
    ) -> None:
        """Send records to a key group, whatever their keys."""
        records: list[Record] = [(timestamp, None, value) for timestamp, value in batch]
        self._buffers[group, op, input_].extend(records)

    def to_every_group(self, op: int, input_: int, batch: Iterable[tuple[int | None, Any]]) -> None:
        """Send records to all key groups, in front of the batch's other data."""
        records: list[Record] = [(timestamp, None, value) for timestamp, value in batch]
        self._broadcasts[op, input_].extend(records)

    def to_loop(self, op: int, batch: Iterable[tuple[int | None, Any]]) -> None:
        """Back to a loop of this stage."""
        self._loops[op].extend(batch)

    def take_loop(self, op: int) -> list[tuple[int | None, Any]]:
        """What has come back to a loop since the last call."""
        return self._loops.pop(op, [])

    def turn(self, op: int, count: int) -> int:
        """How many records went to an operator in turn before these `count`."""
        before = self._turns[op]
        self._turns[op] += count
        return before

    def frames(self) -> Iterator[Frame]:
        """What was collected since the last call."""
        for (op, input_), records in self._broadcasts.items():
            yield from self._everywhere(op, input_, BROADCAST, pack(records))
        self._broadcasts.clear()
        for (group, op, input_), records in self._buffers.items():
            if records:
                yield self._frame(group, op, input_, DATA, pack(records))
        self._buffers.clear()
        self._places.clear()
        if len(self._groups) > 100_000:
            self._groups.clear()

    def control(self, control: Control) -> Iterator[Frame]:
        """A control row for every key group."""
        return self._everywhere(0, 0, CONTROL, dumps(control))

    def metrics(self, values: dict[str, Any]) -> Frame:
        """Metrics of this batch, on their way to its report."""
        return self._frame(self.home, REPORT, 0, METRICS, dumps(values))

    def _everywhere(self, op: int, input_: int, kind: int, body: bytes) -> Iterator[Frame]:
        if kind == BROADCAST:
            self.sent[op] = self.sent.get(op, 0) + len(body) * self.max_parallelism
        for group in range(self.max_parallelism):
            self._seq += 1
            yield Frame(group, op, input_, kind, self._src, self._seq, self.time, body)

    def _frame(self, group: int, op: int, input_: int, kind: int, body: bytes) -> Frame:
        self._seq += 1
        if kind == DATA:
            self.sent[op] = self.sent.get(op, 0) + len(body)
        return Frame(group, op, input_, kind, self._src, self._seq, self.time, body)
