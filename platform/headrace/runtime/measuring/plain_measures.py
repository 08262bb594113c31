"""The figures of queries that a program starts itself, as far as Spark tells them.

A query's node works while a batch runs; its sources are held back meanwhile if records were left
behind. Spark does not say what each subtask did: the first one has all records.
"""

from __future__ import annotations

import time
from collections import defaultdict
from collections.abc import Callable, Sequence
from typing import Any

from headrace.runtime.kafka_brokers import Offsets
from headrace.runtime.measuring.lags import Lags
from headrace.runtime.measuring.rates import Rates
from headrace.runtime.plain_writer import Described
from headrace.wire.columns import Column
from headrace.wire.events import Measured
from headrace.wire.operator_ids import operator_id

LEAST_MS = 2_000
#: While there is nothing to process they are told for so long, as rates fall; then every minute.
SETTLING_MS = 30_000
QUIET_MS = 60_000


class PlainMeasures:
    """Told of each batch of each query; a node's number is that in `plain_progress.plan`."""

    def __init__(self, parallelism: int, clock: Callable[[], float] = time.time) -> None:
        self._parallelism = parallelism
        self._clock = clock
        self._begun = self._now()
        #: (node's number, metric) -> sum; metrics: in, out, busy, held
        self._totals: defaultdict[tuple[int, str], float] = defaultdict(float)
        self._rates = Rates(self._begun)
        self._lags = Lags()
        self._marks: dict[int, int] = {}
        self._nodes: set[int] = set()
        self._queries: set[int] = set()
        self._new = False
        #: When a batch was last told of, and when figures were.
        self._worked = self._told_at = self._begun

    def batch(
        self,
        queries: Sequence[Described],
        name: str,
        found: dict[str, Any],
        read: Offsets,
        lag: Offsets,
        watermark: int | None,
    ) -> None:
        """`found` as StreamingQueryProgress.json, of the query `name` among all of the job's;
        `read` and `lag`: of all queries."""
        self._new = True
        self._worked = self._now()
        sources, query, sink = places(queries, name)
        rows = int(found.get("numInputRows", 0))
        written = max(0, int(found.get("sink", {}).get("numOutputRows", -1)))
        took = float(found.get("durationMs", {}).get("triggerExecution", 0))
        behind = any(n > 0 for partitions in lag.values() for n in partitions.values())
        for number, source in zip(sources, found.get("sources", []), strict=False):
            came = int(source.get("numInputRows", 0))
            self._add(number, came, came, 0.0, took if behind else 0.0)
        self._add(query, rows, written, took, 0.0)
        self._queries.add(query)
        self._add(sink, written, written, 0.0, 0.0)
        if watermark is not None:
            self._marks |= {query: watermark, sink: watermark}
        self._lags.observe(self._now(), read, lag)
        self._rates.observe(self._now(), self._totals)

    def idle(self, lag: Offsets) -> None:
        """A query has nothing to process."""
        now = self._now()
        settles = now - self._worked < SETTLING_MS or now - self._told_at >= QUIET_MS
        self._new = self._new or (settles and bool(self._nodes))
        self._lags.observe(now, {}, lag)
        self._rates.observe(now, self._totals)

    def due(self) -> Measured | None:
        return self.last() if abs(self._now() - self._told_at) >= LEAST_MS else None

    def last(self) -> Measured | None:
        if not self._new:
            return None
        self._new = False
        self._told_at = self._now()
        return Measured(
            job=self._job(),
            vertices={operator_id(f"node-{n}"): self._figures(n) for n in sorted(self._nodes)},
            partitions=self._lags.figures(),
        )

    def _job(self) -> dict[str, float]:
        """Of all queries."""
        found = {}
        for name, metric in (("numRecordsIn", "in"), ("numRecordsOut", "out")):
            keys = [(number, metric) for number in self._queries]
            found[name] = sum(self._totals[key] for key in keys)
            found[f"{name}PerSecond"] = round(sum(map(self._rates.of, keys)), 3)
        return found

    def _add(self, number: int, came: int, went: int, busy: float, held: float) -> None:
        self._nodes.add(number)
        for metric, n in (("in", came), ("out", went), ("busy", busy), ("held", held)):
            self._totals[number, metric] += n

    def _figures(self, number: int) -> dict[str, Column]:
        of = self._rates.of
        busy = min(1000.0, of((number, "busy")))
        held = min(1000.0 - busy, of((number, "held")))
        lasts = self._now() - self._begun
        spent = [self._totals[number, metric] for metric in ("busy", "held")]
        found: dict[str, Column] = {
            "numRecordsIn": self._first(self._totals[number, "in"]),
            "numRecordsInPerSecond": self._first(of((number, "in"))),
            "numRecordsOut": self._first(self._totals[number, "out"]),
            "numRecordsOutPerSecond": self._first(of((number, "out"))),
            "busyTimeMsPerSecond": round(busy, 3),
            "backPressuredTimeMsPerSecond": round(held, 3),
            "idleTimeMsPerSecond": round(1000 - busy - held, 3),
            "accumulateBusyTimeMs": spent[0],
            "accumulateBackPressuredTimeMs": spent[1],
            "accumulateIdleTimeMs": max(0.0, lasts - sum(spent)),
        }
        if number in self._marks:
            found["currentInputWatermark"] = self._marks[number]
        return found

    def _first(self, value: float) -> Column:
        rest: list[float | None] = [None] * (self._parallelism - 1)
        return [round(value, 3), *rest]

    def _now(self) -> int:
        return int(self._clock() * 1000)


def places(queries: Sequence[Described], name: str) -> tuple[list[int], int, int]:
    """The numbers of a query's sources, of itself and of its sink."""
    number = 1
    for query in queries:
        n = len(query.sources)
        if query.name == name:
            return list(range(number, number + n)), number + n, number + n + 1
        number += n + 2
    raise KeyError(name)
