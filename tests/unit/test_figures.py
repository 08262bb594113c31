"""What a driver measured, from its journal to the figures that pages and REST show."""

from __future__ import annotations

from typing import Any

import pytest
from django.utils import timezone

from headrace.wire import columns, events
from headrace.wire.journal import Entry
from headrace.wire.operator_ids import operator_id
from jobs import actions, attempts, figures, job_times, recording, samples, taskmanagers
from jobs.models import Attempt, Job, JobFigures
from jobs.states import JobState, change_state

READ, COUNT = operator_id("read"), operator_id("count")
PLAN = {
    "parallelism": 2,
    "nodes": [
        {"id": 1, "uid": "read", "type": "words", "pact": "Data Source", "chain": 1},
        {
            **{"id": 2, "uid": "count", "type": "count", "pact": "Data Sink", "chain": 2},
            "predecessors": [{"id": 1, "ship_strategy": "HASH"}],
        },
    ],
}
BUSY = {"busyTimeMsPerSecond": [900, 300.5], "numRecordsInPerSecond": [10, 20], "numBytesIn": 7}


def measured(**values: Any) -> events.Measured:
    told: dict[str, Any] = {
        "job": {"numRecordsIn": 30.0, "numRecordsInPerSecond": 30.0},
        "vertices": {COUNT: BUSY},
        "operators": {COUNT: {"numRecordsIn": [1, None]}, READ: {"seen": 4}},
        "latency": [{"source": READ, "sink": COUNT, "to": "pre-commit", "p50": 5.0, "p99": 9.0}],
    }
    return events.Measured(**{**told, **values})


def checkpoint(number: int, **values: Any) -> events.CheckpointCompleted:
    return events.CheckpointCompleted(number, 1_000, 20, **values)


def record(attempt: Attempt, *told: events.Event) -> None:
    first = attempt.journal_number + 1
    entries = [Entry(n, 1_000_000 + n, each, n) for n, each in enumerate(told, first)]
    assert recording.record(attempt, entries)


@pytest.fixture
def attempt(db: None) -> Attempt:
    job = actions.submit("job", (b"pass\n", "job.py"))
    row = taskmanagers.register("tm", "here", 1, 1, 1024)
    change_state(job, JobState.CREATED)
    attempt = attempts.begin(job, row.pk, [row.slot_set.get().pk])
    attempts.deploy(attempt)
    record(attempt, events.Planned(PLAN), events.Running(16))
    return attempt


def test_a_job_that_measured_nothing_has_no_figures() -> None:
    job = Job(pk="0" * 32, plan=PLAN, timestamps={})
    job._measured = {}  # type: ignore[attr-defined]
    assert figures.of_vertices(job) == {}
    assert figures.of_operators(job, COUNT) == []
    assert figures.of_operators(job, "f" * 32) == []
    assert figures.latency(job) == []


def test_the_latest_figures_are_read_by_subtask(attempt: Attempt) -> None:
    record(attempt, measured(job={"numRecordsIn": 1.0}), checkpoint(17), measured(), checkpoint(18))

    job = Job.objects.get()

    assert figures.of_vertices(job)[COUNT] == [
        {"busyTimeMsPerSecond": 900, "numRecordsInPerSecond": 10, "numBytesIn": 7},
        {"busyTimeMsPerSecond": 300.5, "numRecordsInPerSecond": 20, "numBytesIn": 7},
    ]
    assert figures.of_operators(job, COUNT) == [{"Sink__count.numRecordsIn": 1}, {}]
    assert figures.of_operators(job, READ) == [{"Source__words.seen": 4}] * 2
    of_job = figures.of_job(job)
    assert of_job["numRecordsIn"] == 30
    assert of_job["lastCompletedCheckpointId"] == 18
    assert of_job["numberOfCompletedCheckpoints"] == 2
    assert of_job["lastCheckpointRestoreTimestamp"] == 1_000_002
    assert of_job["numRestarts"] == 0


