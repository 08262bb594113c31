"""The points of the charts of the cluster and its processes."""

from __future__ import annotations

from typing import Any

from django.http import HttpRequest, JsonResponse
from django.shortcuts import get_object_or_404
from django.utils import timezone

from dashboard import access, processcharts
from jobs import history, jobmanagers
from jobs.models import TaskManager


@access.page
def cluster(request: HttpRequest) -> JsonResponse:
    return _answer(request, history.CLUSTER, processcharts.CLUSTER)


@access.page
def taskmanager(request: HttpRequest, name: str) -> JsonResponse:
    row = get_object_or_404(TaskManager, name=name)
    return _answer(request, history.of_taskmanager(row.name), processcharts.TASKMANAGER)


@access.page
def jobmanager(request: HttpRequest) -> JsonResponse:
    """Of the one that leads."""
    row = jobmanagers.leader()
    subject = history.of_jobmanager(row.name if row is not None else "")
    return _answer(request, subject, processcharts.JOBMANAGER)


def _answer(request: HttpRequest, subject: str, charts: Any) -> JsonResponse:
    name = request.GET.get("range", "")
    return JsonResponse(processcharts.answer(subject, charts, name, timezone.now()))
