"""A job that runs and is measured, as its driver and its TaskManager leave it in the tables."""

from __future__ import annotations

from typing import Any

from django.utils import timezone

from headrace.wire.operator_ids import operator_id
from jobs.models import Attempt, Job, JobFigures, TaskManager
from jobs.states import AttemptState
from tests.service.pages import make_job, make_taskmanager

SOURCE, WINDOW, SINK = (operator_id(number) for number in ("1", "2", "3"))
TASK = {
    "numRecordsIn": 100,
    "numRecordsOut": 90,
    "numRecordsInPerSecond": 12.5,
    "numRecordsOutPerSecond": 11.0,
    "numBytesIn": 4_000,
    "numBytesInPerSecond": 400.0,
    "busyTimeMsPerSecond": 300.0,
    "idleTimeMsPerSecond": 650.0,
    "backPressuredTimeMsPerSecond": 50.0,
    "softBackPressuredTimeMsPerSecond": 50.0,
    "hardBackPressuredTimeMsPerSecond": 0.0,
    "accumulateBusyTimeMs": 1_000,
    "currentInputWatermark": 1_357_034_400_000,
    "isBackPressured": False,
}
OPERATOR = {"numRecordsIn": 100, "numRecordsOut": 90, "currentOutputWatermark": 1_357_034_400_000}
PARTITION = "KafkaSourceReader.topic.flights.partition"
LATENCY = {
    **{"source": SOURCE, "sink": SINK, "count": 500, "mean": 800.0, "p50": 700.0, "p75": 800.0},
    **{"p95": 950.0, "p98": 980.0, "p99": 990.0, "p999": 999.0},
}
#: As `headrace.wire.columns` has it: one value for all subtasks, or one for each.
MEASURED: dict[str, Any] = {
    "job": {"numRecordsInPerSecond": 25.0, "numRecordsOutPerSecond": 22.0},
    "vertices": dict.fromkeys((SOURCE, WINDOW, SINK), TASK),
    "operators": {
        SOURCE: {
            **OPERATOR,
            "watermarkLag": 1_500,
            "split.flights-0.watermark.currentWatermark": [1_357_034_400_000, None],
            f"{PARTITION}.0.currentOffset": [90_001, None],
        },
        WINDOW: {**OPERATOR, "numLateRecordsDropped": [3, 0], "my group.my counter": 7},
        SINK: {**OPERATOR, "numRecordsSend": 90, "currentSendTime": 5},
    },
    "latency": [{**LATENCY, "to": "pre-commit"}, {**LATENCY, "to": "visible"}],
    "partitions": {"flights": {"0": {"lag": 120, "trend": -20.0, "catch_up": 6.0}}},
}


def measured_job(
    name: str = "flight delays", taskmanager: TaskManager | None = None, **values: Any
) -> Job:
    job = make_job(
        name,
        lag={"flights": {"0": 120, "1": 30}},
        progressed_at=timezone.now(),
        timestamps={"RUNNING": 1},
        **values,
    )
    tm = taskmanager or make_taskmanager("tm-1", 2, job)
    Attempt.objects.create(
        job=job,
        number=3,
        run_dir="/nowhere",
        state=AttemptState.RUNNING,
        taskmanager=tm,
        host=tm.host,
    )
    JobFigures.objects.create(
        job=job,
        at=timezone.now(),
        attempt=3,
        figures=MEASURED,
        first_checkpoint=1,
        checkpoint={"id": 41, "duration": 400, "size": 3 << 20, "rows": 10, "completed_at": 5},
    )
    return job
