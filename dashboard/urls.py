"""Addresses of the pages."""

from __future__ import annotations

from django.urls import path, register_converter

from dashboard import cluster_urls
from dashboard.views import (
    actions,
    job,
    log,
    savepoints,
    streams,
    threads,
    versions,
)


class JobId:
    """32 hex digits, as Flink's."""

    regex = "[0-9a-f]{32}"

    def to_python(self, value: str) -> str:
        return value

    def to_url(self, value: str) -> str:
        return value


register_converter(JobId, "job")

app_name = "dashboard"
urlpatterns = [
    *cluster_urls.urlpatterns,
    path("jobs/<job:job_id>/", job.show, name="job"),
    path("jobs/<job:job_id>/live/<slug:tab>/", streams.job, name="job-live"),
    path("jobs/<job:job_id>/series/", job.series, name="series"),
    path("jobs/<job:job_id>/metrics/series/", job.metrics, name="metric-series"),
    path("jobs/<job:job_id>/vertices/<job:vertex_id>/", job.vertex, name="vertex"),
    path("jobs/<job:job_id>/vertices/<job:vertex_id>/<slug:tab>/", job.vertex, name="vertex-tab"),
    path(
        "jobs/<job:job_id>/vertices/<job:vertex_id>/live/<slug:tab>/",
        streams.vertex,
        name="vertex-live",
    ),
    path(
        "jobs/<job:job_id>/vertices/<job:vertex_id>/flamegraph/take/",
        job.take_flame_graph,
        name="flamegraph-take",
    ),
    path("jobs/<job:job_id>/savepoints/take/", savepoints.take, name="savepoint-take"),
    path("jobs/<job:job_id>/savepoints/compare/", savepoints.compare, name="savepoint-compare"),
    path("jobs/<job:job_id>/savepoints/<job:savepoint_id>/", savepoints.show, name="savepoint"),
    path(
        "jobs/<job:job_id>/savepoints/<job:savepoint_id>/verify/",
        savepoints.verify,
        name="savepoint-verify",
    ),
    path(
        "jobs/<job:job_id>/savepoints/<job:savepoint_id>/start/",
        savepoints.start,
        name="savepoint-start",
    ),
    path(
        "jobs/<job:job_id>/savepoints/<job:savepoint_id>/dispose/",
        savepoints.dispose,
        name="savepoint-dispose",
    ),
    path("jobs/<job:job_id>/checkpoints/take/", savepoints.checkpoint, name="checkpoint-take"),
    path("jobs/<job:job_id>/versions/", versions.show, name="versions"),
    path("jobs/<job:job_id>/versions/upgrade/", versions.upgrade, name="upgrade"),
    path("jobs/<job:job_id>/act/<slug:verb>/", actions.act, name="act"),
    path("jobs/<job:job_id>/threads/", threads.job, name="job-threads"),
    path("jobs/<job:job_id>/log/", log.show, name="log"),
    path("jobs/<job:job_id>/log/<int:number>/lines/", log.lines, name="log-lines"),
    path("jobs/<job:job_id>/log/<int:number>/file/", log.download, name="log-file"),
    path("jobs/<job:job_id>/checkpoints/<int:checkpoint_id>/", job.checkpoint, name="checkpoint"),
    path("jobs/<job:job_id>/<slug:tab>/", job.show, name="job-tab"),
]
