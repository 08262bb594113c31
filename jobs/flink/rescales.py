"""Resource requirements and rescales: the parallelism of a running job is changed by an upgrade.

A job has one parallelism: it is that of each vertex that has none of its own. So requirements name
the same bound for all vertices that they change.
"""

from __future__ import annotations

from collections.abc import Mapping
from http import HTTPStatus
from typing import Any

from django.db.models import F, QuerySet
from rest_framework.exceptions import ParseError
from rest_framework.request import Request
from rest_framework.response import Response

from jobs import actions, audit, options, savepoints, upgrades, versions, vertices
from jobs.flink import answers, distributions, graphs, reading, times
from jobs.models import Job, Upgrade
from jobs.states import UpgradeState

#: As many as Flink keeps (`web.adaptive-scheduler.rescale-history.size`).
HISTORY = 10
_TERMINAL = {
    UpgradeState.DONE: ("COMPLETED", "SUCCEEDED"),
    UpgradeState.REVERTED: ("FAILED", "EXCEPTION_OCCURRED"),
    UpgradeState.FAILED: ("FAILED", "EXCEPTION_OCCURRED"),
}


class Requirements(answers.View):
    """GET and PUT /jobs/:jobid/resource-requirements"""

    def get(self, request: Request, job_id: str) -> Response:
        job = self.job(job_id)
        found = {
            vertex.id: {"parallelism": {"lowerBound": 1, "upperBound": vertex.parallelism}}
            for vertex in vertices.of(job.plan)
        }
        return Response(found)

    def put(self, request: Request, job_id: str) -> Response:
        job = self.job_to_operate(job_id)
        parallelism = _asked(job, reading.body(request))
        if parallelism is not None:
            try:
                upgrades.ask(job, self.user, parallelism=parallelism, reason="rescaled")
            except (actions.Conflict, savepoints.Conflict) as error:
                raise answers.Refused(HTTPStatus.CONFLICT, str(error)) from error
            except (actions.InvalidJob, options.InvalidOption) as error:
                raise answers.bad_request(str(error)) from error
            audit.record(request, "job.rescale", job, parallelism=parallelism)
        return Response({})


class Config(answers.View):
    """GET /jobs/:jobid/rescales/config"""

    def get(self, request: Request, job_id: str) -> Response:
        job = self.job(job_id)
        return Response(
            {
                "rescaleHistoryMax": HISTORY,
                "schedulerExecutionMode": None,
                "submissionResourceWaitTimeoutInMillis": job.placement.timeout_ms,
                "submissionResourceStabilizationTimeoutInMillis": 0,
                "slotIdleTimeoutInMillis": 0,
                "executingCooldownTimeoutInMillis": 0,
                "executingResourceStabilizationTimeoutInMillis": 0,
                "maximumDelayForTriggeringRescaleInMillis": versions.start_timeout_ms(
                    job.configuration
                ),
                "rescaleOnFailedCheckpointCount": 0,
            }
        )


class History(answers.View):
    """GET /jobs/:jobid/rescales/history"""

    def get(self, request: Request, job_id: str) -> Response:
        return Response([_entry(row) for row in _rescales(self.job(job_id))[:HISTORY]])


class Overview(answers.View):
    """GET /jobs/:jobid/rescales/overview"""

    def get(self, request: Request, job_id: str) -> Response:
        rows = list(_rescales(self.job(job_id)))
        latest = {
            word: next((_entry(row) for row in rows if _terminal(row) == word.upper()), None)
            for word in ("completed", "failed", "ignored")
        }
        return Response({"rescalesCounts": _counts(rows), "latest": latest})


class Summary(answers.View):
    """GET /jobs/:jobid/rescales/summary"""

    def get(self, request: Request, job_id: str) -> Response:
        rows = list(_rescales(self.job(job_id)))
        ended = [row for row in rows if row.ended_at is not None]

        def over(state: str) -> dict[str, Any]:
            return distributions.summary(_took(row) for row in ended if _terminal(row) == state)

        return Response(
            {
                "rescalesCounts": _counts(rows),
                "rescalesDurationStatsInMillis": distributions.summary(map(_took, ended)),
                "completedRescalesDurationStatsInMillis": over("COMPLETED"),
                "ignoredRescalesDurationStatsInMillis": over("IGNORED"),
                "failedRescalesDurationStatsInMillis": over("FAILED"),
            }
        )


class Details(answers.View):
    """GET /jobs/:jobid/rescales/details/:rescaleuuid"""

    def get(self, request: Request, job_id: str, rescale_id: str) -> Response:
        job = self.job(job_id)
        row = next((row for row in _rescales(job) if _id(row) == rescale_id.lower()), None)
        if row is None:
            raise answers.not_found(f"Rescale {rescale_id} not found")
        return Response(_entry(row) | {"vertices": _vertices(job, row), "slots": _slots(job, row)})


