"""An upgrade is carried on by whoever leads, wherever the leader before was killed."""

from __future__ import annotations

from datetime import timedelta
from pathlib import Path

import pytest
from django.conf import settings
from django.utils import timezone

from headrace.wire import events
from headrace.wire.failures import Cause
from jobs import (
    actions,
    attempts,
    beginnings,
    retention,
    savepoints,
    signals,
    taskmanagers,
    upgrades,
)
from jobs.models import Attempt, Job, Lease, TaskManager, Upgrade
from jobs.states import AttemptState, JobState, UpgradeState, change_state
from workers import checkpoint_commands, specs
from workers.jobmanager import JobManager

pytestmark = pytest.mark.django_db


class Killed(BaseException):
    pass


def current(job: Job) -> Attempt:
    return Attempt.objects.get(job=job, number=job.current_attempt or 0)


def runs(job: Job) -> Attempt:
    """The attempt that is to be launched runs."""
    job.refresh_from_db()
    attempt = current(job)
    change_state(attempt, AttemptState.DEPLOYING)
    change_state(attempt, AttemptState.RUNNING)
    change_state(job, JobState.RUNNING)
    return attempt


def progresses(job: Job) -> None:
    Job.objects.filter(pk=job.pk).update(progressed_at=timezone.now())


def ends(attempt: Attempt, outcome: str, error: str = "", cause: str = "") -> None:
    Attempt.objects.filter(pk=attempt.pk).update(outcome=outcome, error=error, cause=cause)
    attempt.refresh_from_db()
    attempts.end(attempt)


def saves(upgrade: Upgrade, attempt: Attempt) -> None:
    savepoints.sent(upgrade.savepoint)
    made = events.SavepointCompleted(upgrade.savepoint.pk, upgrade.savepoint.path, 7, 100)
    savepoints.completed(attempt, made)


def stopped(job: Job) -> Upgrade:
    """An upgrade whose savepoint is there, and its driver gone."""
    upgrade = upgrades.ask(job, arguments=["--new"], parallelism=2)
    attempt = current(job)
    saves(upgrade, attempt)
    ends(attempt, "finished")
    return upgrade


def failed(job: Job, manager: JobManager, cause: str = "") -> None:
    """The version that is to start fails."""
    manager.tick()
    ends(runs(job), "failed", "boom", cause)


@pytest.fixture
def manager() -> JobManager:
    taskmanagers.register("tm", "here", 1, 4, 4000)
    return JobManager("first")


@pytest.fixture
def job(manager: JobManager) -> Job:
    """It runs, as version 1."""
    job = actions.submit("job", (b"pass\n", "program.py"), ["--old"])
    manager.tick()
    runs(job)
    progresses(job)
    job.refresh_from_db()
    return job


def takes_over() -> JobManager:
    Lease.objects.update(expires_at=timezone.now() - timedelta(seconds=1))
    return JobManager("second")


def killed_in_the_turn(manager: JobManager, monkeypatch: pytest.MonkeyPatch) -> None:
    """At the last instruction before its transaction is committed."""

    def kill() -> None:
        raise Killed

    with monkeypatch.context() as patched:
        patched.setattr(signals, "nudge", kill)
        with pytest.raises(Killed):
            manager.tick()


def is_at(upgrade: Upgrade, state: UpgradeState, version: int) -> None:
    upgrade.refresh_from_db()
    upgrade.job.refresh_from_db()
    assert (upgrade.state, upgrade.job.version) == (state, version)


def test_the_start_of_the_new_version(
    manager: JobManager, job: Job, monkeypatch: pytest.MonkeyPatch
) -> None:
    upgrade = stopped(job)
    killed_in_the_turn(manager, monkeypatch)
    is_at(upgrade, UpgradeState.STOPPING, 1)
    assert beginnings.of(job) is None

    takes_over().tick()
    is_at(upgrade, UpgradeState.STARTING, 2)
    job.refresh_from_db()
    assert (job.arguments, job.parallelism, job.current_attempt) == (["--new"], 2, 2)
    assert job.slots.count() == 2
    attempt = job.attempts.get(number=2)
    assert attempt.version == 2
    spec = specs.of(attempt)
    assert spec.restore["path"] == upgrade.savepoint.path
    assert spec.checkpoint_dir == str(settings.HEADRACE_CHECKPOINTS / f"{job.pk}-{upgrade.pk}")

    runs(job)
    progresses(job)
    JobManager("third").tick()  # stands by
    is_at(upgrade, UpgradeState.STARTING, 2)
    takes_over().tick()
    is_at(upgrade, UpgradeState.DONE, 2)
    assert Attempt.objects.count() == 2
    old = [path.name for path in upgrades.left_over(upgrade.job)]
    assert sorted(old) == [job.pk, f"{job.pk}-{upgrade.pk}-back"]


