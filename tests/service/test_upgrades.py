"""Jobs are upgraded, rescaled and taken back by REST, with drivers that run."""

from __future__ import annotations

import hashlib
from pathlib import Path
from typing import Any

from django.contrib.auth.models import User
from django.core.files.uploadedfile import SimpleUploadedFile
from django.test import Client

from jobs import artifacts, upgrades
from jobs.models import Job, Upgrade
from jobs.states import JobState, UpgradeState
from tests.service.conftest import PROGRAM, Cluster, attempt_of


def started(cluster: Cluster, *arguments: str, **settings: str) -> Job:
    job = cluster.submit(*arguments, configuration=settings)
    cluster.wait(job, JobState.RUNNING)
    cluster.until(lambda: job.checkpoints.count() > 2)
    return job


def ended(cluster: Cluster, job: Job) -> Upgrade:
    """The job's last upgrade when it has ended."""
    found: list[Upgrade] = []

    def over() -> bool:
        found[:] = [job.upgrades.select_related("before", "after", "savepoint").get()]
        return found[0].state_info.is_terminal

    cluster.until(over, what=lambda: f"upgrade {found[0].state}, job {job.state}")
    job.refresh_from_db()
    return found[0]


def client_of(user: User) -> Client:
    client = Client()
    client.force_login(user)
    return client


def batches(job: Job) -> list[int]:
    """Checkpoints that its drivers made since its last start with a savepoint."""
    lines = (job.checkpoint_dir / "batches.log").read_text().splitlines()
    return [int(line.split()[0]) for line in lines]


def test_a_new_version_goes_on_where_the_one_before_stopped(
    running: Cluster, alice: User, tmp_path: Path
) -> None:
    job = started(running, "--pause", "0.02", **{"a.password": "one", "b": "two"})
    changed = b"print('version two')\n"
    wish = {
        "file": SimpleUploadedFile("program.py", changed),
        "arguments": ["--pause", "0.03"],
        "configuration": '{"b": null, "a.password": "other"}',
        "parallelism": 2,
        "reason": "faster",
        "directory": str(tmp_path),
    }
    client = client_of(alice)
    answer = client.post(f"/api/jobs/{job.pk}/upgrades/", wish)
    assert answer.status_code == 202, answer.content
    assert (answer.json()["state"], answer.json()["after"]) == ("STOPPING", 2)

    upgrade = ended(running, job)
    assert (upgrade.state, upgrade.failure) == ("DONE", "")
    running.wait(job, JobState.RUNNING)
    assert (job.version, job.arguments, job.parallelism) == (2, ["--pause", "0.03"], 2)
    assert job.slots.count() == 2
    at = upgrade.savepoint.checkpoint_id
    assert attempt_of(job, 2).restored_checkpoint == at
    assert batches(job)[0] == (at or 0) + 1
    assert job.attempts.count() == 2
    assert Path(upgrade.savepoint.path).parent == tmp_path
    assert (upgrade.savepoint.version, upgrade.savepoint.reason) == (1, "faster")

    listed = client.get(f"/api/jobs/{job.pk}/versions/").json()["results"]
    assert [(each["number"], each["current"]) for each in listed] == [(2, True), (1, False)]
    assert listed[0]["artifact_sha256"] == hashlib.sha256(changed).hexdigest()
    assert (listed[0]["created_by_name"], listed[0]["reason"]) == ("alice", "faster")
    found = client.get(f"/api/jobs/{job.pk}/versions/difference/").json()
    assert "+print('version two')" in found["code"]
    assert found["arguments"] == [["--pause", "0.02"], ["--pause", "0.03"]]
    assert found["parallelism"] == [1, 2]
    assert found["configuration"]["b"] == ["two", None]
    assert "other" not in str(found["configuration"]["a.password"])


def test_a_version_that_does_not_start_leads_back(running: Cluster, alice: User) -> None:
    job = started(running)
    client = client_of(alice)
    wish = {"arguments": ["--fail-for-good"]}
    path = f"/api/jobs/{job.pk}/upgrades/"
    answer = client.post(path, wish, content_type="application/json")
    assert answer.status_code == 202, answer.content

    upgrade = ended(running, job)
    assert upgrade.state == UpgradeState.REVERTED
    assert upgrade.failure == "ImportError: No module named 'nonsense'"
    running.wait(job, JobState.RUNNING)
    assert (job.version, job.arguments, job.restarts) == (1, [], 0)
    assert [each.version for each in job.attempts.order_by("number")] == [1, 2, 1]
    at = upgrade.savepoint.checkpoint_id
    assert attempt_of(job, 3).restored_checkpoint == at
    # where it was, in the checkpoints that it stopped with
    made = batches(job)
    assert made == list(range(1, len(made) + 1))
    shown = client.get(f"{path}{upgrade.pk}/").json()
    assert (shown["state"], shown["before"], shown["after"]) == ("REVERTED", 1, 2)


def test_rescaled_and_refused(running: Cluster, alice: User) -> None:
    job = started(running)
    bob = User.objects.create_user("bob", password="bob-password")

    def post(user: User, what: str, **body: Any) -> Any:
        address = f"/api/jobs/{job.pk}/{what}/"
        return client_of(user).post(address, body, content_type="application/json")

    assert post(bob, "rescale", parallelism=2).status_code == 403
    assert post(bob, "upgrades", parallelism=2).status_code == 403
    assert post(alice, "rescale", parallelism=1).status_code == 400
    assert post(alice, "upgrades", version=7, parallelism=2).status_code == 404
    assert "3 slots, and 2 are free" in post(alice, "rescale", parallelism=3).content.decode()
    assert post(alice, "rescale", parallelism=2).status_code == 202

    assert ended(running, job).state == UpgradeState.DONE
    running.wait(job, JobState.RUNNING)
    assert (job.version, job.parallelism, job.slots.count()) == (2, 2, 2)
    assert job.versions.get(number=2).artifact_sha256 == hashlib.sha256(PROGRAM).hexdigest()


def test_a_savepoint_that_fails_changes_nothing(running: Cluster, alice: User) -> None:
    job = started(running)
    upgrades.ask(job, alice, arguments=["--pause", "0.03"], directory="/proc/none")
    upgrade = ended(running, job)
    assert upgrade.state == UpgradeState.FAILED
    assert "/proc/none" in upgrade.failure
    running.wait(job, JobState.RUNNING)
    assert (job.version, job.current_attempt) == (1, 1)


def test_equal_programs_are_kept_once() -> None:
    first = artifacts.store(PROGRAM, "first.py")
    second = artifacts.store(PROGRAM, "second.py")
    assert first.path.samefile(second.path)
    assert artifacts.store(PROGRAM, "first.py") == first
