"""The first stage of a job on Spark: a source's rows through the stateless operators into frames.

Runs in `mapInArrow`, one task per split (or part of it) and micro-batch.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable, Iterator
from typing import Any, Protocol

import numpy as np
import pyarrow as pa

from headrace.runtime import closing
from headrace.runtime.frames import MAX_WATERMARK, MIN_WATERMARK, Control, Frame, FrameWriter
from headrace.runtime.measuring.counts import BYTES_IN, IN, NEWEST, SPLIT_READ
from headrace.runtime.metrics import DESERIALIZATION_ERRORS, BatchMetrics
from headrace.runtime.operators.operator import Element
from headrace.runtime.operators.timestamps import taken_watermarks
from headrace.runtime.pipeline import Pipeline
from headrace.runtime.program import PackedProgram, Program

FRAME_TYPES = pa.schema(
    [
        ("kg", pa.int32()),
        ("op", pa.int32()),
        ("input", pa.int32()),
        ("kind", pa.int32()),
        ("src", pa.string()),
        ("seq", pa.int64()),
        ("time", pa.int64()),
        ("frame", pa.binary()),
    ]
)
#: Column with the micro-batch's time (ms) that every source's rows carry; the same in a rerun.
TIME_COLUMN = "batch_time"
#: What a task takes in before it sends frames: few large ones cost less than many small ones.
HELD_BYTES = 8 * 1024 * 1024


class Decoded(Protocol):
    """Rows of one split, decoded: `elements` for the main output, `rejected` for the others."""

    split: str
    elements: list[Element]
    #: side output -> elements
    rejected: dict[str, list[Element]]
    #: When the source got each record, ms since 1970; empty where it does not say.
    arrived: np.ndarray[Any, Any]
    #: What the source itself says, ms.
    watermark: int | None


#: Pipelines of this worker process, by program, source and subtask: functions are opened once in
#: them.
_pipelines: dict[tuple[str, int, int], Pipeline] = {}

Decoder = Callable[[pa.RecordBatch], Iterable[Decoded]]


def ingest(
    packed: PackedProgram, source: int, decode: Decoder
) -> Callable[[Iterator[pa.RecordBatch]], Iterator[pa.RecordBatch]]:
    """The function for `mapInArrow` over the rows of one source."""

    def run(batches: Iterator[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
        from pyspark import TaskContext

        task = TaskContext.get()
        number = task.partitionId() if task else 0
        pipeline = _pipeline(packed, source, number)
        stage = IngestStage(pipeline.program, pipeline, source, number)
        held = 0
        for batch in batches:
            if batch.num_rows:
                stage.take(decode(batch), batch.column(TIME_COLUMN)[0].as_py(), batch.nbytes)
                held += batch.nbytes
            if held > HELD_BYTES:
                frames = list(_arrow(stage.frames()))
                pipeline.counts.pause()  # others work until they have taken them
                yield from frames
                pipeline.counts.go_on()
                held = 0
        yield from _arrow(stage.finish())

    return run


def _pipeline(packed: PackedProgram, source: int, task: int) -> Pipeline:
    subtask = task % packed.unpack().subtasks
    where = packed.token, source, subtask
    pipeline = _pipelines.get(where)
    if pipeline is None:
        pipeline = _pipelines[where] = Pipeline(packed.copy(), subtask)
        closing.at_end(pipeline.close)
    return pipeline


class IngestStage:
    """One task: decoded rows in, frames out; watermarks and metrics at its end."""

    def __init__(self, program: Program, pipeline: Pipeline, source: int, task: int) -> None:
        self._program = program
        self._node = program.nodes[source]
        self._writer = FrameWriter(f"S{source}/{task:05d}", program.max_parallelism)
        self._pipeline = pipeline
        self._pipeline.begin(self._writer)
        self._assigners = program.assigners(level=0)
        #: What the source said, as a Control row carries it.
        self._emitted: dict[str, int] = {}
        self._begun = False
        self._metrics = BatchMetrics()
        self._counts = pipeline.counts

    def take(self, decoded: Iterable[Decoded], time: int, size: int = 0) -> None:
        """Rows in the order of the split, `size` in bytes as Spark hands them over."""
        self._begin(time)
        self._counts.enter(self._node.id)
        self._counts.of(self._node.id)[BYTES_IN] += size
        for part in decoded:
            for assigner in self._assigners.values():
                assigner.split = f"{self._node.id}:{part.split}"
            self._pipeline.send(self._node, None, part.elements)
            for tag, elements in part.rejected.items():
                self._pipeline.count(self._node.id, DESERIALIZATION_ERRORS, len(elements))
                self._pipeline.send(self._node, tag, elements)
            records = len(part.elements) + sum(map(len, part.rejected.values()))
            self._metrics.records_in += records
            self._counts.of(self._node.id)[IN] += records
            self._counts.value(self._node.id, f"{SPLIT_READ}{part.split}", time)
            self._metrics.add_ages(np.maximum(0, time - part.arrived))
            if part.watermark is not None and not self._program.batch:
                split = f"silent-{self._node.id}/{self._node.id}:{part.split}"
                self._emitted[split] = max(part.watermark, self._emitted.get(split, MIN_WATERMARK))
        self._counts.leave()

    def frames(self) -> Iterator[Frame]:
        return self._writer.frames()

    def finish(self) -> Iterator[Frame]:
        """What the task has to say at its end; nothing when it saw no row."""
        if not self._metrics.records_in and not self._emitted:
            return
        self._pipeline.finish()
        yield from self._writer.frames()
        watermarks = taken_watermarks(self._assigners) | self._emitted
        if self._program.levels and watermarks:
            yield from self._writer.control(Control(watermarks, ended=False))
        self._metrics.source_ages = {self._node.id: self._metrics.ages}
        newest = max((a.newest for a in self._assigners.values()), default=MIN_WATERMARK)
        if newest > MIN_WATERMARK:
            self._counts.value(self._node.id, NEWEST, newest)
        self._pipeline.report(self._metrics, watermarks)
        yield self._writer.metrics(self._metrics.to_dict())

    def _begin(self, time: int) -> None:
        if not self._begun:
            self._begun = True
            self._writer.time = time
            for assigner in self._assigners.values():
                assigner.start(time)


def _arrow(frames: Iterable[Frame]) -> Iterator[pa.RecordBatch]:
    rows = list(frames)
    if rows:
        columns: list[Any] = list(zip(*rows, strict=True))
        arrays = [pa.array(c, kind) for c, kind in zip(columns, FRAME_TYPES.types, strict=True)]
        yield pa.RecordBatch.from_arrays(arrays, schema=FRAME_TYPES)


def ingest_control(
    packed: PackedProgram,
) -> Callable[[Iterator[pa.RecordBatch]], Iterator[pa.RecordBatch]]:
    """As `ingest`, for the control source: rows (ended boolean, splits string, batch_time)."""

    def run(batches: Iterator[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
        program = packed.unpack()
        for batch in batches:
            for row in batch.to_pylist():
                writer = FrameWriter("control", program.max_parallelism)
                writer.time = row[TIME_COLUMN]
                ended = ended_splits(program, json.loads(row["splits"]))
                yield from _arrow(writer.control(Control(ended, row["ended"])))

    return run


def ended_splits(program: Program, splits: Iterable[str]) -> dict[str, int]:
    """What every generator behind an ended split ("<source's node>:<split>") is told of it: it
    holds no watermark back any more. The split may have come after the job's first start."""
    return {
        f"{generator.name}/{split}": MAX_WATERMARK
        for split in splits
        for generator in program.generators.values()
        if split.partition(":")[0] in {known.partition(":")[0] for known in generator.splits}
    }
