"""/api/overview/, /api/taskmanagers/, /api/examples/."""

from __future__ import annotations

import ast
from collections.abc import Callable
from pathlib import Path
from typing import Any

from django.contrib.auth.models import AnonymousUser, User
from django.db.models import Count, F, Prefetch, Q
from django.utils import timezone
from drf_spectacular.utils import extend_schema, extend_schema_view
from rest_framework import mixins, status
from rest_framework.decorators import action
from rest_framework.request import Request
from rest_framework.response import Response
from rest_framework.views import APIView
from rest_framework.viewsets import GenericViewSet

from jobs import artifacts, leases, taskmanagers
from jobs import permissions as of_jobs
from jobs.api import permissions, serializers
from jobs.models import Lease, Slot, TaskManager
from jobs.states import JobState, TaskManagerState


class OverviewView(APIView):
    @extend_schema(summary="Slots, jobs by state, who leads", responses=serializers.Overview)
    def get(self, request: Request) -> Response:
        return Response(serializers.Overview(overview(request.user)).data)


def overview(user: User | AnonymousUser) -> dict[str, object]:
    """Jobs are counted that the user may see."""
    registered = TaskManager.objects.filter(state=TaskManagerState.REGISTERED)
    slots = Slot.objects.filter(
        taskmanager__in=registered, index__lt=F("taskmanager__slots")
    ).aggregate(all=Count("pk"), free=Count("pk", filter=Q(job=None, taskmanager__drained_at=None)))
    counted = of_jobs.visible_jobs(user).order_by().values_list("state").annotate(Count("pk"))
    lease = Lease.objects.filter(name=leases.JOBMANAGER, expires_at__gt=timezone.now()).first()
    return {
        "taskmanagers": registered.count(),
        "slots_total": slots["all"],
        "slots_free": slots["free"],
        "jobs": {**{state.value: 0 for state in JobState}, **dict(counted)},
        "jobmanager": lease.holder if lease else None,
    }


@extend_schema_view(
    list=extend_schema(summary="TaskManagers with their slots"),
    retrieve=extend_schema(summary="One TaskManager"),
)
class TaskManagerViewSet(
    mixins.ListModelMixin, mixins.RetrieveModelMixin, GenericViewSet[TaskManager]
):
    queryset = TaskManager.objects.prefetch_related(Prefetch("slot_set", taskmanagers.slots()))
    serializer_class = serializers.TaskManagerSerializer
    lookup_field = "name"
    lookup_value_regex = "[^/]+"

    def get_permissions(self) -> list[Any]:
        own = [permissions.MayOperateCluster()] if self.action in ("drain", "undrain") else []
        return [*super().get_permissions(), *own]

    @extend_schema(
        summary="Give it no new jobs; its jobs move to others as soon as these have room",
        request=None,
        responses={202: serializers.TaskManagerSerializer},
    )
    @action(detail=True, methods=["post"])
    def drain(self, request: Request, name: str) -> Response:
        return self._set_drained(request, taskmanagers.drain)

    @extend_schema(
        summary="Let it have jobs again",
        request=None,
        responses={202: serializers.TaskManagerSerializer},
    )
    @action(detail=True, methods=["post"])
    def undrain(self, request: Request, name: str) -> Response:
        return self._set_drained(request, taskmanagers.undrain)

    def _set_drained(
        self, request: Request, wish: Callable[[TaskManager, User | None], bool]
    ) -> Response:
        row = self.get_object()
        wish(row, request.user if isinstance(request.user, User) else None)
        return Response(self.get_serializer(row).data, status=status.HTTP_202_ACCEPTED)


class ExamplesView(APIView):
    @extend_schema(summary="Jobs that come with Headrace", responses=serializers.Example(many=True))
    def get(self, request: Request) -> Response:
        found = [
            {"name": name, "entry_name": path.name, "description": _first_line(path)}
            for name, path in artifacts.examples().items()
        ]
        return Response(serializers.Example(found, many=True).data)


def _first_line(path: Path) -> str:
    """Of its docstring; the file is parsed, not run."""
    text = ast.get_docstring(ast.parse(path.read_bytes())) or ""
    return text.partition("\n")[0]
