"""/config, /overview, /cluster and /datasets."""

from __future__ import annotations

from http import HTTPStatus
from importlib import metadata

from django.contrib.auth.models import AnonymousUser, User
from django.db.models import Count
from rest_framework.request import Request
from rest_framework.response import Response

from jobs import cluster_figures, permissions
from jobs.flink import answers
from jobs.roles import Role
from jobs.states import JobState

#: Whose REST API this is: clients look at it to know what they may ask for.
FLINK_VERSION = "2.3.0"
REFRESH_MS = 3000


def revision() -> str:
    try:
        return f"Headrace {metadata.version('headrace')}"
    except metadata.PackageNotFoundError:
        return "Headrace"


class Config(answers.View):
    """GET /config: what Flink's dashboard shows to this user."""

    def get(self, request: Request) -> Response:
        user = request.user
        return Response(
            {
                "refresh-interval": REFRESH_MS,
                "timezone-name": "Coordinated Universal Time",
                "timezone-offset": 0,
                "flink-version": FLINK_VERSION,
                "flink-revision": revision(),
                "features": {
                    "web-submit": permissions.may_submit_somewhere(user),
                    "web-cancel": _may_operate_somewhere(user),
                    "web-rescale": _may_operate_somewhere(user),
                    "web-history": False,
                },
            }
        )


class Overview(answers.View):
    """GET /overview"""

    def get(self, request: Request) -> Response:
        seen = permissions.visible_jobs(request.user).filter(archived_at=None)
        counts = dict(seen.order_by().values_list("state").annotate(Count("pk")))
        ended = {
            "jobs-finished": counts.pop(JobState.FINISHED.value, 0),
            "jobs-cancelled": counts.pop(JobState.CANCELED.value, 0),
            "jobs-failed": counts.pop(JobState.FAILED.value, 0),
        }
        slots = cluster_figures.of_cluster()
        return Response(
            {
                "taskmanagers": slots["numRegisteredTaskManagers"],
                "slots-total": slots["taskSlotsTotal"],
                "slots-available": slots["taskSlotsAvailable"],
                "jobs-running": sum(counts.values()),  # or waiting, as in Flink
                **ended,
                "flink-version": FLINK_VERSION,
                "flink-commit": revision(),
            }
        )


class Cluster(answers.View):
    """DELETE /cluster is refused to everybody: in Flink it ends all jobs of all users for good."""

    def delete(self, request: Request) -> Response:
        raise answers.Refused(
            HTTPStatus.FORBIDDEN,
            "This cluster is not shut down through its REST API; nothing was changed. Cancel or "
            "stop single jobs, or stop the platform where it was started: its jobs go on from "
            "their checkpoints at the next start.",
        )


class DataSets(answers.View):
    """GET /datasets: jobs leave none behind that others could read."""

    def get(self, request: Request) -> Response:
        return Response({"dataSets": []})


class DataSet(answers.View):
    """DELETE /datasets/:datasetid"""

    def delete(self, request: Request, dataset_id: str) -> Response:
        raise answers.not_found(f"There is no data set {dataset_id}.")


class DataSetDeletion(answers.View):
    """GET /datasets/delete/:triggerid"""

    def get(self, request: Request, trigger_id: str) -> Response:
        raise answers.not_found(f"There is no operation with triggerId={trigger_id}.")


def _may_operate_somewhere(user: User | AnonymousUser) -> bool:
    if permissions.may_steer(user):
        return True
    return permissions.teams(user, Role.OPERATOR).exists()