def test_the_way_back(manager: JobManager, job: Job, monkeypatch: pytest.MonkeyPatch) -> None:
    upgrade = stopped(job)
    failed(job, manager, Cause.CHECKPOINT)
    killed_in_the_turn(manager, monkeypatch)
    is_at(upgrade, UpgradeState.STARTING, 2)

    second = takes_over()
    second.tick()
    is_at(upgrade, UpgradeState.REVERTING, 1)
    assert upgrade.failure == "boom"
    job.refresh_from_db()
    assert (job.arguments, job.parallelism, job.current_attempt) == (["--old"], 1, 3)
    assert job.slots.count() == 1
    forward = settings.HEADRACE_CHECKPOINTS / f"{job.pk}-{upgrade.pk}"
    spec = specs.of(job.attempts.get(number=3))
    assert spec.restore["instead_of"] == str(forward)
    # what it stopped with: exactly what the savepoint is a copy of
    assert spec.checkpoint_dir == str(settings.HEADRACE_CHECKPOINTS / job.pk)
    assert not upgrades.left_over(job)

    runs(job)
    progresses(job)
    second.tick()
    is_at(upgrade, UpgradeState.REVERTED, 1)
    assert forward in upgrades.left_over(upgrade.job)
    assert beginnings.of(upgrade.job) is None
    assert upgrade.failure == "boom"
    # the next version is a third one; the second stays known
    assert upgrades.ask(job, parallelism=3).after.number == 3


def test_the_way_back_of_a_job_whose_checkpoints_are_not_kept(
    manager: JobManager, job: Job
) -> None:
    versions = job.versions.all()
    removed = {retention.KEY: "NO_EXTERNALIZED_CHECKPOINTS"}
    versions.update(configuration=removed)
    Job.objects.filter(pk=job.pk).update(configuration=removed)
    upgrade = stopped(job)
    failed(job, manager)
    manager.tick()
    is_at(upgrade, UpgradeState.REVERTING, 1)
    spec = specs.of(upgrade.job.attempts.get(number=3))
    back = f"{job.pk}-{upgrade.pk}-back"
    assert spec.checkpoint_dir == str(settings.HEADRACE_CHECKPOINTS / back)
    assert spec.restore["path"] == upgrade.savepoint.path


def test_forward_again_where_the_new_version_has_committed(
    manager: JobManager, job: Job, monkeypatch: pytest.MonkeyPatch
) -> None:
    upgrade = stopped(job)
    failed(job, manager)
    failed(job, manager, Cause.SUPERSEDED)
    killed_in_the_turn(manager, monkeypatch)
    is_at(upgrade, UpgradeState.REVERTING, 1)

    takes_over().tick()
    is_at(upgrade, UpgradeState.DONE, 2)
    job.refresh_from_db()
    spec = specs.of(job.attempts.get(number=4))
    assert spec.checkpoint_dir == str(settings.HEADRACE_CHECKPOINTS / f"{job.pk}-{upgrade.pk}")
    assert spec.restore["instead_of"] == ""


def test_without_savepoint_the_job_runs_on(manager: JobManager, job: Job) -> None:
    upgrade = upgrades.ask(job, parallelism=2)
    attempt = job.attempts.get(number=1)
    error = events.SavepointFailed(upgrade.savepoint.pk, "the disk is full")
    savepoints.failed(attempt, error)
    manager.tick()
    is_at(upgrade, UpgradeState.FAILED, 1)
    assert "nothing was changed: the disk is full" in upgrade.failure
    job.refresh_from_db()
    assert (job.state, job.current_attempt) == ("RUNNING", 1)
    attempt.refresh_from_db()
    assert attempt.command == ""


