"""Flink's routes of the cluster: TaskManagers, JobManager, jars, applications."""

from __future__ import annotations

from django.urls.resolvers import URLPattern

urlpatterns: list[URLPattern] = []
