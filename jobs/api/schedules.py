"""/api/schedules/: jobs that start at a time, or again and again."""

from __future__ import annotations

from typing import Any

from django.db.models import QuerySet
from drf_spectacular.utils import extend_schema, extend_schema_view
from rest_framework import mixins, serializers, status
from rest_framework.decorators import action
from rest_framework.parsers import FormParser, JSONParser, MultiPartParser
from rest_framework.permissions import BasePermission
from rest_framework.request import Request
from rest_framework.response import Response
from rest_framework.viewsets import GenericViewSet

from jobs import audit, schedules, timetables
from jobs import permissions as of_rows
from jobs.api import permissions
from jobs.api.savepoints import user_of
from jobs.api.serializers import MaskedConfiguration, ShownArguments, Submission
from jobs.models import Schedule, ScheduledRun


class ScheduleSerializer(serializers.ModelSerializer[Schedule]):
    arguments = ShownArguments()
    configuration = MaskedConfiguration()
    grace = serializers.IntegerField(read_only=True, help_text="milliseconds")
    team = serializers.CharField(
        source="team.name", default=None, read_only=True, allow_null=True, help_text="of its jobs"
    )

    class Meta:
        model = Schedule
        fields = [
            *("id", "name", "at", "cron", "time_zone", "grace", "next_run_at", "paused_at"),
            *("entry_name", "artifact_sha256", "arguments", "parallelism", "configuration"),
            *("created_by_name", "created_at", "team"),
        ]
        read_only_fields = fields


class ScheduledRunSerializer(serializers.ModelSerializer[ScheduledRun]):
    job = serializers.CharField(source="job_id", read_only=True, allow_null=True)

    class Meta:
        model = ScheduledRun
        fields = ["planned_at", "decided_at", "outcome", "why", "job"]
        read_only_fields = fields


class _WithZone(serializers.DateTimeField):
    """A time without its offset from UTC is not taken for one of the server's."""

    def enforce_timezone(self, value: Any) -> Any:
        if value.tzinfo is None:
            raise serializers.ValidationError(
                "say the zone, too: 2026-03-01T06:00:00+01:00, or Z for UTC"
            )
        return super().enforce_timezone(value)


class ScheduleSubmission(Submission):
    """A job as it is submitted, and when: `at`, or `cron`. One that begins with a savepoint names
    it in its configuration (execution.state-recovery.path)."""

    savepoint_path = claim_mode = allow_non_restored_state = beside = None  # type: ignore[assignment]

    at = _WithZone(required=False, default=None, help_text="ISO 8601, with its offset from UTC")
    cron = serializers.CharField(
        required=False, default="", help_text="minute, hour, day of month, month, day of week"
    )
    time_zone = serializers.CharField(
        required=False, default="UTC", help_text="of `cron`, e.g. Europe/Berlin"
    )
    grace = serializers.CharField(
        required=False,
        default=timetables.DEFAULT_GRACE,
        help_text="how late it may start when no JobManager was there at its time",
    )


@extend_schema_view(
    list=extend_schema(summary="Schedules, newest first"),
    retrieve=extend_schema(summary="One schedule"),
    destroy=extend_schema(summary="Delete it; jobs that it has started stay"),
)
class ScheduleViewSet(
    mixins.ListModelMixin,
    mixins.RetrieveModelMixin,
    mixins.DestroyModelMixin,
    GenericViewSet[Schedule],
):
    queryset = Schedule.objects.select_related("team")
    serializer_class = ScheduleSerializer

    def get_queryset(self) -> QuerySet[Schedule]:
        return of_rows.of_visible(super().get_queryset(), self.request.user)

    def get_permissions(self) -> Any:
        own: list[BasePermission] = [permissions.MaySubmit()] if self.action == "create" else []
        return [*super().get_permissions(), *own]

    def _to_steer(self) -> Schedule:
        row = self.get_object()
        permissions.to_operate_of(self.request, row.team)
        return row

    def get_parsers(self) -> list[Any]:
        return [MultiPartParser(), FormParser(), JSONParser()]

    @extend_schema(
        summary="Have a job start at a time, or again and again",
        request={
            "multipart/form-data": ScheduleSubmission,
            "application/json": ScheduleSubmission,
        },
        responses={201: ScheduleSerializer},
    )
    def create(self, request: Request) -> Response:
        submission = ScheduleSubmission(data=request.data)
        submission.is_valid(raise_exception=True)
        values = submission.validated_data
        team = permissions.team_named(request, values["team"])
        permissions.to_submit(request, team, brings_code="file" in values)
        row = schedules.create(
            values["name"],
            submission.entry(),
            values["arguments"],
            values["parallelism"],
            values["configuration"],
            user_of(request),
            **{name: values[name] for name in ("at", "cron", "time_zone", "grace")},
            team=team,
        )
        audit.record(request, "schedule.create", row, when=row.when, team=str(team or ""))
        return Response(ScheduleSerializer(row).data, status=status.HTTP_201_CREATED)

    def perform_destroy(self, instance: Schedule) -> None:
        permissions.to_operate_of(self.request, instance.team)
        audit.record(self.request, "schedule.delete", instance)
        schedules.delete(instance, user_of(self.request))

    @extend_schema(summary="Let its times pass", request=None, responses=ScheduleSerializer)
    @action(detail=True, methods=["post"])
    def pause(self, request: Request, pk: str) -> Response:
        row = schedules.pause(self._to_steer(), user_of(request))
        audit.record(request, "schedule.pause", row)
        return self._answer(row)

    @extend_schema(
        summary="Go on with the next time to come", request=None, responses=ScheduleSerializer
    )
    @action(detail=True, methods=["post"])
    def resume(self, request: Request, pk: str) -> Response:
        row = self.get_object()
        permissions.to_submit(request, row.team)  # it leads to code that runs
        row = schedules.resume(row, user_of(request))
        audit.record(request, "schedule.resume", row)
        return self._answer(row)

    @extend_schema(
        summary="What became of its times, newest first",
        responses=ScheduledRunSerializer(many=True),
    )
    @action(detail=True)
    def runs(self, request: Request, pk: str) -> Response:
        rows: QuerySet[Any] = self.get_object().runs.all()
        page: Any = self.paginate_queryset(rows)
        return self.get_paginated_response(ScheduledRunSerializer(page, many=True).data)

    def _answer(self, row: Schedule) -> Response:
        return Response(ScheduleSerializer(row).data)
