"""JobManagers: who leads, since when, how the cluster is set up."""

from __future__ import annotations

from django.http import HttpRequest, HttpResponse
from django.shortcuts import render
from django.urls import reverse

from dashboard import access, environment, processcharts, series
from dashboard.views import live


@access.page
def show(request: HttpRequest) -> HttpResponse:
    return live.show(
        request,
        "jobmanager",
        "dashboard/jobmanager/page.html",
        tab="metrics",
        charts=processcharts.JOBMANAGER,
        ranges=series.RANGES,
        address=reverse("dashboard:jobmanager-charts"),
    )


@access.page
def configuration(request: HttpRequest) -> HttpResponse:
    context = {"tab": "configuration", "settings": environment.settings_shown()}
    return render(request, "dashboard/jobmanager/configuration.html", context)


@access.page
def show_environment(request: HttpRequest) -> HttpResponse:
    context = {"tab": "environment", "groups": environment.of_this_process()}
    return render(request, "dashboard/jobmanager/environment.html", context)
