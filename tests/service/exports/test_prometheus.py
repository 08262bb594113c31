"""What Prometheus reads: Flink's names, scopes and labels, of the jobs that one may see."""

from __future__ import annotations

import gzip
import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from django.contrib.auth.models import User
from django.db import connection
from django.test import Client
from django.test.utils import CaptureQueriesContext
from prometheus_client import Metric
from prometheus_client.parser import text_string_to_metric_families

from jobs.models import Job, JobFigures, TaskManager, Team
from jobs.states import JobState
from tests.service.exports import running
from tests.service.pages import make_taskmanager
from workers.jobmanager import JobManager

pytestmark = pytest.mark.django_db

#: {labels: names} of Flink 2.3.0's reporter, as recorded from a running cluster.
FLINK: dict[str, list[str]] = json.loads(
    (Path(__file__).parent / "flink_names.json").read_text(encoding="utf-8")
)
#: Of Flink's operators and jobs too, but not of the recorded job's.
ELSEWHERE = {
    "flink_jobmanager_job_fullRestarts",
    "flink_jobmanager_job_numRecordsInPerSecond",
    "flink_jobmanager_job_numRecordsOutPerSecond",
    "flink_taskmanager_job_task_operator_numLateRecordsDropped",
    "flink_taskmanager_job_task_operator_currentSendTime",
    "flink_taskmanager_job_task_operator_my_group_my_counter",
    "flink_taskmanager_job_task_operator_KafkaSourceReader_topic_partition_currentOffset",
}


@pytest.fixture
def ask(admin_user: User) -> Callable[..., dict[str, Metric]]:
    client = Client()
    client.force_login(admin_user)

    def get(address: str = "/metrics") -> dict[str, Metric]:
        answer = client.get(address)
        assert answer.status_code == 200
        assert answer.headers["Content-Type"].startswith("text/plain; version=0.0.4")
        return {m.name: m for m in text_string_to_metric_families(answer.content.decode())}

    return get


Ask = Callable[..., dict[str, Metric]]


def labels_of(metric: Metric) -> set[str]:
    return {name for sample in metric.samples for name in sample.labels} - {"quantile"}


def value(metric: Metric, **labels: str) -> float:
    (found,) = (s for s in metric.samples if labels.items() <= s.labels.items())
    return float(found.value)


def test_names_and_labels_are_flinks(ask: Ask) -> None:
    JobManager("one").tick()
    running.measured_job()
    found = ask()

    known = {name: set(labels.split()) for labels, names in FLINK.items() for name in names}
    ours = {name: metric for name, metric in found.items() if name.startswith("flink_")}
    assert {name for name in ours if name not in known} == {
        name for name in ELSEWHERE if name in ours
    }
    assert {name: labels_of(m) for name, m in ours.items() if name in known} == {
        name: labels for name, labels in known.items() if name in ours
    }
    assert len(ours) > 50


def test_values_are_those_of_the_job(ask: Ask) -> None:
    job = running.measured_job("demo-fail: é")
    found = ask()

    task = found["flink_taskmanager_job_task_busyTimeMsPerSecond"]
    assert task.type == "gauge"
    assert len(task.samples) == 6
    sample = next(s for s in task.samples if s.labels["task_id"] == running.SOURCE)
    assert sample.labels == {
        "job_id": job.pk,
        "job_name": "demo_fail:__",
        "task_id": running.SOURCE,
        "task_name": "Source:_kafka_flights",
        "task_attempt_num": "2",
        "task_attempt_id": f"{job.pk}_{running.SOURCE}_0_2",
        "subtask_index": "0",
        "tm_id": "tm_1",
        "host": "node_1",
    }
    assert sample.value == 300
    assert value(found["flink_jobmanager_job_lastCompletedCheckpointId"]) == 41
    # A text is told as 0, as by Flink.
    assert value(found["flink_jobmanager_job_lastCheckpointExternalPath"]) == 0
    offsets = found[
        "flink_taskmanager_job_task_operator_KafkaSourceReader_topic_partition_currentOffset"
    ]
    assert value(offsets, topic="flights", partition="0") == 90_001


def test_latency_is_a_summary(ask: Ask) -> None:
    running.measured_job()
    found = ask()

    flink = found[
        "flink_taskmanager_job_task_latency_source_id_operator_id_operator_subtask_index_latency"
    ]
    assert flink.type == "summary"
    assert value(flink, quantile="0.99") == 990
    own = found["headrace_latency_seconds"]
    assert own.type == "summary"
    assert value(own, quantile="0.5", to="visible") == 0.7
    sums = [s for s in own.samples if s.name.endswith("_sum") and s.labels["to"] == "visible"]
    assert sums[0].value == 400


