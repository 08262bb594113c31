"""The overview."""

from __future__ import annotations

from django.http import HttpRequest, HttpResponse

from dashboard import access
from dashboard.views import live


@access.page
def show(request: HttpRequest) -> HttpResponse:
    return live.show(request, "overview", "dashboard/overview/page.html")
