"""Flink's routes of the cluster: TaskManagers, JobManager, jars, applications."""

from __future__ import annotations

from typing import Any

from django.urls import re_path
from django.urls.resolvers import URLPattern

from jobs.flink import (
    cluster_applications,
    cluster_jobmanager,
    cluster_overview,
    cluster_taskmanagers,
    jars,
)

_JAR = r"jars/(?P<jar_id>[^/]+)"
_APPLICATION = r"applications/(?P<application_id>[^/]+)"
_TASKMANAGER = r"taskmanagers/(?P<taskmanager_id>[^/]+)"
_FILE = r"(?P<file_name>[^/]+)"

_VIEWS: tuple[tuple[str, Any], ...] = (
    ("config", cluster_overview.Config),
    ("overview", cluster_overview.Overview),
    ("cluster", cluster_overview.Cluster),
    ("datasets", cluster_overview.DataSets),
    (r"datasets/delete/(?P<trigger_id>[^/]+)", cluster_overview.DataSetDeletion),
    (r"datasets/(?P<dataset_id>[^/]+)", cluster_overview.DataSet),
    ("applications/overview", cluster_applications.Overview),
    (_APPLICATION, cluster_applications.Application),
    (f"{_APPLICATION}/cancel", cluster_applications.Cancel),
    (f"{_APPLICATION}/exceptions", cluster_applications.Exceptions),
    (f"{_APPLICATION}/jobmanager/config", cluster_applications.Config),
    ("jars", jars.Jars),
    ("jars/upload", jars.Uploading),
    (_JAR, jars.Jar),
    (f"{_JAR}/plan", jars.Plan),
    (f"{_JAR}/run", jars.Run),
    (f"{_JAR}/run-application", jars.RunApplication),
    ("jobmanager/config", cluster_jobmanager.Config),
    ("jobmanager/environment", cluster_jobmanager.Environment),
    ("jobmanager/metrics", cluster_jobmanager.Metrics),
    ("jobmanager/log", cluster_jobmanager.Log),
    ("jobmanager/logs", cluster_jobmanager.Logs),
    (f"jobmanager/logs/{_FILE}", cluster_jobmanager.LogFile),
    ("jobmanager/stdout", cluster_jobmanager.Stdout),
    ("jobmanager/thread-dump", cluster_jobmanager.ThreadDump),
    ("jobmanager/profiler", cluster_jobmanager.Profiler),
    (f"jobmanager/profiler/{_FILE}", cluster_jobmanager.ProfilerFile),
    ("taskmanagers", cluster_taskmanagers.TaskManagers),
    ("taskmanagers/metrics", cluster_taskmanagers.Aggregated),
    (_TASKMANAGER, cluster_taskmanagers.Details),
    (f"{_TASKMANAGER}/metrics", cluster_taskmanagers.Metrics),
    (f"{_TASKMANAGER}/log", cluster_taskmanagers.Log),
    (f"{_TASKMANAGER}/logs", cluster_taskmanagers.Logs),
    (f"{_TASKMANAGER}/logs/{_FILE}", cluster_taskmanagers.LogFile),
    (f"{_TASKMANAGER}/stdout", cluster_taskmanagers.Stdout),
    (f"{_TASKMANAGER}/thread-dump", cluster_taskmanagers.ThreadDump),
    (f"{_TASKMANAGER}/profiler", cluster_jobmanager.Profiler),
    (f"{_TASKMANAGER}/profiler/{_FILE}", cluster_jobmanager.ProfilerFile),
)

urlpatterns: list[URLPattern] = [re_path(rf"^{path}$", view.as_view()) for path, view in _VIEWS]