def test_no_slots_in_time_lead_back(manager: JobManager, job: Job) -> None:
    upgrade = upgrades.ask(job, parallelism=4)
    attempt = job.attempts.get(number=1)
    other = actions.submit("other", (b"pass\n", "other.py"), parallelism=3)
    manager.tick()
    saves(upgrade, attempt)
    ends(attempt, "finished")
    manager.tick()
    is_at(upgrade, UpgradeState.STARTING, 2)
    job.refresh_from_db()
    assert "3 of its slots" in job.waiting_for or "4 slots" in job.waiting_for

    Upgrade.objects.update(deadline=timezone.now())
    manager.tick()
    is_at(upgrade, UpgradeState.REVERTING, 1)
    job.refresh_from_db()
    assert job.current_attempt == 2
    other.refresh_from_db()
    assert other.current_attempt == 1


@pytest.mark.parametrize("starting", [False, True])
def test_a_cancelled_job_ends_its_upgrade(manager: JobManager, job: Job, starting: bool) -> None:
    upgrade = stopped(job) if starting else upgrades.ask(job, parallelism=2)
    if starting:
        manager.tick()
        runs(job)
    actions.cancel(job)
    manager.tick()
    job.refresh_from_db()
    assert job.state == JobState.CANCELLING
    ends(current(job), "canceled")
    manager.tick()
    is_at(upgrade, UpgradeState.FAILED, 2 if starting else 1)
    assert upgrade.failure == "the job is canceled"
    assert upgrade.job.state == JobState.CANCELED
    assert not upgrade.job.slots.exists()


def test_a_suspended_job_starts_its_new_version_when_it_is_resumed(
    manager: JobManager, job: Job
) -> None:
    upgrade = stopped(job)
    actions.suspend(job, by=Job.SuspendedBy.PLATFORM)
    manager.tick()
    is_at(upgrade, UpgradeState.STARTING, 2)
    assert upgrade.job.state == JobState.SUSPENDED
    Upgrade.objects.update(deadline=timezone.now())
    manager.tick()
    is_at(upgrade, UpgradeState.STARTING, 2)

    actions.resume(upgrade.job)
    manager.tick()
    is_at(upgrade, UpgradeState.STARTING, 2)
    runs(job)
    progresses(job)
    manager.tick()
    is_at(upgrade, UpgradeState.DONE, 2)


def test_what_cannot_be_asked_stops_nothing(manager: JobManager, job: Job) -> None:
    with pytest.raises(actions.InvalidJob, match="nothing would change"):
        upgrades.ask(job)
    with pytest.raises(actions.InvalidJob, match="SyntaxError"):
        upgrades.ask(job, entry=(b"def\n", "bad.py"))
    with pytest.raises(actions.Conflict, match="needs 9 slots, and 4 are free or its own"):
        upgrades.ask(job, parallelism=9)
    with pytest.raises(upgrades.NoSuchVersion):
        upgrades.ask(job, version=5)
    assert not job.savepoints.exists()
    upgrade = upgrades.ask(job, arguments=["--new"])
    with pytest.raises(actions.Conflict, match="is under way"):
        upgrades.ask(job, arguments=["--newer"])
    assert job.versions.count() == 2
    assert job.savepoints.get() == upgrade.savepoint
    assert upgrade.savepoint.version == 1


def test_what_a_job_once_began_with_may_be_gone(manager: JobManager, job: Job) -> None:
    settings = {beginnings.PATH[0]: "/gone"}
    Job.objects.filter(pk=job.pk).update(configuration=settings)
    job.versions.update(configuration=settings)
    upgrade = upgrades.ask(job, parallelism=2)
    assert upgrade.after.configuration == settings


def test_a_former_version_is_gone_back_to_by_its_number(manager: JobManager, job: Job) -> None:
    stopped(job)
    manager.tick()
    runs(job)
    progresses(job)
    manager.tick()
    back = upgrades.ask(job, version=1)
    assert (back.before.number, back.after.number) == (2, 1)
    with pytest.raises(savepoints.Conflict, match="nothing to dispose of"):
        savepoints.dispose(back.savepoint)
    saves(back, job.attempts.get(number=2))
    with pytest.raises(savepoints.Conflict, match="may have to go back to it"):
        savepoints.dispose(back.savepoint)


