"""Savepoints are asked for, made, failed, begun with and removed, as Flink's clients ask for it."""

from __future__ import annotations

import shutil
import uuid
from pathlib import Path
from typing import Any

import pytest
from django.contrib.auth.models import User
from django.test import Client

from headrace.wire import savepoint
from headrace.wire.savepoint import Restore
from jobs import actions, savepoints
from jobs.models import Attempt, Event, Job, Savepoint
from jobs.states import AttemptState, JobState, SavepointState
from tests.service.conftest import Cluster, attempt_of, batches, driver_of


def made(cluster: Cluster, row: Savepoint) -> Savepoint:
    """The row when it is settled."""

    def settled() -> bool:
        row.refresh_from_db()
        return row.state not in ("TRIGGERED", "IN_PROGRESS")

    cluster.until(settled, what=lambda: f"savepoint {row.state}")
    return row


def started(cluster: Cluster, *arguments: str) -> Job:
    job = cluster.wait(cluster.submit(*arguments), JobState.RUNNING)
    cluster.until(lambda: job.checkpoints.count() > 2)
    return job


def test_a_job_runs_on_after_its_savepoint(running: Cluster, alice: User, tmp_path: Path) -> None:
    job = started(running)
    row = savepoints.trigger(job, alice, directory=str(tmp_path), reason="before the release")
    made(running, row)

    assert row.state == SavepointState.COMPLETED
    assert Path(row.path).parent == tmp_path
    manifest = savepoint.verify(Path(row.path))
    assert (manifest.created_by, manifest.reason) == ("alice", "before the release")
    assert (row.checkpoint_id, row.size) == (manifest.checkpoint_id, manifest.size)
    words = job.events.filter(kind=Event.Kind.SAVEPOINT).values_list("message", flat=True)
    assert [each.rpartition(" ")[2] for each in words] == ["completed", "progress", "triggered"]
    at = len(batches(job))
    running.until(lambda: len(batches(job)) > at)
    running.wait(job, JobState.RUNNING)


def test_a_stopped_job_is_finished_and_another_begins_with_its_savepoint(
    running: Cluster, alice: User, tmp_path: Path
) -> None:
    job = started(running)
    then = Savepoint.Then.FINISH
    row = savepoints.trigger(job, alice, directory=str(tmp_path), then=then)
    running.wait(job, JobState.FINISHED)
    row.refresh_from_db()
    assert row.state == SavepointState.COMPLETED
    assert attempt_of(job, 1).state == "FINISHED"
    done = len(batches(job))
    assert row.checkpoint_id == done

    moved = shutil.move(row.path, tmp_path / "moved")
    entry = (b"", "next.py")
    after = actions.submit("after", entry, restore=Restore(str(moved), beside=True))
    running.wait(after, JobState.RUNNING)
    running.until(lambda: after.checkpoints.exists())
    assert attempt_of(after, 1).restored_checkpoint == done
    assert batches(after)[0][0] == done + 1


def test_what_cannot_be_made_is_told_and_the_job_runs_on(running: Cluster, alice: User) -> None:
    job = started(running)
    cancel = Savepoint.Then.CANCEL
    row = made(running, savepoints.trigger(job, alice, directory="/proc/none", then=cancel))
    assert row.state == SavepointState.FAILED
    assert "/proc/none" in row.failure
    running.wait(job, JobState.RUNNING)

    last = savepoints.trigger(job, alice, then=cancel)
    running.wait(job, JobState.CANCELED)
    assert made(running, last).state == SavepointState.COMPLETED
    with pytest.raises(savepoints.Conflict, match="canceled"):
        savepoints.trigger(job, alice)


@pytest.mark.django_db
def test_a_job_is_stopped_with_one_savepoint_at_a_time(alice: User) -> None:
    job = actions.submit("job", (b"", "job.py"), user=alice)
    Attempt.objects.create(job=job, number=1, state=AttemptState.RUNNING, run_dir="/none")
    Job.objects.filter(pk=job.pk).update(current_attempt=1)
    first = savepoints.trigger(job, alice, then=Savepoint.Then.CANCEL)
    assert savepoints.trigger(job, alice).state == SavepointState.TRIGGERED
    with pytest.raises(savepoints.Conflict, match="being stopped"):
        savepoints.trigger(job, alice, then=Savepoint.Then.FINISH)
    assert job.savepoints.exclude(then="").get() == first


