"""/api/jobs/<id>/versions/, .../upgrades/ and .../rescale/: what a job was and is made of, and its
way from one version to another."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from django.db.models import QuerySet
from drf_spectacular.utils import OpenApiParameter, extend_schema, extend_schema_view
from rest_framework import serializers, status
from rest_framework.exceptions import NotFound
from rest_framework.generics import ListAPIView, RetrieveAPIView
from rest_framework.parsers import FormParser, JSONParser, MultiPartParser
from rest_framework.request import Request
from rest_framework.response import Response
from rest_framework.views import APIView

from jobs import artifacts, audit, upgrades, versions
from jobs.api import permissions
from jobs.api.savepoints import of_job, user_of, visible_job
from jobs.api.serializers import MaskedConfiguration, ShownArguments
from jobs.models import Job, JobVersion, Upgrade


class VersionSerializer(serializers.ModelSerializer[JobVersion]):
    current = serializers.SerializerMethodField(help_text="what the job is now")
    arguments = ShownArguments()
    configuration = MaskedConfiguration()

    class Meta:
        model = JobVersion
        fields = [
            *("number", "current", "entry_name", "artifact_sha256", "arguments", "parallelism"),
            *("configuration", "reason", "created_by_name", "created_at"),
        ]
        read_only_fields = fields

    def get_current(self, version: JobVersion) -> bool:
        return version.job.version == version.number


class UpgradeSerializer(serializers.ModelSerializer[Upgrade]):
    before = serializers.IntegerField(source="before.number", read_only=True)
    after = serializers.IntegerField(source="after.number", read_only=True)
    savepoint_path = serializers.CharField(source="savepoint.path", read_only=True)

    class Meta:
        model = Upgrade
        fields = [
            *("id", "job", "state", "before", "after", "savepoint", "savepoint_path", "failure"),
            *("allow_non_restored_state", "requested_by_name", "created_at"),
            *("state_changed_at", "ended_at", "deadline"),
        ]
        read_only_fields = fields


class DifferenceSerializer(serializers.Serializer[Any]):
    """What differs; null where nothing does."""

    code = serializers.CharField(help_text="as `diff -u` tells it; empty for equal programs")
    arguments = serializers.ListField(
        child=serializers.ListField(child=serializers.CharField()), allow_null=True
    )
    parallelism = serializers.ListField(child=serializers.IntegerField(), allow_null=True)
    configuration = serializers.DictField(
        child=serializers.ListField(child=serializers.CharField(allow_null=True)),
        help_text="key: [before, after], null = not set; values of secrets are masked",
    )


class Rescale(serializers.Serializer[Any]):
    parallelism = serializers.IntegerField(min_value=1)
    reason = serializers.CharField(required=False, default="", max_length=500)


class UpgradeRequest(serializers.Serializer[Any]):
    """The new version; what is left out stays as it is."""

    file = serializers.FileField(required=False, help_text="another program")
    example = serializers.CharField(required=False, help_text="see /api/examples/")
    version = serializers.IntegerField(
        required=False, min_value=1, help_text="begin from this earlier version instead"
    )
    arguments = serializers.ListField(
        child=serializers.CharField(allow_blank=True), required=False, help_text="in place of all"
    )
    parallelism = serializers.IntegerField(required=False, min_value=1)
    configuration = serializers.JSONField(
        required=False, help_text='{"key": "value"} to set, {"key": null} to take out'
    )
    reason = serializers.CharField(required=False, default="", max_length=500)
    directory = serializers.CharField(
        required=False, default="", help_text="where the savepoint goes; default: the job's"
    )
    allow_non_restored_state = serializers.BooleanField(
        required=False,
        default=False,
        help_text="go on though state belongs to no operator of the new program",
    )

    def validate_configuration(self, value: object) -> dict[str, str | None]:
        if not isinstance(value, dict) or any(isinstance(v, dict | list) for v in value.values()):
            raise serializers.ValidationError('give an object like {"key": "value"}')
        return {str(key): None if item is None else str(item) for key, item in value.items()}

    def validate(self, attrs: dict[str, Any]) -> dict[str, Any]:
        if "file" in attrs and "example" in attrs:
            raise serializers.ValidationError("give either a file or the name of an example")
        if attrs.get("example", "") not in {"", *artifacts.examples()}:
            raise serializers.ValidationError(f"there is no example {attrs['example']!r}")
        return attrs

    def entry(self) -> Path | tuple[bytes, str] | None:
        values = self.validated_data
        if "example" in values:
            return artifacts.examples()[values["example"]]
        return (values["file"].read(), values["file"].name) if "file" in values else None


@extend_schema_view(get=extend_schema(summary="A job's versions, newest first"))
class JobVersions(ListAPIView[JobVersion]):
    serializer_class = VersionSerializer
    queryset = JobVersion.objects.select_related("job")

    def get_queryset(self) -> QuerySet[JobVersion]:
        return of_job(super().get_queryset(), self)


class VersionDifference(APIView):
    @extend_schema(
        summary="How two of its versions differ",
        parameters=[OpenApiParameter("before", int), OpenApiParameter("after", int)],
        responses=DifferenceSerializer,
    )
    def get(self, request: Request, job_id: str) -> Response:
        """`after`: the current version unless given; `before`: the one before that."""
        job = visible_job(request, job_id)
        after = _number(request, "after", job.version)
        before = _number(request, "before", after - 1)
        found = versions.difference(_version(job, before), _version(job, after))
        return Response(DifferenceSerializer(found).data)


@extend_schema_view(
    get=extend_schema(summary="A job's upgrades, newest first"),
    post=extend_schema(
        summary="Have a running job go on as another version, through a savepoint",
        request={"multipart/form-data": UpgradeRequest, "application/json": UpgradeRequest},
        responses={202: UpgradeSerializer},
    ),
)
class JobUpgrades(ListAPIView[Upgrade]):
    serializer_class = UpgradeSerializer
    queryset = Upgrade.objects.select_related("before", "after", "savepoint")
    parser_classes = [MultiPartParser, FormParser, JSONParser]

    def get_queryset(self) -> QuerySet[Upgrade]:
        return of_job(super().get_queryset(), self)

    def post(self, request: Request, job_id: str) -> Response:
        """It runs code, as a submission does."""
        permissions.to_develop(request, visible_job(request, job_id))
        asked = UpgradeRequest(data=request.data)
        asked.is_valid(raise_exception=True)
        values = asked.validated_data
        wish = {
            name: values.get(name)
            for name in ("version", "arguments", "parallelism", "reason", "directory")
        }
        wish["settings"] = values.get("configuration")
        wish["allow_non_restored_state"] = values["allow_non_restored_state"]
        job = visible_job(request, job_id)
        permissions.to_develop(request, job, brings_code="file" in values)
        return _asked(request, job, entry=asked.entry(), **wish)


@extend_schema_view(get=extend_schema(summary="One of a job's upgrades"))
class JobUpgrade(RetrieveAPIView[Upgrade]):
    serializer_class = UpgradeSerializer
    queryset = JobUpgrades.queryset

    def get_queryset(self) -> QuerySet[Upgrade]:
        return of_job(super().get_queryset(), self)


class JobRescale(APIView):
    @extend_schema(
        summary="Have a running job go on with another parallelism, through a savepoint",
        request=Rescale,
        responses={202: UpgradeSerializer},
    )
    def post(self, request: Request, job_id: str) -> Response:
        job = visible_job(request, job_id)
        permissions.to_operate(request, job)
        asked = Rescale(data=request.data)
        asked.is_valid(raise_exception=True)
        return _asked(request, job, **asked.validated_data)


def _asked(request: Request, job: Job, **wish: Any) -> Response:
    try:
        upgrade = upgrades.ask(job, user_of(request), **wish)
    except upgrades.NoSuchVersion as error:
        raise NotFound(str(error)) from error
    audit.record(
        request, "job.upgrade", job, version=upgrade.after.number, reason=wish.get("reason")
    )
    return Response(UpgradeSerializer(upgrade).data, status=status.HTTP_202_ACCEPTED)


def _version(job: Job, number: int) -> JobVersion:
    try:
        return upgrades.of(job, number)
    except upgrades.NoSuchVersion as error:
        raise NotFound(str(error)) from error


def _number(request: Request, name: str, default: int) -> int:
    text = request.query_params.get(name, str(default))
    if not text.isdecimal() or len(text) > 9:
        raise serializers.ValidationError({name: f"{text!r} is no number of a version"})
    return int(text)
