"""What the operators of one stage and subtask do, counted in the task that runs them.

Nothing here is done per record: operators get elements by the batch, and a batch costs two looks at
the clock.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Mapping
from operator import add
from time import perf_counter, time
from typing import NamedTuple, TypeVar

K = TypeVar("K")
V = TypeVar("V")

#: Places in an operator's list of numbers: records in and out, seconds of its own, bytes in, timers
#: that fired.
IN, OUT, SECONDS, BYTES_IN, TIMERS = range(5)

#: Values of a source: the latest timestamp, ms, and when it last read from a split, whose name
#: follows. Of a sink: ms that it took to make its records safe, and when they were, ms since 1970.
NEWEST, SPLIT_READ = "newest", "read "
SEND_TIME, PREPARED_AT = "send", "prepared"

#: Numbers of what no operator can be made answerable for: packing, state, waiting for rows.
REST = 0


class Measured(NamedTuple):
    """What a function of the job's author measured: `kind` is one of counter, meter, gauge,
    distribution and accumulator; `numbers` are [count], [count], [value], [number, sum, smallest,
    largest], or nothing, as accumulators travel by themselves."""

    kind: str
    numbers: list[float]

    def merged(self, more: Measured) -> Measured:
        if self.kind != more.kind or self.kind in ("gauge", "accumulator"):
            return more
        a, b = self.numbers, more.numbers
        if self.kind == "distribution":
            return Measured(self.kind, [a[0] + b[0], a[1] + b[1], min(a[2], b[2]), max(a[3], b[3])])
        return Measured(self.kind, [a[0] + b[0]])


class Part(NamedTuple):
    """Of one stage and subtask in one batch. Stage 0 reads the sources, n is behind the n-th keyed
    exchange, the last one writes to the sinks, too."""

    stage: int
    subtask: int
    #: ms since 1970.
    begun: int
    ended: int
    #: operator's number, or REST -> its list of numbers
    nodes: dict[int, list[float]]
    #: (operator's number, name) -> count
    named: dict[tuple[int, str], int]
    #: (operator's number, name) -> value; the newest counts
    values: dict[tuple[int, str], float]
    #: operator that reads -> bytes that were sent to it
    sent: dict[int, int]
    #: "<generator>/<split>" -> watermark, ms
    watermarks: dict[str, int]
    #: (operator's number, name) -> what its function measured
    user: dict[tuple[int, str], Measured]

    def merged(self, more: Part) -> Part:
        """With another part of the same stage and subtask, whose numbers this one takes over."""
        for node, numbers in more.nodes.items():
            own = self.nodes.get(node)
            self.nodes[node] = numbers if own is None else [*map(add, own, numbers)]
        _join(self.named, more.named, add)
        self.values.update(more.values)
        _join(self.sent, more.sent, add)
        _join(self.watermarks, more.watermarks, max)
        _join(self.user, more.user, Measured.merged)
        return self._replace(begun=min(self.begun, more.begun), ended=max(self.ended, more.ended))


class Counts:
    """Filled by the stage, emptied by `take`. Operators call each other: the seconds of one are
    without those of the ones it calls."""

    _current: list[float]

    def __init__(self, stage: int, subtask: int) -> None:
        self._stage = stage
        self._subtask = subtask
        self._kept = False
        self._clear()

    def begin(self) -> None:
        """Another task or key group: what was counted before is reported, or void, but for the
        time of a group that had nothing else to report."""
        if not self._kept:
            self._clear()
        self._kept = False
        self._begun = int(time() * 1000)
        self._mark = perf_counter()

    def enter(self, node: int, records: int = 0) -> None:
        """An operator gets so many records, and has the time from here on."""
        now = perf_counter()
        self._current[SECONDS] += now - self._mark
        self._mark = now
        self._callers.append(self._current)
        self._current = self.of(node)
        self._current[IN] += records

    def leave(self) -> None:
        """It is done; its caller goes on."""
        now = perf_counter()
        self._current[SECONDS] += now - self._mark
        self._mark = now
        self._current = self._callers.pop()

    def pause(self) -> None:
        """Others work until `go_on`."""
        self._current[SECONDS] += perf_counter() - self._mark

    def go_on(self) -> None:
        self._mark = perf_counter()

    def of(self, node: int) -> list[float]:
        numbers = self._nodes.get(node)
        if numbers is None:
            numbers = self._nodes[node] = [0, 0, 0.0, 0, 0]
        return numbers

    def count(self, node: int, name: str, n: int) -> None:
        self._named[node, name] += n

    def value(self, node: int, name: str, value: float) -> None:
        self._values[node, name] = value

    def take(
        self,
        sent: dict[int, int],
        watermarks: dict[str, int],
        user: dict[tuple[int, str], Measured],
    ) -> Part | None:
        """What was counted since `begin`, with what the stage knows otherwise; None when no
        operator did anything."""
        self.pause()
        self.go_on()
        did = any(each[IN] or each[OUT] or each[TIMERS] for each in self._nodes.values())
        if not (did or sent or watermarks or user):
            self._kept = True
            return None
        return Part(
            self._stage,
            self._subtask,
            self._begun,
            int(time() * 1000),
            self._nodes,
            dict(self._named),
            self._values,
            sent,
            watermarks,
            user,
        )

    def _clear(self) -> None:
        self._current = [0, 0, 0.0, 0, 0]
        self._nodes: dict[int, list[float]] = {REST: self._current}
        self._named: Counter[tuple[int, str]] = Counter()
        self._values: dict[tuple[int, str], float] = {}
        self._callers: list[list[float]] = []
        self._begun = 0
        self._mark = perf_counter()


def _join(into: dict[K, V], more: Mapping[K, V], join: Callable[[V, V], V]) -> None:
    for key, value in more.items():
        into[key] = join(into[key], value) if key in into else value
