"""A savepoint that a job claims is removed by it: nobody else may need it."""

from __future__ import annotations

from pathlib import Path

import pytest
from django.utils import timezone

from headrace.wire import events, savepoint
from jobs import actions, beginnings, savepoints
from jobs.models import Job, Savepoint, Upgrade
from jobs.states import JobState, SavepointState, UpgradeState, change_state

pytestmark = pytest.mark.django_db

ENTRY = (b"pass\n", "program.py")


@pytest.fixture
def row(tmp_path: Path) -> Savepoint:
    """A savepoint of a job of this cluster."""
    job = actions.submit("owner", ENTRY)
    row = Savepoint.objects.create(
        job=job,
        job_name=job.name,
        path=str(tmp_path / "savepoint"),
        state=SavepointState.COMPLETED.value,
        requested_by_name="alice",
    )
    manifest = savepoint.Manifest(row.pk, job.pk, "owner", "0", "program.py", 0, 1, 1, 128)
    Path(row.path).mkdir()
    savepoint.write_manifest(Path(row.path), manifest)
    return row


def begun(path: str | Path, claim_mode: str = "CLAIM") -> Job:
    return actions.submit("next", ENTRY, restore=beginnings.wanted(str(path), claim_mode))


def progresses(job: Job) -> None:
    Job.objects.filter(pk=job.pk).update(progressed_at=timezone.now())


def test_the_savepoint_of_an_upgrade_under_way_cannot_be_claimed(row: Savepoint) -> None:
    assert row.job is not None
    version = row.job.versions.get()
    Upgrade.objects.create(
        job=row.job,
        before=version,
        after=version,
        savepoint=row,
        state=UpgradeState.STARTING.value,
        requested_by_name="alice",
    )
    with pytest.raises(actions.InvalidJob, match="cannot be claimed: an upgrade begins with it"):
        begun(row.path)
    assert begun(row.path, "NO_CLAIM").beginning.savepoint == row


def test_one_that_a_job_has_yet_to_begin_with_cannot_be_claimed(row: Savepoint) -> None:
    first = begun(row.path, "NO_CLAIM")
    with pytest.raises(actions.InvalidJob, match="job next is to begin with it, and has no check"):
        begun(row.path)
    progresses(first)
    claiming = begun(row.path)
    for mode in ("CLAIM", "NO_CLAIM"):
        with pytest.raises(actions.InvalidJob, match="job next"):
            begun(row.path, mode)
    progresses(claiming)
    assert begun(row.path, "NO_CLAIM").beginning.savepoint == row


def test_one_that_a_job_claims_that_can_be_started_again_is_taken(row: Savepoint) -> None:
    first = begun(row.path)
    for state in (JobState.CREATED, JobState.FAILING, JobState.FAILED):
        change_state(first, state)
    with pytest.raises(actions.InvalidJob, match="job next, which has claimed it"):
        begun(row.path, "NO_CLAIM")
    Job.objects.filter(pk=first.pk).update(archived_at=timezone.now())
    assert begun(row.path, "NO_CLAIM").beginning.savepoint == row


def test_one_that_is_disposed_of_meanwhile_is_nobodys_beginning(row: Savepoint) -> None:
    wish = actions.check("next", ENTRY, restore=beginnings.wanted(row.path))
    savepoints.dispose(row)
    with pytest.raises(actions.InvalidJob, match="is being disposed of"):
        actions.store(wish)
    assert not Job.objects.filter(name="next").exists()


def test_a_copy_that_is_claimed_goes_alone(row: Savepoint, tmp_path: Path) -> None:
    savepoints.disposed_by_job(events.SavepointDisposed(row.pk, str(tmp_path / "copy")))
    row.refresh_from_db()
    assert row.state == SavepointState.COMPLETED
    savepoints.disposed_by_job(events.SavepointDisposed(row.pk, row.path))
    row.refresh_from_db()
    assert row.state == SavepointState.DISPOSED


@pytest.mark.parametrize("mode", ["CLAIM", "NO_CLAIM"])
def test_of_two_that_were_checked_at_once_only_one_gets_it(row: Savepoint, mode: str) -> None:
    def checked(mode: str) -> actions.Submission:
        return actions.check("next", ENTRY, restore=beginnings.wanted(row.path, mode))

    first, second = checked("CLAIM"), checked(mode)
    actions.store(first)

    with pytest.raises(actions.InvalidJob, match="job next"):
        actions.store(second)
    assert Job.objects.filter(name="next").count() == 1


@pytest.mark.parametrize("way", ["dots", "link", "url", "manifest"])
def test_it_is_known_whichever_way_leads_there(row: Savepoint, tmp_path: Path, way: str) -> None:
    link = tmp_path / "link"
    link.symlink_to(row.path)
    (tmp_path / "there").mkdir()
    path = {
        "dots": f"{tmp_path}/there/../savepoint",
        "link": str(link),
        "url": f"file://{row.path}/",
        "manifest": f"{link}/{savepoint.MANIFEST}",
    }[way]
    job = begun(path)
    assert (job.beginning.savepoint, job.beginning.path) == (row, row.path)


def test_a_copy_of_it_is_another(row: Savepoint, tmp_path: Path) -> None:
    copy = tmp_path / "copy"
    copy.mkdir()
    savepoint.write_manifest(copy, savepoint.read(Path(row.path)))
    assert begun(copy).beginning.savepoint is None
    assert begun(row.path).beginning.savepoint == row