def _asked(job: Job, body: Mapping[str, Any]) -> int | None:
    """The parallelism that the job is to have; None = as it is. Raises ParseError, Refused."""
    graph = {vertex.id: vertex for vertex in vertices.of(job.plan)}
    wanted = {name.lower(): _bounds(name, given) for name, given in body.items()}
    if not graph or wanted.keys() != graph.keys():
        raise answers.bad_request(
            "The given job resource requirements do not name each of the job's vertices once: "
            f"{', '.join(sorted(graph)) or 'its graph is not known yet'}."
        )
    changed = {wanted[name] for name, vertex in graph.items() if wanted[name] != vertex.parallelism}
    if len(changed) > 1:
        raise answers.bad_request(
            "A job has one parallelism for all of its vertices: give the same upperBound to each "
            f"that changes, not {', '.join(map(str, sorted(changed)))}."
        )
    return changed.pop() if changed else None


def _bounds(name: str, given: object) -> int:
    """The upper one. Raises ParseError."""
    bounds = given.get("parallelism") if isinstance(given, Mapping) else None
    values = bounds if isinstance(bounds, Mapping) else {}
    lower, upper = values.get("lowerBound", 1), values.get("upperBound")
    whole = all(isinstance(each, int) and not isinstance(each, bool) for each in (lower, upper))
    if not whole or not 1 <= lower <= upper <= actions.MAX_PARALLELISM:  # type: ignore[operator]
        raise ParseError(
            f'{name[:100]}: give {{"parallelism": {{"lowerBound": 1, "upperBound": n}}}} with n up '
            f"to {actions.MAX_PARALLELISM}"
        )
    return int(upper)  # type: ignore[arg-type]


def _rescales(job: Job) -> QuerySet[Upgrade]:
    """Newest first: those upgrades that change the parallelism."""
    rows = job.upgrades.exclude(before__parallelism=F("after__parallelism"))
    return rows.select_related("before", "after").order_by("-id")


def _id(row: Upgrade) -> str:
    return f"{row.pk:032x}"


def _terminal(row: Upgrade) -> str | None:
    return _TERMINAL[row.state_info][0] if row.state_info in _TERMINAL else None


def _took(row: Upgrade) -> int:
    return times.of(row.ended_at) - times.of(row.created_at)


def _counts(rows: list[Upgrade]) -> dict[str, int]:
    states = [_terminal(row) for row in rows]
    return {
        "ignored": 0,
        "inProgress": states.count(None),
        "completed": states.count("COMPLETED"),
        "failed": states.count("FAILED"),
    }


def _entry(row: Upgrade) -> dict[str, Any]:
    return {
        "rescaleUuid": _id(row),
        "resourceRequirementsUuid": f"{row.after_id:032x}",
        "rescaleAttemptId": 1,
        "vertices": {},
        "slots": {},
        "schedulerStates": [],
        "startTimestampInMillis": times.of(row.created_at),
        "endTimestampInMillis": times.of(row.ended_at),
        "terminalState": _terminal(row),
        "triggerCause": "UPDATE_REQUIREMENT",
        "terminatedReason": _TERMINAL[row.state_info][1] if _terminal(row) else None,
    }


def _vertices(job: Job, row: Upgrade) -> dict[str, Any]:
    """Those of the job's graph now; all that follow the job's parallelism have changed."""
    found = {}
    for vertex in vertices.of(job.plan):
        follows = vertex.parallelism in (row.before.parallelism, row.after.parallelism)
        before = row.before.parallelism if follows else vertex.parallelism
        after = row.after.parallelism if follows else vertex.parallelism
        found[vertex.id] = {
            "jobVertexId": vertex.id,
            "jobVertexName": vertex.name,
            "slotSharingGroupId": graphs.slot_sharing_group(job, vertex),
            "slotSharingGroupName": vertex.head.group,
            "desiredParallelism": after,
            "sufficientParallelism": 1,
            "preRescaleParallelism": before,
            "postRescaleParallelism": after if _terminal(row) == "COMPLETED" else None,
        }
    return found


def _slots(job: Job, row: Upgrade) -> dict[str, Any]:
    """Of each slot sharing group. What a slot has of memory and cores is its TaskManager's."""
    groups = {graphs.slot_sharing_group(job, each): each for each in vertices.of(job.plan)}
    return {
        group: {
            "slotSharingGroupId": group,
            "slotSharingGroupName": vertex.head.group,
            "requestResourceProfile": _UNKNOWN_PROFILE,
            "desiredSlots": row.after.parallelism,
            "minimalRequiredSlots": 1,
            "preRescaleSlots": row.before.parallelism,
            "postRescaleSlots": row.after.parallelism if _terminal(row) == "COMPLETED" else None,
            "acquiredResourceProfile": _UNKNOWN_PROFILE,
        }
        for group, vertex in groups.items()
    }


_UNKNOWN_PROFILE = {
    "cpuCores": -1.0,
    "taskHeapMemory": -1,
    "taskOffHeapMemory": -1,
    "managedMemory": -1,
    "networkMemory": -1,
    "extendedResources": {},
}
