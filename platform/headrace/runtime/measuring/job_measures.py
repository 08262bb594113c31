"""The figures of a job in one attempt, from what its batches report: see `Measured`."""

from __future__ import annotations

import json
import logging
import time
from collections.abc import Callable, Mapping
from itertools import islice
from typing import Any, TypeVar

from headrace.common.accumulators import Accumulator
from headrace.runtime.job_sink import BatchReport
from headrace.runtime.kafka_brokers import Offsets
from headrace.runtime.measuring import pressure, tables
from headrace.runtime.measuring.counts import PREPARED_AT
from headrace.runtime.measuring.lags import Lags
from headrace.runtime.measuring.latencies import Latencies
from headrace.runtime.measuring.rates import Rates
from headrace.runtime.measuring.shape import Shape
from headrace.runtime.measuring.totals import Totals
from headrace.runtime.measuring.watermark_figures import WatermarkFigures
from headrace.runtime.program import Program
from headrace.wire.events import CheckpointCompleted, Measured

#: Figures are told no more often, and so that a journal, which packs them, grows slowly.
LEAST_MS = 2_000
CHARACTERS_PER_SECOND = 4_000
MOST_MS = 10_000
#: While there is nothing to process they are told for so long, as rates fall; then every minute.
SETTLING_MS = 30_000
QUIET_MS = 60_000
#: What a function marks with a meter is told as its rate over so long, Flink's default.
METER_MS = 60_000
#: Characters, and things in a list, of an accumulator's value that are told.
SHOWN, SHOWN_THINGS = 500, 50

log = logging.getLogger(__name__)


T = TypeVar("T")


