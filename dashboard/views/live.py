"""The pages that bring themselves up to date and are not of one job, and the stream behind them."""

from __future__ import annotations

from functools import partial
from typing import Any

from asgiref.sync import sync_to_async
from django.http import Http404, HttpRequest, HttpResponse, HttpResponseBase
from django.shortcuts import render

from dashboard import clusterpages, scope
from dashboard import live as feeds
from dashboard.listing import Query
from dashboard.views import streams

#: Seconds between two readings: these pages are of many jobs.
TICK = 2.0


def show(
    request: HttpRequest, name: str, template: str, query: Query | None = None, **more: Any
) -> HttpResponse:
    """The page `name` of `clusterpages.PAGES`; `more` is for what stands outside its regions."""
    asked = query or Query.of(request, clusterpages.PAGES[name].names)
    try:
        snapshot = clusterpages.snapshot(name, scope.of(request.user), asked)
    except feeds.Gone:
        raise Http404("there is nothing here") from None
    context = {
        "html": snapshot.html(),
        "snapshot": snapshot,
        "title": snapshot.title,
        "live_address": clusterpages.address(name, asked),
        "query": asked,
        **more,
    }
    return render(request, template, context)


async def stream(request: HttpRequest, name: str) -> HttpResponseBase:
    """What changes on the page `name`, for all with the same scope and filters by one reader."""
    page = clusterpages.PAGES.get(name)
    if page is None:
        return HttpResponse("no such page\n", status=404, content_type="text/plain")
    user = await request.auser()
    mine = await sync_to_async(scope.of)(user)
    query = Query.of(request, page.names)
    take = partial(clusterpages.snapshot, name, mine, query)
    return await streams.answer(request, (name, mine, query), take, tick=TICK)
