"""Flink's routes of jobs, the fixed ones before those with an id."""

from __future__ import annotations

from typing import Any

from django.urls import re_path
from django.urls.resolvers import URLPattern

from jobs.flink import (
    checkpoint_triggers,
    checkpoints,
    failures,
    job_details,
    job_lists,
    job_processes,
    job_vertices,
    rescales,
    savepoints,
    steering,
    subtasks,
    vertex_metrics,
)

_JOB = r"jobs/(?P<job_id>[^/]+)"
_VERTEX = rf"{_JOB}/vertices/(?P<vertex_id>[^/]+)"
_SUBTASK = rf"{_VERTEX}/subtasks/(?P<subtask>[^/]+)"
_ATTEMPT = rf"{_SUBTASK}/attempts/(?P<attempt>[^/]+)"
_CHECKPOINT = rf"{_JOB}/checkpoints/details/(?P<checkpoint_id>[^/]+)"
_TRIGGER = r"(?P<trigger_id>[^/]+)"

_VIEWS: tuple[tuple[str, Any], ...] = (
    ("jobs", job_lists.Jobs),
    ("jobs/overview", job_lists.Overview),
    ("jobs/metrics", job_lists.Metrics),
    (_JOB, job_details.Details),
    (f"{_JOB}/status", job_details.Status),
    (f"{_JOB}/plan", job_details.Plan),
    (f"{_JOB}/config", job_details.Config),
    (f"{_JOB}/accumulators", job_details.Accumulators),
    (f"{_JOB}/metrics", job_details.Metrics),
    (f"{_JOB}/execution-result", job_details.Result),
    (f"{_JOB}/exceptions", failures.Exceptions),
    (f"{_JOB}/clientHeartbeat", steering.Heartbeat),
    (f"{_JOB}/yarn-cancel", steering.YarnCancel),
    (f"{_JOB}/yarn-stop", steering.YarnStop),
    (f"{_JOB}/rescaling", steering.Rescaling),
    (f"{_JOB}/rescaling/{_TRIGGER}", steering.RescalingStatus),
    (f"{_JOB}/resource-requirements", rescales.Requirements),
    (f"{_JOB}/rescales/config", rescales.Config),
    (f"{_JOB}/rescales/history", rescales.History),
    (f"{_JOB}/rescales/overview", rescales.Overview),
    (f"{_JOB}/rescales/summary", rescales.Summary),
    (rf"{_JOB}/rescales/details/(?P<rescale_id>[^/]+)", rescales.Details),
    (f"{_JOB}/savepoints", savepoints.Savepoints),
    (f"{_JOB}/savepoints/{_TRIGGER}", savepoints.Status),
    (f"{_JOB}/stop", savepoints.Stop),
    ("savepoint-disposal", savepoints.Disposal),
    (f"savepoint-disposal/{_TRIGGER}", savepoints.DisposalStatus),
    (f"{_JOB}/checkpoints", checkpoint_triggers.Checkpoints),
    (f"{_JOB}/checkpoints/config", checkpoints.Config),
    (_CHECKPOINT, checkpoints.Details),
    (rf"{_CHECKPOINT}/subtasks/(?P<vertex_id>[^/]+)", checkpoints.Subtasks),
    (f"{_JOB}/checkpoints/{_TRIGGER}", checkpoint_triggers.Status),
    (f"{_JOB}/jobmanager/config", job_processes.Config),
    (f"{_JOB}/jobmanager/environment", job_processes.Environment),
    (f"{_JOB}/jobmanager/log-url", job_processes.LogUrl),
    (rf"{_JOB}/taskmanagers/(?P<taskmanager_id>[^/]+)/log-url", job_processes.LogUrl),
    (_VERTEX, job_vertices.Details),
    (f"{_VERTEX}/accumulators", job_vertices.Accumulators),
    (f"{_VERTEX}/backpressure", job_vertices.BackPressure),
    (f"{_VERTEX}/flamegraph", job_vertices.FlameGraph),
    (f"{_VERTEX}/watermarks", job_vertices.Watermarks),
    (f"{_VERTEX}/subtasktimes", job_vertices.Times),
    (f"{_VERTEX}/taskmanagers", job_vertices.TaskManagers),
    (f"{_VERTEX}/metrics", vertex_metrics.Metrics),
    (f"{_VERTEX}/jm-operator-metrics", vertex_metrics.CoordinatorMetrics),
    (f"{_VERTEX}/subtasks/metrics", vertex_metrics.Aggregated),
    (f"{_VERTEX}/subtasks/accumulators", subtasks.Accumulators),
    (_SUBTASK, subtasks.Subtask),
    (f"{_SUBTASK}/metrics", vertex_metrics.SubtaskMetrics),
    (_ATTEMPT, subtasks.Execution),
    (f"{_ATTEMPT}/accumulators", subtasks.ExecutionAccumulators),
)

urlpatterns: list[URLPattern] = [re_path(rf"^{path}$", view.as_view()) for path, view in _VIEWS]
