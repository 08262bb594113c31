"""How a running query is asked what it has done."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

from headrace.datastream import StreamExecutionEnvironment
from headrace.runtime.batch_reporting import BatchReporting
from headrace.runtime.context import RunContext, StopRequest
from headrace.runtime.kafka_sources import KafkaSources
from headrace.runtime.spark_offsets import SparkOffsets


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


def test_progress_is_fetched_only_when_there_is_some(tmp_path: Path) -> None:
    env = StreamExecutionEnvironment.get_execution_environment()
    env.from_collection([1]).print()
    program = env.compile("test")
    told = Told()
    stop = StopRequest()
    context = RunContext(
        "job", "test", 1, 1, "local", 512, tmp_path, tmp_path, [], {}, reporter=told, stop=stop
    )
    sources = KafkaSources(program, tmp_path, SparkOffsets(tmp_path), checkpointing=False)
    reporting = BatchReporting(context, program, -1, sources)
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
    assert [event.checkpoint_id for event in told.events] == [1, 2, 3]
