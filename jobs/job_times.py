"""Figures of a job that its rows tell: how long it has been in its state, restarts, checkpoints.

Under Flink's names, in milliseconds and bytes. Pure, but for the objects it is given.
"""

from __future__ import annotations

from jobs.models import Job, JobFigures
from jobs.states import JobState

#: Flink's name -> the states whose time it tells.
_STATES = {
    "initializingTime": JobState.INITIALIZING,
    "createdTime": JobState.CREATED,
    "runningTime": JobState.RUNNING,
    "restartingTime": JobState.RESTARTING,
    "failingTime": JobState.FAILING,
    "cancellingTime": JobState.CANCELLING,
}


def figures(job: Job, now: int) -> dict[str, float]:
    """`now`: ms since 1970. The time in a state is 0 while the job is in another."""
    times = {name: _time_in(job, state, now) for name, state in _STATES.items()}
    begun = _millis(job.started_at) if job.started_at else None
    ended = _millis(job.ended_at) if job.ended_at else now
    runs = job.state == JobState.RUNNING
    down = 0 if begun is None or runs else max(0, ended - _since(job, ended))
    return {
        **times,
        "uptime": times["runningTime"],
        "downtime": down,
        "deployingTime": times["createdTime"],
        "allSubTasksRunningOrFinishedTime": times["runningTime"],
        "numRestarts": job.restarts,
        "fullRestarts": job.restarts,
    }


def checkpoint_figures(job: Job, row: JobFigures) -> dict[str, float | str]:
    """Of the newest checkpoint, and how many there were."""
    found: dict[str, float | str] = {
        "numberOfInProgressCheckpoints": 0,
        "numberOfCompletedCheckpoints": 0,
        "numberOfFailedCheckpoints": row.failed_checkpoints,
        "totalNumberOfCheckpoints": row.failed_checkpoints,
        "lastCheckpointRestoreTimestamp": -1 if row.restored_at is None else row.restored_at,
    }
    last = row.checkpoint
    if not last:
        return found
    first = last["id"] if row.first_checkpoint is None else row.first_checkpoint
    completed = max(1, last["id"] - first + 1)
    return found | {
        "numberOfCompletedCheckpoints": completed,
        "totalNumberOfCheckpoints": completed + row.failed_checkpoints,
        "lastCompletedCheckpointId": last["id"],
        "lastCheckpointDuration": last["duration"],
        "lastCheckpointSize": last["size"],
        "lastCheckpointFullSize": last["size"],
        "lastCheckpointCompletedTimestamp": last["completed_at"],
        "lastCheckpointExternalPath": f"file://{job.checkpoint_dir}",
    }


def _time_in(job: Job, state: JobState, now: int) -> int:
    return max(0, now - _since(job, now)) if job.state == state else 0


def _since(job: Job, now: int) -> int:
    return int(job.timestamps.get(job.state, now))


def _millis(moment: object) -> int:
    return int(moment.timestamp() * 1000)  # type: ignore[attr-defined]
