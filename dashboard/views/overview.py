"""The overview."""

from __future__ import annotations

from django.http import HttpRequest, HttpResponse
from django.urls import reverse

from dashboard import access, processcharts, series
from dashboard.views import live


@access.page
def show(request: HttpRequest) -> HttpResponse:
    return live.show(
        request,
        "overview",
        "dashboard/overview/page.html",
        charts=processcharts.CLUSTER,
        ranges=series.RANGES,
        address=reverse("dashboard:overview-charts"),
    )