def test_checkpoints_keep_their_first_and_figures_their_values(attempt: Attempt) -> None:
    record(attempt, checkpoint(17), measured())
    record(attempt, events.CheckpointFailed(18, "late"))
    record(attempt, checkpoint(18), checkpoint(19))

    row = JobFigures.objects.get()

    assert (row.first_checkpoint, row.checkpoint["id"], row.failed_checkpoints) == (17, 19, 1)
    assert row.figures["vertices"] == {COUNT: BUSY}
    assert figures.of_job(Job.objects.get())["totalNumberOfCheckpoints"] == 4


def test_figures_of_many_jobs_take_one_query(
    attempt: Attempt, django_assert_num_queries: Any
) -> None:
    record(attempt, measured())
    jobs = [Job.objects.get(), actions.submit("other", (b"pass\n", "job.py"))]
    with django_assert_num_queries(1):
        found = figures.of_many(jobs)
    assert found[jobs[0].pk]["numRecordsInPerSecond"] == 30
    assert "numRecordsInPerSecond" not in found[jobs[1].pk]


def test_what_an_earlier_attempt_did_is_not_told_of_the_next(attempt: Attempt) -> None:
    record(attempt, measured())
    jobs = Job.objects.filter(pk=attempt.job_id)
    jobs.update(state=JobState.RESTARTING, current_attempt=None)
    job = jobs.get()
    told = figures.of_job(job)
    assert (told["numRecordsInPerSecond"], told["numRecordsIn"]) == (0, 30)
    assert figures.of_vertices(job)
    jobs.update(state=JobState.RUNNING, current_attempt=attempt.number + 1)
    job = jobs.get()
    assert figures.of_job(job)["numRecordsInPerSecond"] == 0
    assert figures.of_vertices(job) == {}
    jobs.update(state=JobState.FAILED)
    assert figures.of_vertices(jobs.get())


def test_latency_is_kept_over_time_while_records_come(attempt: Attempt) -> None:
    assert samples.of(measured())["latency.pre-commit.p99"] == 9
    idle = samples.of(measured(job={"numRecordsInPerSecond": 0.0}))
    assert "latency.pre-commit.p99" not in idle


def test_time_in_a_state_is_that_of_the_current_one() -> None:
    now = int(timezone.now().timestamp() * 1000)
    job = Job(state="RUNNING", timestamps={"CREATED": now - 9_000, "RUNNING": now - 5_000})
    found = job_times.figures(job, now)
    assert (found["runningTime"], found["createdTime"], found["uptime"]) == (5_000, 0, 5_000)


@pytest.mark.parametrize(
    ("held", "level"), [(0, "ok"), (100, "ok"), (101, "low"), (500, "low"), (501, "high")]
)
def test_levels_of_back_pressure_are_flinks(held: float, level: str) -> None:
    ratio = figures.back_pressure({"backPressuredTimeMsPerSecond": held})
    assert figures.level(ratio) == level


def test_columns_say_once_what_is_the_same() -> None:
    rows: list[dict[str, float]] = [{"a": 1, "b": 2.0004}, {"a": 1}]
    table = columns.columns(rows)
    assert table == {"a": 1, "b": [2.0, None]}
    assert columns.rows(table, 2) == [{"a": 1, "b": 2}, {"a": 1}]
    assert columns.rows(table, 3)[2] == {"a": 1}


def test_what_is_kept_over_time() -> None:
    made = checkpoint(1, lag={"t": {"0": 3, "1": 4}}, latency={"p99": 8.0, "count": 2.0})
    assert samples.of(made) == {
        "checkpointDuration": 20,
        "checkpointSize": 0,
        "checkpointRecords": 0,
        "lag": 7.0,
        "lag.t.0": 3.0,
        "lag.t.1": 4.0,
        "latency.p99": 8.0,
    }
    assert samples.of(measured()) == {
        "numRecordsInPerSecond": 30.0,
        "latency.pre-commit.p50": 5.0,
        "latency.pre-commit.p99": 9.0,
        f"{COUNT}.busyTimeMsPerSecond": 900.0,
        f"{COUNT}.numRecordsInPerSecond": 30.0,
    }
    assert samples.of(events.Stopped("finished")) == {}