def test_figures_of_another_attempt_and_latency_of_no_records_are_not_told(ask: Ask) -> None:
    job = running.measured_job()
    row = JobFigures.objects.get()
    row.figures = {**row.figures, "job": {"numRecordsInPerSecond": 0}}
    row.save()
    found = ask()
    assert "headrace_latency_seconds" not in found
    assert "flink_taskmanager_job_task_busyTimeMsPerSecond" in found

    JobFigures.objects.update(attempt=2)
    Job.objects.filter(pk=job.pk).update(current_attempt=3)
    found = ask()
    assert "flink_taskmanager_job_task_busyTimeMsPerSecond" not in found
    assert value(found["flink_jobmanager_job_numRecordsInPerSecond"]) == 0
    assert "headrace_lag_records" in found


def test_what_flink_has_no_word_for_is_told_too(ask: Ask) -> None:
    running.measured_job()
    found = ask()

    assert value(found["headrace_lag_records"], topic="flights", partition="1") == 30
    assert value(found["headrace_lag_catch_up_seconds"], partition="0") == 6
    states = found["headrace_job_state"].samples
    assert [s.labels["state"] for s in states if s.value] == ["RUNNING"]


def test_odd_names_and_labels_are_written_so_that_they_can_be_read(ask: Ask) -> None:
    topic = 'to"pic\\ \n{x="1"} 5'
    job = running.measured_job('a"b\\\n')
    Job.objects.filter(pk=job.pk).update(lag={topic: {"0": 5}})

    found = ask()

    (lag,) = found["headrace_lag_records"].samples
    assert lag.labels["topic"] == topic
    assert lag.labels["job_name"] == "a_b__"


def test_jobs_that_ended_are_left_out_and_those_that_do_not_run_have_no_tasks(ask: Ask) -> None:
    taskmanager = make_taskmanager()
    ended = running.measured_job("ended", taskmanager)
    waits = running.measured_job("waits", taskmanager)
    Job.objects.filter(pk=ended.pk).update(state=JobState.FINISHED)
    Job.objects.filter(pk=waits.pk).update(state=JobState.RESTARTING)

    found = ask()

    names = {s.labels["job_name"] for s in found["flink_jobmanager_job_numRestarts"].samples}
    assert names == {"waits"}
    assert "flink_taskmanager_job_task_numRecordsIn" not in found


def test_scopes_and_jobs_can_be_chosen(ask: Ask) -> None:
    taskmanager = make_taskmanager()
    one = running.measured_job("one", taskmanager)
    running.measured_job("two", taskmanager)

    found = ask(f"/metrics?scope=jobmanager_job,headrace&job={one.pk}")

    assert not any(name.startswith("flink_taskmanager") for name in found)
    assert {s.labels["job_name"] for m in found.values() for s in m.samples} == {"one"}


@pytest.mark.parametrize("ids", ["", "x", "%00", "1" * 32, "%27"])
def test_jobs_that_there_are_not_have_no_metrics(ask: Ask, ids: str) -> None:
    running.measured_job()
    assert "flink_jobmanager_job_numRestarts" not in ask(f"/metrics?job={ids}")


def test_a_scope_that_there_is_not_is_refused(admin_client: Client) -> None:
    answer = admin_client.get("/metrics?scope=operator")
    assert answer.status_code == 400
    assert b"taskmanager_job_task_operator" in answer.content


def test_it_needs_a_login_or_a_token() -> None:
    assert Client().get("/metrics").status_code == 401


def test_everybody_sees_the_jobs_that_are_theirs_to_see() -> None:
    team = Team.objects.create(name="theirs")
    running.measured_job(team=team)
    client = Client()
    client.force_login(User.objects.create_user("charlie"))

    text = client.get("/metrics").content.decode()

    assert "flink_jobmanager_numRunningJobs" in text
    assert "flight" not in text


def test_prometheus_may_ask_as_it_does(admin_client: Client) -> None:
    taskmanager = make_taskmanager()
    for number in range(3):
        running.measured_job(f"job {number}", taskmanager)
    answer = admin_client.get(
        "/metrics",
        headers={
            "Accept": "application/openmetrics-text;version=1.0.0;q=0.5,text/plain;q=0.4",
            "Accept-Encoding": "gzip",
        },
    )

    assert answer.status_code == 200
    assert answer.headers["Content-Encoding"] == "gzip"
    assert b"flink_jobmanager_numRunningJobs" in gzip.decompress(answer.content)


def test_many_jobs_take_as_many_queries_as_few(ask: Ask) -> None:
    taskmanager = make_taskmanager()

    def queries() -> int:
        with CaptureQueriesContext(
            connection,
        ) as taken:
            ask()
        return len(taken)

    running.measured_job("first", taskmanager)
    ask()
    few = queries()
    for number in range(20):
        running.measured_job(f"job {number}", taskmanager)

    assert queries() == few < 20


def test_a_taskmanager_that_is_lost_is_left_out(ask: Ask) -> None:
    make_taskmanager("here")
    make_taskmanager("gone")
    TaskManager.objects.update(vitals={"Status.JVM.CPU.Load": 0.5})
    TaskManager.objects.filter(name="gone").update(state="LOST")

    load: Any = ask()["flink_taskmanager_Status_JVM_CPU_Load"]

    assert [sample.labels["tm_id"] for sample in load.samples] == ["here"]
