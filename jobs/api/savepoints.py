"""/api/savepoints/ and /api/jobs/<id>/savepoints/: who has taken which, why, and what became of
them."""

from __future__ import annotations

from typing import Any

from django.contrib.auth.models import User
from django.db.models import QuerySet
from django.shortcuts import get_object_or_404
from drf_spectacular.utils import OpenApiParameter, extend_schema, extend_schema_view
from rest_framework import mixins, serializers, status
from rest_framework.decorators import action
from rest_framework.generics import ListAPIView
from rest_framework.request import Request
from rest_framework.response import Response
from rest_framework.views import APIView
from rest_framework.viewsets import GenericViewSet

from jobs import audit, savepoints
from jobs import permissions as of_jobs
from jobs.api import permissions
from jobs.models import Job, Savepoint
from jobs.states import SavepointState


class SavepointSerializer(serializers.ModelSerializer[Savepoint]):
    class Meta:
        model = Savepoint
        fields = [
            *("id", "trigger_id", "job", "job_name", "state", "path", "then", "drain", "reason"),
            *("requested_by_name", "version", "checkpoint_id", "artifact_sha256"),
            *("parallelism", "size"),
            *("files", "duration", "failure", "created_at", "completed_at", "disposed_at"),
        ]
        read_only_fields = fields


class Trigger(serializers.Serializer[Any]):
    """What is asked for; everything may be left out."""

    directory = serializers.CharField(
        required=False,
        default="",
        help_text="gets a new directory for it; default: the job's, then the cluster's",
    )
    reason = serializers.CharField(required=False, default="", max_length=500)
    then = serializers.ChoiceField(
        choices=Savepoint.Then.choices,
        required=False,
        default=Savepoint.Then.RUN.value,
        allow_blank=True,
        help_text="how the job ends with it; default: it runs on",
    )
    drain = serializers.BooleanField(
        required=False, default=False, help_text="let all windows and timers fire before"
    )
    trigger_id = serializers.RegexField(
        r"^[0-9a-f]{32}$", required=False, default="", help_text="of your own: a repeat is no other"
    )

    def validate(self, attrs: dict[str, Any]) -> dict[str, Any]:
        if attrs["drain"] and not attrs["then"]:
            raise serializers.ValidationError("a job that is drained ends: say how, in `then`")
        return attrs


@extend_schema_view(
    get=extend_schema(summary="A job's savepoints, newest first"),
    post=extend_schema(
        summary="Take a savepoint of a running job",
        request=Trigger,
        responses={202: SavepointSerializer},
    ),
)
class JobSavepoints(ListAPIView[Savepoint]):
    serializer_class = SavepointSerializer
    queryset = Savepoint.objects.select_related("job")

    def get_queryset(self) -> QuerySet[Savepoint]:
        return of_job(super().get_queryset(), self)

    def post(self, request: Request, job_id: str) -> Response:
        asked = Trigger(data=request.data)
        asked.is_valid(raise_exception=True)
        values = asked.validated_data
        values["then"] = Savepoint.Then(values["then"])
        job = visible_job(request, job_id)
        permissions.to_operate(request, job)
        row = savepoints.trigger(job, user_of(request), **values)
        audit.record(request, "savepoint.create", job, reason=values["reason"], path=row.path)
        return Response(SavepointSerializer(row).data, status=status.HTTP_202_ACCEPTED)


@extend_schema_view(
    list=extend_schema(
        summary="Savepoints of all jobs, newest first",
        parameters=[
            OpenApiParameter("state", str, enum=[s.value for s in SavepointState], many=True)
        ],
    ),
    retrieve=extend_schema(summary="One savepoint"),
)
class SavepointViewSet(mixins.ListModelMixin, mixins.RetrieveModelMixin, GenericViewSet[Savepoint]):
    queryset = Savepoint.objects.select_related("job")
    serializer_class = SavepointSerializer

    def get_queryset(self) -> QuerySet[Savepoint]:
        states = self.request.query_params.getlist("state")
        rows = visible(super().get_queryset(), self)
        return rows.filter(state__in=states) if states else rows

    @extend_schema(summary="Remove its files", request=None, responses={202: SavepointSerializer})
    @action(detail=True, methods=["post"])
    def dispose(self, request: Request, pk: str) -> Response:
        row = self.get_object()
        permissions.to_operate(request, row.job)
        row = savepoints.dispose(row, user_of(request))
        audit.record(request, "savepoint.dispose", row)
        return Response(SavepointSerializer(row).data, status=status.HTTP_202_ACCEPTED)


def visible(rows: QuerySet[Any], view: APIView) -> QuerySet[Any]:
    """Those of the rows whose `job` the caller may see."""
    return of_jobs.of_visible(rows, view.request.user, "job__team")


def of_job(rows: QuerySet[Any], view: Any) -> QuerySet[Any]:
    """Those of the job that the address names. Raises Http404 for one that the caller does not
    see."""
    if getattr(view, "swagger_fake_view", False):
        return rows.none()
    return rows.filter(job=visible_job(view.request, view.kwargs["job_id"]))


def visible_job(request: Request, job_id: str) -> Job:
    """Raises Http404."""
    return get_object_or_404(of_jobs.visible_jobs(request.user), pk=job_id)


def user_of(request: Request) -> User | None:
    return request.user if isinstance(request.user, User) else None
