"""/api/jobs/<id>/figures/, .../history/, .../vertices/ and .../lag/: what a job measures."""

from __future__ import annotations

from datetime import datetime, timedelta
from typing import Any

from django.utils import timezone
from drf_spectacular.utils import extend_schema
from rest_framework import serializers
from rest_framework.request import Request
from rest_framework.response import Response
from rest_framework.views import APIView

from jobs import figures, history, vertices
from jobs.api.savepoints import visible_job
from jobs.models import Job

#: Names that one request may ask the history of.
NAMES = 50


class PartitionLag(serializers.Serializer[Any]):
    topic = serializers.CharField()
    partition = serializers.CharField()
    lag = serializers.IntegerField(allow_null=True, help_text="records that are not read yet")
    arriving = serializers.FloatField(allow_null=True, help_text="records per second")
    read = serializers.FloatField(allow_null=True, help_text="records per second")
    trend = serializers.FloatField(allow_null=True, help_text="how lag grows, per second")
    catch_up = serializers.FloatField(
        allow_null=True, help_text="seconds until it is caught up; null: it cannot be said"
    )


class Lag(serializers.Serializer[Any]):
    lag = serializers.IntegerField(allow_null=True, help_text="of all partitions; null: not known")
    at = serializers.DateTimeField(allow_null=True, help_text="when it was reported last")
    partitions = PartitionLag(many=True)


class LagView(APIView):
    @extend_schema(summary="How far it is behind, by partition", responses=Lag)
    def get(self, request: Request, job_id: str) -> Response:
        job = visible_job(request, job_id)
        rows = _partitions(job)
        known = [row["lag"] for row in rows if row["lag"] is not None]
        answer = {
            "lag": sum(known) if known else None,
            "at": job.progressed_at,
            "partitions": rows,
        }
        return Response(Lag(answer).data)


def _partitions(job: Job) -> list[dict[str, Any]]:
    trends = figures.lag_trend(job)
    topics = {**{topic: {} for topic in trends}, **job.lag}
    found = []
    for topic, reported in sorted(topics.items()):
        of_topic = trends.get(topic, {})
        for partition in sorted({*reported, *of_topic}, key=_by_number):
            known = of_topic.get(partition, {})
            row = {name: known.get(name) for name in ("arriving", "read", "trend", "catch_up")}
            lag = reported.get(partition, known.get("lag"))
            found.append({"topic": topic, "partition": str(partition), "lag": lag, **row})
    return found


def _by_number(partition: str) -> tuple[int, str]:
    text = str(partition)
    return (int(text) if text.isdecimal() else -1, text)


class VertexFigures(serializers.Serializer[Any]):
    id = serializers.CharField()
    name = serializers.CharField()
    parallelism = serializers.IntegerField()
    subtasks = serializers.ListField(
        child=serializers.DictField(child=serializers.FloatField()), help_text="by Flink's names"
    )


class JobFigures(serializers.Serializer[Any]):
    job = serializers.DictField(help_text="by Flink's names, as lastCheckpointDuration")
    vertices = VertexFigures(many=True)


class FiguresView(APIView):
    @extend_schema(
        summary="The latest figures of the job and of the subtasks of its vertices",
        responses=JobFigures,
    )
    def get(self, request: Request, job_id: str) -> Response:
        job = visible_job(request, job_id)
        found = figures.of_vertices(job)
        rows = [
            {
                "id": vertex.id,
                "name": vertex.name,
                "parallelism": vertex.parallelism,
                "subtasks": found.get(vertex.id, []),
            }
            for vertex in vertices.of(job.plan)
        ]
        return Response(JobFigures({"job": figures.of_job(job), "vertices": rows}).data)


class HistoryQuery(serializers.Serializer[Any]):
    name = serializers.ListField(
        child=serializers.CharField(max_length=history.LONGEST_NAME),
        required=False,
        max_length=NAMES,
        help_text="figures to tell; without any, `names` says which there are",
    )
    since = serializers.DateTimeField(required=False, help_text="default: an hour ago")
    until = serializers.DateTimeField(required=False, help_text="default: now")
    points = serializers.IntegerField(
        required=False, default=300, min_value=1, max_value=2000, help_text="about so many"
    )

    def validate(self, attrs: dict[str, Any]) -> dict[str, Any]:
        until: datetime = attrs.setdefault("until", timezone.now())
        try:
            since: datetime = attrs.setdefault("since", until - timedelta(hours=1))
        except OverflowError:
            raise serializers.ValidationError({"until": "too long ago"}) from None
        if since >= until:
            raise serializers.ValidationError({"since": "lies behind `until`"})
        return attrs


class HistoryAnswer(serializers.Serializer[Any]):
    names = serializers.ListField(child=serializers.CharField(), help_text="which there are")
    series = serializers.DictField(
        child=serializers.ListField(child=serializers.ListField(child=serializers.FloatField())),
        help_text="{name: [[milliseconds since 1970, smallest, mean, largest], ...]}",
    )


class HistoryView(APIView):
    @extend_schema(
        summary="Figures over time: seconds of an hour, minutes of days, hours of a year",
        parameters=[HistoryQuery],
        responses=HistoryAnswer,
    )
    def get(self, request: Request, job_id: str) -> Response:
        job = visible_job(request, job_id)
        query = HistoryQuery(data=request.query_params)
        query.is_valid(raise_exception=True)
        asked = query.validated_data
        series = history.series(
            job.pk, asked.get("name", []), asked["since"], asked["until"], asked["points"]
        )
        return Response({"names": history.names(job.pk), "series": series})
