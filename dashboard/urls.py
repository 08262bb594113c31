"""Addresses of the pages."""

from __future__ import annotations

from django.urls import path, register_converter

from dashboard.views import actions, job, jobs, log, overview, streams, submit


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
    path("", overview.show, name="overview"),
    path("live/", streams.overview, name="overview-live"),
    path("jobs/", jobs.show, name="jobs"),
    path("submit/", submit.show, name="submit"),
    path("jobs/<job:job_id>/", job.show, name="job"),
    path("jobs/<job:job_id>/live/<slug:tab>/", streams.job, name="job-live"),
    path("jobs/<job:job_id>/series/", job.series, name="series"),
    path("jobs/<job:job_id>/act/<slug:verb>/", actions.act, name="act"),
    path("jobs/<job:job_id>/log/", log.show, name="log"),
    path("jobs/<job:job_id>/log/<int:number>/lines/", log.lines, name="log-lines"),
    path("jobs/<job:job_id>/log/<int:number>/file/", log.download, name="log-file"),
    path("jobs/<job:job_id>/checkpoints/<int:checkpoint_id>/", job.checkpoint, name="checkpoint"),
    path("jobs/<job:job_id>/<slug:tab>/", job.show, name="job-tab"),
]
