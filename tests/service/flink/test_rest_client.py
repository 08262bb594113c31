"""flink-rest-client, a Python package for Flink, before this server: it submits, takes savepoints,
stops, cancels, and reads all that it can read.

It has no words for logging in; a token stands in the address, in the place of a password.
"""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from django.contrib.auth.models import User
from flink_rest_client import FlinkRestClient
from flink_rest_client.common import RestException
from pytest_django import Settings
from pytest_django.live_server_helper import LiveServer

from headrace.wire import rundir
from jobs import tokens
from jobs.models import Job, TaskManager
from jobs.roles import Role
from jobs.states import JobState
from tests.service.conftest import Cluster
from tests.service.flink.conftest import KEYED, SOURCE, answer_threads

PROGRAM = "print('never run by the control plane')\n"


def client_of(server: LiveServer, user: User, role: Role = Role.ADMIN) -> Any:
    _, key = tokens.create(user, f"of the test, {role.label}", role=role)
    host, _, port = server.url.removeprefix("http://").partition(":")
    return FlinkRestClient.get(host=f"token:{key}@{host}", port=port)


def test_it_submits_takes_savepoints_stops_and_cancels(
    own: Cluster, live_server: LiveServer, alice: User, tmp_path: Path
) -> None:
    client = client_of(live_server, alice)
    program = tmp_path / "program.py"
    program.write_text(PROGRAM)
    first = client.jars.upload_and_run(str(program), arguments={"pause": "0.02"}, parallelism=1)
    job = own.wait(Job.objects.get(pk=first), JobState.RUNNING)
    assert (job.arguments, job.submitted_by) == (["--pause", "0.02"], alice)
    own.until(lambda: job.checkpoints.exists())

    assert location(own, client.jobs.create_savepoint(first, str(tmp_path / "kept")))
    stopped = location(own, client.jobs.stop(first, str(tmp_path / "stopped")))
    own.wait(job, JobState.FINISHED)
    assert client.jobs.get_execution_result(first)["status"]["id"] == "COMPLETED"

    (jar,) = (each["id"] for each in client.jars.all()["files"])
    second = client.jars.run(jar, savepoint_path=stopped, allow_non_restored_state=True)
    job = own.wait(Job.objects.get(pk=second), JobState.RUNNING)
    assert client.jobs.terminate(second) is True
    own.wait(job, JobState.CANCELED)
    assert client.jobs.terminate(second) is True  # once more is no error
    assert client.jars.delete(jar) is True


def location(cluster: Cluster, trigger: Any) -> str:
    """Of the savepoint, once it is complete."""
    cluster.until(lambda: bool(trigger.status["status"]["id"] == "COMPLETED"))
    assert "location" in trigger.status["operation"], trigger.status
    return str(trigger.status["operation"]["location"])


@pytest.mark.django_db(transaction=True)
@pytest.mark.filterwarnings("ignore:StreamingHttpResponse must consume:Warning")
def test_it_reads_everything(
    live_server: LiveServer, alice: User, job: Job, settings: Settings, tmp_path: Path
) -> None:
    settings.HEADRACE_LOGS = tmp_path
    (tmp_path / "jobmanager.log").write_text("of the JobManager\n")
    (tmp_path / rundir.LOG).write_text("of the driver\n")
    job.attempts.update(run_dir=str(tmp_path))
    answer_threads(TaskManager.objects.get())
    client = client_of(live_server, alice)

    assert client.overview()["jobs-running"] == 1
    assert client.config()["features"]["web-submit"] is True
    assert client.datasets() == []
    _read_cluster(client)
    _read_job(client, job.pk)
    for vertex in (SOURCE, KEYED):
        _read_vertex(client.jobs.get_vertex(job.pk, vertex.id))


def _read_cluster(client: Any) -> None:
    assert client.jobmanager.config()
    assert client.jobmanager.metrics()["numRunningJobs"] == "1"
    (log,) = client.jobmanager.logs()
    assert client.jobmanager.get_log(log["name"]) == "of the JobManager\n"
    assert client.taskmanagers.taskmanager_ids() == ["tm-1"]
    assert client.taskmanagers.metrics(taskmanager_ids=["tm-1"]) == {}
    assert client.taskmanagers.get("tm-1")["slotsNumber"] == 2
    assert len(client.taskmanagers.get_logs("tm-1")) == 2
    assert client.taskmanagers.get_metrics("tm-1") == {}
    assert client.taskmanagers.get_thread_dump("tm-1")


def _read_job(client: Any, job_id: str) -> None:
    jobs = client.jobs
    assert jobs.job_ids() == [job_id]
    (told,) = jobs.overview()
    assert (told["jid"], told["state"]) == (job_id, "RUNNING")
    assert jobs.metrics(metric_names=["numRestarts"], agg_modes=["max"])["numRestarts"]
    assert jobs.get_vertex_ids(job_id) == [SOURCE.id, KEYED.id]
    assert jobs.get_metrics(job_id, ["uptime"])["uptime"].isdigit()
    assert "user-config" in jobs.get_config(job_id)["execution-config"]
    assert jobs.get_exceptions(job_id)["exceptionHistory"]["entries"]
    assert jobs.get_execution_result(job_id)["status"]["id"] == "IN_PROGRESS"
    assert len(jobs.get_plan(job_id)["nodes"]) == 2
    assert jobs.get_accumulators(job_id, include_serialized_value=True)
    assert jobs.get_checkpointing_configuration(job_id)["interval"]
    newest, *_ = jobs.get_checkpoint_ids(job_id)
    details = jobs.get_checkpoint_details(job_id, newest, show_subtasks=True)
    assert details["status"] == "COMPLETED"
    with pytest.raises(RestException, match="FLINK-12312"):  # as before Flink itself
        jobs.rescale(job_id, 2)


def _read_vertex(vertex: Any) -> None:
    assert vertex.details()["parallelism"] == 2
    assert vertex.backpressure()["status"]
    assert vertex.metrics(vertex.metric_names()[:3])
    assert vertex.subtasktimes()["subtasks"]
    assert vertex.taskmanagers()["taskmanagers"]
    assert isinstance(vertex.watermarks(), list)
    subtasks = vertex.subtasks
    assert subtasks.subtask_ids() == [0, 1]
    assert subtasks.accumulators()["subtasks"]
    assert subtasks.metrics(metric_names=["numRecordsIn"])["numRecordsIn"]["sum"] == 160
    assert subtasks.get(0)["subtask"] == 0
    attempt = subtasks.get(0)["attempt"]
    assert subtasks.get_attempt(0, attempt)["attempt"] == attempt
    assert subtasks.get_attempt_accumulators(0, attempt)["attempt"] == attempt


@pytest.mark.django_db(transaction=True)
def test_it_is_told_what_its_token_may_not(
    live_server: LiveServer, alice: User, job: Job, tmp_path: Path
) -> None:
    program = tmp_path / "program.py"
    program.write_text(PROGRAM)
    client = client_of(live_server, alice, Role.VIEWER)
    refused: tuple[Callable[[], Any], ...] = (
        lambda: client.jars.upload(str(program)),
        lambda: client.jobs.terminate(job.pk),
        lambda: client.jobs.stop(job.pk, ""),
        lambda: client.delete_cluster(),
    )
    for ask in refused:
        with pytest.raises(RestException, match=r"\(403\)"):
            ask()
    assert client.jobs.overview()
    host, _, port = live_server.url.removeprefix("http://").partition(":")
    with pytest.raises(RestException, match=r"\(401\)"):
        FlinkRestClient.get(host=host, port=port).overview()