def test_state_outlives_an_upgrade_that_failed(manager: JobManager, job: Job) -> None:
    upgrade = stopped(job)
    manager.tick()
    runs(job)
    actions.cancel(job)
    manager.tick()
    ends(current(job), "canceled")
    manager.tick()
    is_at(upgrade, UpgradeState.FAILED, 2)
    actions.restart(upgrade.job)
    manager.tick()
    # nothing shows yet that the savepoint can be read
    upgrade.job.refresh_from_db()
    assert upgrades.left_over(upgrade.job) == []
    with pytest.raises(savepoints.Conflict, match="no checkpoint of its own yet"):
        savepoints.dispose(upgrade.savepoint)

    progresses(job)
    upgrade.job.refresh_from_db()
    assert settings.HEADRACE_CHECKPOINTS / job.pk in upgrades.left_over(upgrade.job)
    assert savepoints.dispose(upgrade.savepoint).state == "DISPOSING"


def test_a_savepoint_of_a_job_that_is_put_away_can_be_disposed_of(
    manager: JobManager, job: Job
) -> None:
    upgrade = stopped(job)
    manager.tick()
    actions.cancel(job)
    manager.tick()
    ends(current(job), "canceled")
    manager.tick()
    is_at(upgrade, UpgradeState.FAILED, 2)
    with pytest.raises(savepoints.Conflict, match="archive the job"):
        savepoints.dispose(upgrade.savepoint)
    actions.archive(upgrade.job)
    assert savepoints.dispose(upgrade.savepoint).state == "DISPOSING"


def upgraded(manager: JobManager, job: Job) -> Upgrade:
    """It runs as its second version, and both have checkpoints."""
    upgrade = stopped(job)
    manager.tick()
    runs(job)
    for directory in (first(job), checkpoints(upgrade)):
        (directory / "spark").mkdir(parents=True, exist_ok=True)
    return upgrade


def first(job: Job) -> Path:
    """Checkpoints of its first version."""
    return Path(settings.HEADRACE_CHECKPOINTS / job.pk)


def checkpoints(upgrade: Upgrade) -> Path:
    """Of the version that it leads to."""
    return Path(settings.HEADRACE_CHECKPOINTS / f"{upgrade.job_id}-{upgrade.pk}")


def test_a_taskmanager_removes_what_an_upgrade_has_left(manager: JobManager, job: Job) -> None:
    upgrade = upgraded(manager, job)
    tm = TaskManager.objects.get()
    checkpoint_commands.remove_left(tm)
    assert first(job).exists(), "it is the way back"

    progresses(job)
    manager.tick()
    is_at(upgrade, UpgradeState.DONE, 2)
    assert upgrade.job.checkpoints_left
    checkpoint_commands.remove_left(tm)
    assert not first(job).exists()
    assert checkpoints(upgrade).exists()
    upgrade.job.refresh_from_db()
    assert not upgrade.job.checkpoints_left


def test_it_is_looked_for_wherever_the_job_ran(manager: JobManager, job: Job) -> None:
    upgrade = upgraded(manager, job)
    progresses(job)
    manager.tick()
    job.attempts.filter(number=1).update(storage="elsewhere")
    tm = TaskManager.objects.get()
    checkpoint_commands.remove_left(tm)
    job.refresh_from_db()
    assert job.checkpoints_left, "the other may have some, too"
    Upgrade.objects.update(ended_at=timezone.now() - timedelta(days=2))
    checkpoint_commands.remove_left(tm)
    job.refresh_from_db()
    assert not job.checkpoints_left
    assert checkpoints(upgrade).exists()


def test_a_cancelled_job_loses_those_of_all_its_versions(manager: JobManager, job: Job) -> None:
    Job.objects.update(checkpoint_settings={retention.KEY: "DELETE_ON_CANCELLATION"})
    upgrade = upgraded(manager, job)
    actions.cancel(job)
    manager.tick()
    ends(current(job), "canceled")
    manager.tick()
    is_at(upgrade, UpgradeState.FAILED, 2)
    assert upgrade.job.state == JobState.CANCELED
    checkpoint_commands.remove_left(TaskManager.objects.get())
    assert not first(job).exists()
    assert not checkpoints(upgrade).exists()
    job.refresh_from_db()
    assert not job.checkpoints_left
