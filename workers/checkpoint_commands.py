"""Carries wishes about checkpoints from the tables to drivers and directories."""

from __future__ import annotations

import errno
import shutil
from datetime import timedelta
from pathlib import Path

import structlog
from django.utils import timezone

from headrace.wire import commands
from jobs import checkpoint_requests, upgrades
from jobs.models import Job, TaskManager
from jobs.states import JobState

log = structlog.get_logger(__name__)

#: Checkpoints of versions before, on storages of TaskManagers that may be away.
LOOKED_FOR = timedelta(days=1)


def carry(taskmanager: TaskManager) -> None:
    """To drivers, those that are asked for. Killed in between, the next call does the same again:
    drivers know a request by its id."""
    for row in checkpoint_requests.waiting(taskmanager):
        if row.attempt is None or not row.attempt.is_on(taskmanager):
            continue
        try:
            commands.send(Path(row.attempt.run_dir), checkpoint_requests.command(row))
            checkpoint_requests.sent(row)
        except Exception:
            # The trouble of one (a full disk, a broken run directory) stays its own.
            log.exception("checkpoint not asked for", attempt=str(row.attempt))


def remove_left(taskmanager: TaskManager) -> None:
    """Checkpoints of jobs that were cancelled when their driver was dead, and of versions that jobs
    have gone on from. Called now and then."""
    # Every state is named, as the index that has only such jobs is one of states.
    left = Job.objects.filter(checkpoints_left=True, state__in=list(JobState))
    for job in left.defer("plan").order_by():
        done = _remove_others(job, taskmanager)
        if job.state == JobState.CANCELED and job.checkpoints_removed:
            done = _remove(job, taskmanager) and done
        if done:
            Job.objects.filter(pk=job.pk, version=job.version).update(checkpoints_left=False)


def _remove_others(job: Job, taskmanager: TaskManager) -> bool:
    """Those of other versions, as far as they are seen here; whether no more are to be looked for.
    Where the job ran on several storages, every TaskManager looks for a day."""
    newest = job.upgrades.first()
    if newest is None:
        return True
    others = upgrades.left_over(job)
    for directory in filter(Path.exists, others):
        shutil.rmtree(directory, ignore_errors=True)
        log.info("checkpoints of another version removed", path=str(directory))
    if not others or any(map(Path.exists, others)):
        return False
    elsewhere = job.attempts.exclude(storage__in=["", taskmanager.storage])
    since = newest.ended_at or timezone.now()
    return timezone.now() - since > LOOKED_FOR or not elsewhere.exists()


def _remove(job: Job, taskmanager: TaskManager) -> bool:
    """The TaskManager on which it ran does it, or, where all processes are known to have ended, any
    that sees the files; whether it was this one."""
    last = job.attempts.order_by("-number").first()
    mine = last is None or last.taskmanager_id in (taskmanager.pk, None)
    mine = mine and (last is None or last.is_on(taskmanager))
    if not mine and (last is None or last.abandoned or not job.checkpoint_dir.exists()):
        return False
    try:
        shutil.rmtree(job.checkpoint_dir)
        log.info("checkpoints removed", job=job.pk)
    except FileNotFoundError:
        pass
    except OSError as error:
        if error.errno == errno.ENOTEMPTY:
            return False  # a process that is being killed wrote once more: with the next tick
        log.warning("checkpoints left there", path=str(job.checkpoint_dir), error=str(error))
    return True
