"""Figures of vertices and operators under Flink's names, a value for each subtask."""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping
from dataclasses import dataclass

from headrace.runtime.measuring.counts import NEWEST, SEND_TIME, SPLIT_READ, Measured
from headrace.runtime.measuring.lags import Lags
from headrace.runtime.measuring.rates import Rates
from headrace.runtime.measuring.shape import Shape, Vertex
from headrace.runtime.measuring.totals import Key, Totals
from headrace.runtime.measuring.watermark_figures import WatermarkFigures
from headrace.runtime.metrics import DESERIALIZATION_ERRORS
from headrace.runtime.operators.window import LATE_DROPPED
from headrace.wire.columns import Column, Row, columns

#: id -> metric -> values of all subtasks
Table = dict[str, dict[str, Column]]

#: Of a subtask's splits whose own figures are told.
SPLITS = 16

_COUNTED = {
    "numRecordsIn": "in",
    "numRecordsOut": "out",
    "numBytesIn": "bytes_in",
    "numBytesOut": "bytes_out",
}


@dataclass(frozen=True)
class Known:
    """Times in ms; `lasts`: since the attempt began."""

    shape: Shape
    totals: Totals
    rates: Rates
    meters: Rates
    watermarks: WatermarkFigures
    lags: Lags
    last_read: Mapping[tuple[int, int], int]
    now: int
    lasts: int


def of_vertices(known: Known) -> Table:
    """Flink's task scope."""
    return {
        vertex.id: columns([_of_task(known, vertex, s) for s in range(vertex.parallelism)])
        for vertex in known.shape.vertices.values()
    }


def of_operators(known: Known) -> Table:
    """Flink's operator scope, and what the operators' own functions measure."""
    return {
        known.shape.operator_ids[node]: columns(
            [_of_operator(known, vertex, node, s) for s in range(vertex.parallelism)]
        )
        for vertex in known.shape.vertices.values()
        for node in vertex.nodes
    }


def _of_task(known: Known, vertex: Vertex, subtask: int) -> Row:
    row = _counted(known, vertex.id, subtask, _COUNTED)
    timers = vertex.id, subtask, "timers"
    row["numFiredTimers"] = known.totals.numbers.get(timers, 0.0)
    row["numFiredTimersPerSecond"] = known.rates.of(timers)
    row["numLateRecordsDropped"] = sum(
        known.totals.numbers.get((node, subtask, LATE_DROPPED), 0.0) for node in vertex.nodes
    )
    row |= _times(known, vertex.id, subtask)
    mark = known.watermarks.input(vertex.head)
    if mark is not None:
        row["currentInputWatermark"] = mark
    return row


def _times(known: Known, vertex: str, subtask: int) -> Row:
    """Busy, held back and idle: of each second, and in all."""
    rates, totals = known.rates, known.totals.numbers
    busy, soft, hard = (rates.of((vertex, subtask, name)) for name in ("busy", "soft", "hard"))
    scale = min(1.0, 1000 / max(1.0, busy + soft + hard))
    busy, soft, hard = busy * scale, soft * scale, hard * scale
    spent = {name: totals.get((vertex, subtask, name), 0.0) for name in ("busy", "soft", "hard")}
    held = spent["soft"] + spent["hard"]
    row = {
        "accumulateBusyTimeMs": spent["busy"],
        "accumulateBackPressuredTimeMs": held,
        "accumulateIdleTimeMs": max(0.0, known.lasts - spent["busy"] - held),
    }
    for name in ("Soft", "Hard"):
        longest = known.totals.longest[vertex, subtask, name.lower()]
        row[f"max{name}BackPressureTimeMs"] = longest
    if not rates.seconds:
        return row
    return row | {
        "busyTimeMsPerSecond": busy,
        "backPressuredTimeMsPerSecond": soft + hard,
        "softBackPressuredTimeMsPerSecond": soft,
        "hardBackPressuredTimeMsPerSecond": hard,
        "idleTimeMsPerSecond": max(0.0, 1000 - busy - soft - hard),
        "isBackPressured": float(soft + hard > 100),
    }