def test_a_savepoint_fails_with_the_driver_that_was_to_make_it(running: Cluster) -> None:
    job = started(running, "--deaf")
    row = savepoints.trigger(job)
    running.until(lambda: Savepoint.objects.get(pk=row.pk).state == SavepointState.IN_PROGRESS)
    actions.cancel(job)
    driver_of(attempt_of(job, 1)).kill()
    running.wait(job, JobState.CANCELED)
    row.refresh_from_db()
    assert row.state == "FAILED"
    assert row.failure == "its driver ended, or was lost, before it was complete"


def test_what_is_no_savepoint_is_refused_at_submission(
    running: Cluster, alice: User, tmp_path: Path
) -> None:
    job = started(running)
    row = made(running, savepoints.trigger(job, alice, directory=str(tmp_path)))
    (Path(row.path) / savepoint.CONTENT / "last").write_text("")
    for path, why in (
        (row.path, "is damaged: checkpoint/last has 0 bytes and should have"),
        (str(tmp_path), "there is no savepoint at"),
        ("s3://bucket/savepoint", "is no path and no file: URL"),
    ):
        with pytest.raises(actions.InvalidJob, match=why):
            actions.submit("next", (b"", "next.py"), restore=Restore(path))
    assert not Job.objects.filter(name="next").exists()


def test_flinks_addresses_answer_as_flink_does(
    running: Cluster, alice: User, tmp_path: Path
) -> None:
    client = Client()
    client.force_login(alice)

    def post(address: str, **body: Any) -> Any:
        return client.post(address, body, content_type="application/json")

    job = started(running)
    trigger = uuid.uuid4().hex
    wish = {"target-directory": f"file:{tmp_path}", "cancel-job": False, "triggerId": trigger}
    for _ in range(2):  # the same request is one savepoint
        answer = post(f"/jobs/{job.pk}/savepoints", **wish)
        assert (answer.status_code, answer.json()) == (202, {"request-id": trigger})
    row = job.savepoints.get()
    status = f"/jobs/{job.pk}/savepoints/{trigger}"
    pending = {"status": {"id": "IN_PROGRESS"}, "operation": None}
    assert client.get(status).json() in (pending, _done(row))
    made(running, row)
    assert client.get(status).json() == _done(row)
    unknown = client.get(f"/jobs/{job.pk}/savepoints/{'b' * 32}")
    assert unknown.status_code == 404
    assert "There is no savepoint operation with" in unknown.json()["errors"][0]

    disposal = post("/savepoint-disposal", **{"savepoint-path": row.path})
    assert disposal.status_code == 200
    at = f"/savepoint-disposal/{disposal.json()['request-id']}"
    running.until(lambda: client.get(at).json()["status"]["id"] == "COMPLETED")
    assert client.get(at).json()["operation"] == {}
    assert not Path(row.path).exists()

    stop = post(f"/jobs/{job.pk}/stop", drain=True, targetDirectory=str(tmp_path))
    assert stop.status_code == 202
    running.wait(job, JobState.FINISHED)
    last = job.savepoints.get(trigger_id=stop.json()["request-id"])
    assert savepoint.read(Path(last.path)).drained
    with pytest.raises(actions.InvalidJob, match="taken with drain"):
        actions.submit("next", (b"", "next.py"), restore=Restore(last.path))

    again = post(f"/jobs/{job.pk}/stop")
    failed = client.get(f"/jobs/{job.pk}/savepoints/{again.json()['request-id']}").json()
    assert failed["status"]["id"] == "COMPLETED"
    assert "the job is finished" in failed["operation"]["failure-cause"]["stack-trace"]

    bob = Client()
    bob.force_login(User.objects.create_user("bob", password="bob-password"))
    assert bob.post(f"/jobs/{job.pk}/stop", {}, content_type="application/json").status_code == 403
    listed = bob.get(f"/api/jobs/{job.pk}/savepoints/").json()["results"]
    assert [each["state"] for each in listed] == ["FAILED", "COMPLETED", "DISPOSED"]
    assert bob.post(f"/api/savepoints/{last.pk}/dispose/").status_code == 403


def _done(row: Savepoint) -> dict[str, Any]:
    return {"status": {"id": "COMPLETED"}, "operation": {"location": f"file:{row.path}"}}
