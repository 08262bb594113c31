"""How a running query is asked what it has done."""

from __future__ import annotations

import json
import pickle
from pathlib import Path
from typing import Any

from headrace.common.accumulators import LongCounter
from headrace.datastream import StreamExecutionEnvironment
from headrace.runtime import job_sink
from headrace.runtime.batch_reporting import MOST_NAMES, BatchReporting
from headrace.runtime.context import RunContext, StopRequest
from headrace.runtime.job_sink import BatchReport
from headrace.runtime.kafka_sources import KafkaSources
from headrace.runtime.measures import LEFT_OUT
from headrace.runtime.spark_offsets import SparkOffsets
from headrace.wire import events


class Progress(dict[str, Any]):
    @property
    def json(self) -> str:
        return json.dumps(self)


class Query:
    """Stands for Spark's query, as far as it is asked for its progress."""

    def __init__(self) -> None:
        self.progress: list[Progress] = []
        self.fetched = 0

    def ends(self, batch: int, run: str = "first") -> None:
        second = len(self.progress)
        self.progress.append(
            Progress(
                runId=run,
                batchId=batch,
                timestamp=f"2026-01-01T00:00:{second:02}.000Z",
                durationMs={"addBatch": 1, "triggerExecution": 2},
                sources=[],
                stateOperators=[],
            )
        )

    @property
    def lastProgress(self) -> Progress | None:
        return self.progress[-1] if self.progress else None

    @property
    def recentProgress(self) -> list[Progress]:
        self.fetched += 1
        return self.progress


class Told:
    def __init__(self) -> None:
        self.events: list[Any] = []

    def report(self, event: Any) -> None:
        self.events.append(event)


def reporting_of(folder: Path, told: Told, completed: int = -1) -> BatchReporting:
    env = StreamExecutionEnvironment.get_execution_environment()
    env.from_collection([1]).print()
    program = env.compile("test")
    stop = StopRequest()
    context = RunContext(
        "job", "test", 1, 1, "local", 512, folder, folder, [], {}, reporter=told, stop=stop
    )
    sources = KafkaSources(program, folder, SparkOffsets(folder), checkpointing=False)
    return BatchReporting(context, program, completed, sources)


def test_progress_is_fetched_only_when_there_is_some(tmp_path: Path) -> None:
    told = Told()
    reporting = reporting_of(tmp_path, told)
    query: Any = Query()
    assert not reporting.take(query)
    query.ends(0)
    query.ends(1)
    assert reporting.take(query)
    assert not reporting.take(query)
    query.ends(1, run="second")  # a query that has begun anew and done nothing yet
    assert not reporting.take(query)
    query.ends(2, run="second")
    assert reporting.take(query)
    assert query.fetched == 3
    reporting.tell_last()
    made = [event for event in told.events if isinstance(event, events.CheckpointCompleted)]
    assert [event.checkpoint_id for event in made] == [1, 2, 3]
    assert isinstance(told.events[-1], events.Measured)


def test_what_a_driver_did_not_live_to_drop_counts_once(tmp_path: Path) -> None:
    """It died behind its commit: before it told, or between telling and dropping the report."""
    left = tmp_path / job_sink.REPORTS / f"{0:012d}.pickle"
    left.parent.mkdir(parents=True)
    report = BatchReport(0, time=5, visible_at=9)
    report.metrics.counters["seen"] = 3
    report.metrics.accumulators["sum"] = LongCounter()
    report.metrics.accumulators["sum"].add(40)
    for _ in range(3):
        left.write_bytes(pickle.dumps(report))
        told = Told()
        reporting = reporting_of(tmp_path, told, completed=0)
        assert reporting.results == {"seen": 3, "sum": 40}
        assert [event.counters["seen"] for event in told.events] == [3]
        assert not left.exists()


def test_a_job_keeps_some_hundred_counters(tmp_path: Path) -> None:
    left = tmp_path / job_sink.REPORTS / f"{0:012d}.pickle"
    left.parent.mkdir(parents=True)
    report = BatchReport(0, time=5, visible_at=9)
    report.metrics.counters = {f"user {n}": 1 for n in range(MOST_NAMES + 7)}
    left.write_bytes(pickle.dumps(report))
    reporting = reporting_of(tmp_path, Told(), completed=0)
    assert len(reporting.counters) == MOST_NAMES + 1
    assert reporting.counters[LEFT_OUT] == 7
    assert reporting.counters["user 0"] == 1
