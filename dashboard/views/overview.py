"""The overview."""

from __future__ import annotations

from django.http import HttpRequest, HttpResponse
from django.shortcuts import render

from dashboard import access, pages


@access.page
def show(request: HttpRequest) -> HttpResponse:
    snapshot = pages.overview()
    context = {"html": snapshot.html(), "snapshot": snapshot}
    return render(request, "dashboard/overview/page.html", context)