def _of_operator(known: Known, vertex: Vertex, node: int, subtask: int) -> Row:
    row = _counted(known, node, subtask, {"numRecordsIn": "in", "numRecordsOut": "out"})
    row["ownTimeMsPerSecond"] = known.rates.of((node, subtask, "own"))
    late = known.totals.numbers.get((node, subtask, LATE_DROPPED))
    if late is not None:
        row["numLateRecordsDropped"] = late
    marks = {
        "currentInputWatermark": known.watermarks.input(node),
        "currentOutputWatermark": known.watermarks.output(node, subtask),
    }
    before = known.shape.reads(node)
    if len(before) > 1:
        for number, read in enumerate(before, 1):
            marks[f"currentInput{number}Watermark"] = known.watermarks.output(read)
    row |= {name: float(mark) for name, mark in marks.items() if mark is not None}
    if node in known.shape.sources:
        row |= _of_source(known, node, subtask)
    if node in known.shape.sinks:
        row |= _of_sink(known, node, subtask)
    for name, measured in known.totals.user.get(node, {}).items():
        if subtask in measured:
            of = node, subtask, name
            for metric, value in _measured(known, of, measured[subtask]):
                row.setdefault(metric, value)  # as in Flink, what there is keeps its name
    return row


def _of_source(known: Known, node: int, subtask: int) -> Row:
    numbers, values = known.totals.numbers, known.totals.values
    row = _counted(known, node, subtask, {"numBytesIn": "bytes_in"})
    row["numRecordsInErrors"] = numbers.get((node, subtask, DESERIALIZATION_ERRORS), 0.0)
    read = known.last_read.get((node, subtask))
    if read is not None:
        row["sourceIdleTime"] = float(max(0, known.now - read))
        newest = values.get((node, subtask, NEWEST))
        if newest is not None:
            row["currentEmitEventTimeLag"] = float(read - newest)
    mark = known.watermarks.of_source(node, subtask)
    if mark is not None:
        row |= {"currentOutputWatermark": float(mark), "watermarkLag": float(known.now - mark)}
    splits = [
        name.removeprefix(SPLIT_READ)
        for number, by, name in values
        if (number, by) == (node, subtask) and name.startswith(SPLIT_READ)
    ]
    return row | _of_splits(known, node, splits)


def _of_splits(known: Known, node: int, splits: list[str]) -> Row:
    """Of those that a subtask has read; where a job reads very many, of the first ones."""
    row: Row = {}
    lags = known.lags.of_splits(splits)
    if lags:
        row["pendingRecords"] = float(sum(lags.values()))
        row["KafkaSourceReader.KafkaConsumer.records-lag-max"] = float(max(lags.values()))
    for split in splits[:SPLITS]:
        mark = known.watermarks.of_split(node, split)
        if mark is not None:
            row[f"split.{_undotted(split)}.watermark.currentWatermark"] = float(mark)
        place = known.lags.place(split)
        if place is not None:
            topic, _, partition = split.rpartition("-")
            topic = _undotted(topic)
            name = f"KafkaSourceReader.topic.{topic}.partition.{partition}.currentOffset"
            row[name] = float(place)
    return row


def _undotted(name: str) -> str:
    """As a part of a metric's name, whose parts have dots between them: as in Flink."""
    return name.replace(".", "_")


def _of_sink(known: Known, node: int, subtask: int) -> Row:
    sent = {"numRecordsSend": "in", "numBytesSend": "bytes_in"}
    row = _counted(known, node, subtask, sent)
    took = known.totals.values.get((node, subtask, SEND_TIME))
    return row if took is None else row | {"currentSendTime": took}


def _counted(known: Known, of: str | int, subtask: int, names: Mapping[str, str]) -> Row:
    row = {}
    for metric, name in names.items():
        row[metric] = known.totals.numbers.get((of, subtask, name), 0.0)
        row[f"{metric}PerSecond"] = known.rates.of((of, subtask, name))
    return row


def _measured(known: Known, of: Key, measured: Measured) -> Iterator[tuple[str, float]]:
    """A meter is told as its rate of late and as its count, and so on, as Flink does."""
    name = of[2]
    numbers = [_number(each) for each in measured.numbers]
    if measured.kind == "distribution":
        stats = {"count": numbers[0], "sum": numbers[1], "min": numbers[2], "max": numbers[3]}
        stats["mean"] = numbers[1] / numbers[0]
        yield from ((f"{name}_{stat}", value) for stat, value in stats.items())
    elif measured.kind == "meter":
        yield name, known.meters.of(of)
        yield f"{name}_count", numbers[0]
    else:
        yield name, numbers[0]


def _number(value: object) -> float:
    """Of whatever a gauge gives; NaN, which is not told, for what is none."""
    try:
        return float(value)  # type: ignore[arg-type]
    except (TypeError, ValueError, OverflowError):
        return math.nan
