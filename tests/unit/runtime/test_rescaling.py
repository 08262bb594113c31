"""When the state of a job is spread over another number of tasks, and when it has to wait."""

from __future__ import annotations

import json
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest
from pyspark.errors import PySparkException

from headrace.runtime import rescaling
from headrace.runtime.spark_offsets import SparkOffsets


class FakeSpark:
    """Notes what it is asked for; a repartitioning is a batch of its own, as Spark's is."""

    def __init__(self, checkpoint: Path, partitions: int, refuses: str = "") -> None:
        self.conf = {"spark.sql.shuffle.partitions": str(partitions)}
        self.streams = SimpleNamespace(active=[])
        self._streamingCheckpointManager = self
        self.streams = SimpleNamespace(active=[])
        self.checkpoint = checkpoint
        self.refuses = refuses
        self.asked: list[int] = []

    def repartition(self, checkpoint: str, partitions: int) -> None:
        assert checkpoint == str(self.checkpoint)
        self.asked.append(partitions)
        if self.refuses:
            raise PySparkException(self.refuses)
        number = (SparkOffsets(self.checkpoint).completed or 0) + 1
        plan(self.checkpoint, number, partitions)
        commit(self.checkpoint, number)


def plan(checkpoint: Path, batch: int, partitions: int) -> None:
    conf = {"conf": {"spark.sql.shuffle.partitions": str(partitions)}}
    write(checkpoint / "offsets" / str(batch), "v1", json.dumps(conf), json.dumps({"position": 1}))
    (checkpoint / "state").mkdir(exist_ok=True)


def commit(checkpoint: Path, batch: int) -> None:
    write(checkpoint / "commits" / str(batch), "v1", "{}")


def write(path: Path, *lines: str) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text("\n".join(lines))


def rescale(checkpoint: Path, partitions: int, **settings: Any) -> list[int]:
    spark: Any = FakeSpark(checkpoint, partitions, **settings)
    rescaling.rescale(spark, SparkOffsets(checkpoint))
    asked: list[int] = spark.asked
    return asked


def test_state_is_spread_anew_between_two_batches(tmp_path: Path) -> None:
    assert rescale(tmp_path, 2) == []  # the job has not run yet
    plan(tmp_path, 0, 2)
    commit(tmp_path, 0)
    assert not rescaling.waits(SparkOffsets(tmp_path))
    assert rescale(tmp_path, 2) == []
    assert rescale(tmp_path, 3) == [3]
    assert rescale(tmp_path, 3) == []


def test_a_batch_that_waits_runs_as_it_was_planned_first(tmp_path: Path) -> None:
    plan(tmp_path, 0, 2)
    assert rescaling.waits(SparkOffsets(tmp_path))
    assert rescale(tmp_path, 3) == []
    commit(tmp_path, 0)
    plan(tmp_path, 1, 2)
    assert rescaling.waits(SparkOffsets(tmp_path))
    assert rescale(tmp_path, 3) == []
    commit(tmp_path, 1)
    assert rescale(tmp_path, 3) == [3]


def test_what_was_cut_short_is_done_first(tmp_path: Path) -> None:
    plan(tmp_path, 0, 2)
    commit(tmp_path, 0)
    plan(tmp_path, 1, 3)
    assert not rescaling.waits(SparkOffsets(tmp_path))
    assert rescale(tmp_path, 4) == [3, 4]


def test_what_spark_refuses_leaves_the_job_as_it_was(
    tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    plan(tmp_path, 0, 2)
    commit(tmp_path, 0)
    assert rescale(tmp_path, 3, refuses="no join's state") == [3]
    assert "not spread over 3 tasks: no join's state" in caplog.text
