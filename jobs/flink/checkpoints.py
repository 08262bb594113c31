"""GET /jobs/:jobid/checkpoints, its settings, and what one checkpoint consists of."""

from __future__ import annotations

from typing import Any

from rest_framework.request import Request
from rest_framework.response import Response

from jobs import options, vertices
from jobs.flink import answers, checkpoint_statistics, checkpoint_tasks, job_vertices
from jobs.models import Job

_PREFIX = "execution.checkpointing."


class Statistics(answers.View):
    """GET /jobs/:jobid/checkpoints"""

    def get(self, request: Request, job_id: str) -> Response:
        return Response(checkpoint_statistics.of(self.job(job_id)))


class Config(answers.View):
    """GET /jobs/:jobid/checkpoints/config"""

    def get(self, request: Request, job_id: str) -> Response:
        return Response(_settings(self.job(job_id)))


class Details(answers.View):
    """GET /jobs/:jobid/checkpoints/details/:checkpointid"""

    def get(self, request: Request, job_id: str, checkpoint_id: str) -> Response:
        job = self.job(job_id)
        found = checkpoint_tasks.find(job, int(checkpoint_id))
        if found is None:
            raise _no_such(checkpoint_id)
        tasks = {vertex.id: found.task(vertex) for vertex in vertices.of(job.plan)}
        return Response(found.entry | {"tasks": tasks})


class Subtasks(job_vertices.View):
    """GET /jobs/:jobid/checkpoints/details/:checkpointid/subtasks/:vertexid"""

    def get(self, request: Request, job_id: str, checkpoint_id: str, vertex_id: str) -> Response:
        job = self.job(job_id)
        vertex = self.vertex(job, vertex_id)
        found = checkpoint_tasks.find(job, int(checkpoint_id))
        if found is None:
            raise _no_such(checkpoint_id)
        return Response(found.subtasks(vertex))


def _no_such(checkpoint_id: str) -> answers.Refused:
    return answers.not_found(f"Could not find checkpointing statistics for {int(checkpoint_id)}.")


def _settings(job: Job) -> dict[str, Any]:
    """Of GET /jobs/:jobid/checkpoints/config."""
    said = job.checkpointing

    def milliseconds(key: str, default: int) -> int:
        found = options.duration_ms(said.get(_PREFIX + key, ""))
        return default if found is None else found

    tolerated = said.get(f"{_PREFIX}tolerable-failed-checkpoints", "").strip()
    removed = said.get(f"{_PREFIX}externalized-checkpoint-retention", "").strip().upper()
    return {
        "mode": "exactly_once",
        "interval": job.checkpoint_interval,
        "timeout": milliseconds("timeout", 600_000),
        "min_pause": milliseconds("min-pause", 0),
        "max_concurrent": 1,
        "externalization": {
            "enabled": removed != "NO_EXTERNALIZED_CHECKPOINTS",
            "delete_on_cancellation": removed == "DELETE_ON_CANCELLATION",
        },
        "state_backend": "EmbeddedRocksDBStateBackend",
        "checkpoint_storage": "FileSystemCheckpointStorage",
        "unaligned_checkpoints": False,
        "tolerable_failed_checkpoints": int(tolerated) if tolerated.isdecimal() else 0,
        "aligned_checkpoint_timeout": 0,
        "checkpoints_after_tasks_finish": True,
        "state_changelog_enabled": False,
        "changelog_periodic_materialization_interval": 600_000,
        "changelog_storage": "memory",
    }
