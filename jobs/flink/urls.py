"""Every route of Flink's API. No path of it ends in a slash, and every page's does: so both can be
served at the root. Below a prefix, nothing else is there: `prefixed`."""

from __future__ import annotations

from django.urls import re_path

from jobs.flink import answers, cluster_urls, job_urls

#: How its paths begin.
_FIRST = (
    *("jobs", "jobmanager", "taskmanagers", "jars", "applications", "datasets", "cluster"),
    *("overview", "config", "savepoint-disposal"),
)

urlpatterns = [
    *job_urls.urlpatterns,
    *cluster_urls.urlpatterns,
    re_path(rf"^(?:{'|'.join(_FIRST)})(?:/.*)?(?<!/)$", answers.Unknown.as_view()),
]

#: Of `/v1/`.
prefixed = [*urlpatterns, re_path(r"", answers.Unknown.as_view())]
