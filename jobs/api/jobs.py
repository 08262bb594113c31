"""/api/jobs/: submit, look at and steer jobs."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from django.contrib.auth.models import User
from django.db.models import QuerySet
from django.http import Http404
from drf_spectacular.utils import OpenApiParameter, extend_schema, extend_schema_view
from rest_framework import mixins, status
from rest_framework.decorators import action
from rest_framework.parsers import FormParser, JSONParser, MultiPartParser
from rest_framework.permissions import BasePermission
from rest_framework.request import Request
from rest_framework.response import Response
from rest_framework.viewsets import GenericViewSet

from jobs import actions, audit, logtail
from jobs import permissions as of_jobs
from jobs.api import permissions, serializers
from jobs.models import Attempt, Job
from jobs.states import JobState


@extend_schema_view(
    list=extend_schema(
        summary="Jobs, newest first",
        parameters=[
            OpenApiParameter("state", str, enum=[s.value for s in JobState], many=True),
            OpenApiParameter("name", str, description="part of the name"),
            OpenApiParameter("team", str, description="of this team"),
            OpenApiParameter("archived", bool, description="those that were put away instead"),
        ],
    ),
    retrieve=extend_schema(summary="One job", responses=serializers.JobDetail),
)
class JobViewSet(mixins.ListModelMixin, mixins.RetrieveModelMixin, GenericViewSet[Job]):
    queryset = Job.objects.select_related("submitted_by", "team")
    serializer_class = serializers.JobSummary

    def get_queryset(self) -> QuerySet[Job]:
        rows = of_jobs.of_visible(super().get_queryset(), self.request.user)
        if self.action != "list":
            return rows
        archived = self.request.query_params.get("archived", "") == "true"
        rows = rows.filter(archived_at__isnull=not archived)
        if states := self.request.query_params.getlist("state"):
            rows = rows.filter(state__in=states)
        if team := self.request.query_params.get("team"):
            rows = rows.filter(team__name=team)
        if name := self.request.query_params.get("name"):
            rows = rows.filter(name__icontains=name)
        return rows.defer("plan", "configuration", "arguments")

    def get_serializer_class(self) -> Any:
        return serializers.JobDetail if self.action == "retrieve" else serializers.JobSummary

    def get_permissions(self) -> Any:
        own: list[BasePermission] = []
        if self.action == "create":
            own.append(permissions.MaySubmit())
        return [*super().get_permissions(), *own]

    def get_parsers(self) -> list[Any]:
        return [MultiPartParser(), FormParser(), JSONParser()]

    @extend_schema(
        summary="Submit a job",
        request={
            "multipart/form-data": serializers.Submission,
            "application/json": serializers.Submission,
        },
        responses={201: serializers.JobDetail},
    )
    def create(self, request: Request) -> Response:
        submission = serializers.Submission(data=request.data)
        submission.is_valid(raise_exception=True)
        values = submission.validated_data
        team = permissions.team_named(request, values["team"])
        permissions.to_submit(request, team, brings_code="file" in values)
        job = actions.submit(
            values["name"],
            submission.entry(),
            values["arguments"],
            values["parallelism"],
            values["configuration"],
            _user(request),
            submission.restore(),
            team=team,
        )
        audit.record(request, "job.submit", job, program=job.entry_name, team=str(team or ""))
        return Response(serializers.JobDetail(job).data, status=status.HTTP_201_CREATED)

    @extend_schema(summary="End it for good", request=None, responses={202: serializers.JobDetail})
    @action(detail=True, methods=["post"])
    def cancel(self, request: Request, pk: str) -> Response:
        return self._steer(request, actions.cancel)

    @extend_schema(
        summary="Stop it behind its current batch, to be resumed from there",
        request=None,
        responses={202: serializers.JobDetail},
    )
    @action(detail=True, methods=["post"])
    def suspend(self, request: Request, pk: str) -> Response:
        return self._steer(request, actions.suspend)

    @extend_schema(
        summary="Let a suspended job go on", request=None, responses={202: serializers.JobDetail}
    )
    @action(detail=True, methods=["post"])
    def resume(self, request: Request, pk: str) -> Response:
        return self._steer(request, actions.resume)

    @extend_schema(
        summary="Start it again from its last checkpoint",
        request=None,
        responses={202: serializers.JobDetail},
    )
    @action(detail=True, methods=["post"])
    def restart(self, request: Request, pk: str) -> Response:
        return self._steer(request, actions.restart)

    @extend_schema(
        summary="Put an ended job away: lists leave it out",
        request=None,
        responses={202: serializers.JobDetail},
    )
    @action(detail=True, methods=["post"])
    def archive(self, request: Request, pk: str) -> Response:
        return self._steer(request, actions.archive)

    @extend_schema(
        summary="Have lists show it again", request=None, responses={202: serializers.JobDetail}
    )
    @action(detail=True, methods=["post"])
    def unarchive(self, request: Request, pk: str) -> Response:
        return self._steer(request, actions.unarchive)

    def _steer(self, request: Request, wish: Callable[[Job, User | None], Job]) -> Response:
        job = self.get_object()
        permissions.to_operate(request, job)
        wish(job, _user(request))
        audit.record(request, f"job.{self.action}", job)
        return Response(serializers.JobDetail(job).data, status=status.HTTP_202_ACCEPTED)

    @extend_schema(
        summary="Its attempts, newest first",
        responses=serializers.AttemptSerializer(many=True),
    )
    @action(detail=True)
    def attempts(self, request: Request, pk: str) -> Response:
        rows = self.get_object().attempts.select_related("taskmanager").order_by("-number")
        return self._page(rows, serializers.AttemptSerializer)

    @extend_schema(
        summary="Its checkpoints, newest first",
        responses=serializers.CheckpointSerializer(many=True),
    )
    @action(detail=True)
    def checkpoints(self, request: Request, pk: str) -> Response:
        rows = self.get_object().checkpoints.select_related("attempt")
        return self._page(rows, serializers.CheckpointSerializer)

    @extend_schema(
        summary="Its history, newest first",
        parameters=[OpenApiParameter("kind", str, many=True, description="e.g. failure")],
        responses=serializers.EventSerializer(many=True),
    )
    @action(detail=True)
    def events(self, request: Request, pk: str) -> Response:
        rows = self.get_object().events.all()
        if kinds := request.query_params.getlist("kind"):
            rows = rows.filter(kind__in=kinds)
        return self._page(rows, serializers.EventSerializer)

    @extend_schema(
        summary="A piece of a driver's log: its tail, or from an offset on",
        parameters=[serializers.LogQuery],
        responses=serializers.LogPiece,
    )
    @action(detail=True, pagination_class=None)
    def log(self, request: Request, pk: str) -> Response:
        query = serializers.LogQuery(data=request.query_params)
        query.is_valid(raise_exception=True)
        attempt = self._attempt(query.validated_data.get("attempt"))
        piece = logtail.Piece("", 0, 0, 0)
        if attempt is not None:
            offset, limit = query.validated_data.get("offset"), query.validated_data["limit"]
            piece = logtail.read(attempt.run_dir, offset, limit)
        return Response(
            {
                "attempt": attempt.number if attempt else None,
                "text": piece.text,
                "start": piece.start,
                "end": piece.end,
                "size": piece.size,
            }
        )

    def _attempt(self, number: int | None) -> Attempt | None:
        attempts = self.get_object().attempts.order_by("-number")
        if number is None:
            return attempts.first()
        attempt = attempts.filter(number=number).first()
        if attempt is None:
            raise Http404
        return attempt

    def _page(self, rows: QuerySet[Any], serializer: Any) -> Response:
        page = self.paginate_queryset(rows)
        return self.get_paginated_response(serializer(page, many=True).data)


def _user(request: Request) -> User | None:
    return request.user if isinstance(request.user, User) else None
