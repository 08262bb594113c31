"""A plain PySpark script under a real JobManager, TaskManager and driver."""

from __future__ import annotations

import sys

import pytest

from jobs import actions
from jobs.models import Job
from jobs.states import JobState
from tests.service.conftest import Cluster, attempt_of

#: Spark starts once per attempt, on a machine that may be busy.
SECONDS = 600.0
SCRIPT = b"""
from pyspark.sql import SparkSession
spark = SparkSession.builder.master("local[*]").appName("numbers").getOrCreate()
rate = spark.readStream.format("rate").option("rowsPerSecond", 20).load()
rate.writeStream.queryName("copy").format("noop").start()
rate.where("value % 2 = 0").writeStream.queryName("even").format("noop").start()
spark.streams.awaitAnyTermination()
"""


def ran_in(job: Job, number: int) -> bool:
    checkpoints = job.checkpoints.filter(attempt__number=number, records_in__gt=0)
    return checkpoints.count() >= 2


@pytest.mark.timeout(1500)
def test_a_script_is_launched_suspended_resumed_and_cancelled(cluster: Cluster) -> None:
    cluster.environment["HEADRACE_DRIVER_COMMAND"] = f"{sys.executable},-m,headrace.runtime.driver"
    cluster.environment["HEADRACE_STOP_TIMEOUT"] = "120"
    cluster.environment["HEADRACE_DRIVER_TIMEOUT"] = "120"
    cluster.start_jobmanager()
    cluster.start_taskmanager()
    job = actions.submit("numbers", (SCRIPT, "numbers_job.py"), (), 1, {})
    cluster.wait(job, JobState.RUNNING, timeout=SECONDS)
    cluster.until(lambda: ran_in(job, 1), SECONDS)
    job.refresh_from_db()
    assert [node["type"] for node in job.plan["nodes"]] == [
        *("Source: rate", "Query: copy", "Sink: noop"),
        *("Source: rate", "Query: even", "Sink: noop"),
    ]

    actions.suspend(job)
    cluster.wait(job, JobState.SUSPENDED, timeout=SECONDS)
    assert attempt_of(job, 1).exit_code == 0
    before = job.checkpoints.count()

    actions.resume(job)
    cluster.until(lambda: ran_in(job, 2), SECONDS)
    assert attempt_of(job, 2).restored_checkpoint == before
    job.refresh_from_db()
    actions.cancel(job)
    cluster.wait(job, JobState.CANCELED, timeout=SECONDS)
    assert attempt_of(job, 2).exit_code == 0