class JobMeasures:
    """Told of batches as they are committed; tells figures when it is time to. No job fails because
    of its figures: after an error there are no more of them."""

    def __init__(self, program: Program, clock: Callable[[], float] = time.time) -> None:
        self._clock = clock
        self._begun = self._now()
        self.shape = Shape(program)
        self._totals = Totals(self.shape)
        self._rates = Rates(self._begun)
        self._meters = Rates(self._begun, METER_MS)
        self._watermarks = WatermarkFigures(program, self.shape)
        self._latencies = Latencies()
        self._lags = Lags()
        self._last_read: dict[tuple[int, int], int] = {}
        self._accumulators: Mapping[str, Accumulator[Any, Any]] = {}
        self._records = {"in": 0, "out": 0}
        self._new = self._broken = False
        self._next = 0
        #: When a batch was last told of, and when figures were.
        self._worked = self._told_at = self._begun

    def batch(
        self,
        event: CheckpointCompleted,
        report: BatchReport | None,
        accumulators: Mapping[str, Accumulator[Any, Any]],
    ) -> dict[str, list[int]]:
        """One that is committed. `event`: what is told of it; `accumulators`: the job's. Vertex's
        id -> ms that each subtask was busy."""
        return self._safely(lambda: self._batch(event, report, accumulators), {})

    def idle(self, lag: Offsets) -> None:
        """There is nothing to process."""
        self._safely(lambda: self._idle(lag), None)

    def due(self) -> Measured | None:
        """What is to be told now, if anything."""
        now = self._now()
        is_due = now >= self._next or now < self._told_at  # the clock was set back
        return self.last() if is_due else None

    def last(self) -> Measured | None:
        """At the end of the attempt: what was not told yet."""
        return self._safely(self._told, None) if self._new else None

    def _safely(self, call: Callable[[], T], otherwise: T) -> T:
        if self._broken:
            return otherwise
        try:
            return call()
        except Exception:
            self._broken, self._new = True, False
            log.exception("the job tells no figures any more; it goes on without")
            return otherwise

    def _batch(
        self,
        event: CheckpointCompleted,
        report: BatchReport | None,
        accumulators: Mapping[str, Accumulator[Any, Any]],
    ) -> dict[str, list[int]]:
        self._new = True
        self._worked = self._now()
        self._accumulators = accumulators
        self._lags.observe(self._now(), event.offsets, event.lag)
        self._records["in"] += event.records_in
        self._records["out"] += sum(event.records_out.values())
        busy = {} if report is None else self._take(event, report)
        self._observe(self._now())
        return busy

    def _observe(self, now: int) -> None:
        self._rates.observe(now, self._totals.numbers)
        self._meters.observe(now, self._totals.meters)

    def _idle(self, lag: Offsets) -> None:
        now = self._now()
        settles = now - self._worked < SETTLING_MS or now - self._told_at >= QUIET_MS
        self._new = self._new or settles
        self._lags.observe(now, {}, lag)
        self._watermarks.idle(now)
        self._observe(now)

    def _told(self) -> Measured:
        self._new = False
        now = self._told_at = self._now()
        measured = Measured(
            job=self._job(),
            vertices=tables.of_vertices(self._figures(now)),
            operators=tables.of_operators(self._figures(now)),
            latency=self._latency(now),
            partitions=self._lags.figures(),
            watermarks=self._watermarks.told(),
            accumulators=self._told_accumulators(),
            left_out=self._totals.left_out,
        )
        self._totals.longest.clear()  # the next figures tell of what follows
        size = len(json.dumps(measured.to_json(), default=str))
        self._next = now + int(min(MOST_MS, max(LEAST_MS, size * 1000 / CHARACTERS_PER_SECOND)))
        return measured

    def _figures(self, now: int) -> tables.Known:
        return tables.Known(
            self.shape,
            self._totals,
            self._rates,
            self._meters,
            self._watermarks,
            self._lags,
            self._last_read,
            now,
            now - self._begun,
        )

    def _take(self, event: CheckpointCompleted, report: BatchReport) -> dict[str, list[int]]:
        parts = list(report.metrics.parts.values())
        for part in parts:
            for node in part.nodes:
                if node in self.shape.sources:
                    self._last_read[node, part.subtask] = report.time
        behind = any(n > 0 for partitions in event.lag.values() for n in partitions.values())
        batch = pressure.Batch(event.started_at, event.duration, behind)
        spent = pressure.spent(self.shape, batch, parts)
        self._totals.add(parts, spent)
        self._watermarks.observe(report.time, parts, report.metrics.operator_watermarks)
        prepared: dict[int, float] = {}
        for part in parts:
            for (node, name), value in part.values.items():
                if name == PREPARED_AT:
                    prepared[node] = max(value, prepared.get(node, 0.0))
        since = {node: max(0.0, at - report.time) for node, at in prepared.items()}
        visible = max(0.0, float(report.visible_at - report.time))
        for source, ages in report.metrics.source_ages.items():
            self._latencies.observe(self._now(), source, ages, since, visible)
        busy: dict[str, list[int]] = {vertex: [] for vertex in self.shape.vertices}
        for (vertex, _), one in spent.items():
            busy[vertex].append(round(one.busy))
        return busy

    def _job(self) -> dict[str, float]:
        """Of all sources and sinks."""
        numbers, rates, shape = self._totals.numbers, self._rates, self.shape
        read = [key for key in numbers if key[0] in shape.sources and key[2] == "in"]
        written = [key for key in numbers if key[0] in shape.sinks and key[2] == "in"]
        return {
            "numRecordsIn": float(self._records["in"]),
            "numRecordsOut": float(self._records["out"]),
            "numRecordsInPerSecond": round(sum(map(rates.of, read)), 3),
            "numRecordsOutPerSecond": round(sum(map(rates.of, written)), 3),
        }

    def _latency(self, now: int) -> list[dict[str, Any]]:
        ids, found = self.shape.operator_ids, []
        for source, sink in self.shape.pairs():
            for to in ("pre-commit", "visible"):
                histogram = self._latencies.histogram(source, sink, to, now)
                if histogram:
                    found.append({"source": ids[source], "sink": ids[sink], "to": to} | histogram)
        return found

    def _told_accumulators(self) -> dict[str, list[dict[str, str]]]:
        """By vertex; those whose operator has not said so in this attempt by ""."""
        found: dict[str, list[dict[str, str]]] = {}
        for name, accumulator in self._accumulators.items():
            node = self._totals.accumulators.get(name)
            vertex = self.shape.vertex_of.get(node, "") if node is not None else ""
            value = _shown(accumulator.get_local_value())
            kind = type(accumulator).__name__
            found.setdefault(vertex, []).append({"name": name, "type": kind, "value": value})
        return found

    def _now(self) -> int:
        return int(self._clock() * 1000)


def _shown(value: Any) -> str:
    """The beginning of a value that may be long."""
    if isinstance(value, list | tuple | set | frozenset | dict) and len(value) > SHOWN_THINGS:
        return f"{str(list(islice(value, SHOWN_THINGS)))[:SHOWN]}… {len(value)} in all"
    return str(value)[:SHOWN]
