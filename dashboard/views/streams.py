"""The streams behind the live pages, and the same by polling (`?poll`) where streams fail."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import Any

from asgiref.sync import sync_to_async
from django.http import HttpRequest, HttpResponse, HttpResponseBase, JsonResponse
from django.http.response import StreamingHttpResponse

from dashboard import firing, live, pages, scope
from dashboard.regions import Region
from jobs import permissions


async def job(request: HttpRequest, job_id: str, tab: str) -> HttpResponseBase:
    """`tab` names a page of the job; "head" or one without live regions has the head alone."""
    known = pages.TABS.get(tab)
    return await _job(request, job_id, known.regions if known else ())


async def vertex(request: HttpRequest, job_id: str, vertex_id: str, tab: str) -> HttpResponseBase:
    known = tab in pages.VERTEX_TABS
    return await _job(request, job_id, pages.of_vertex(vertex_id, tab) if known else ())


async def _job(request: HttpRequest, job_id: str, regions: tuple[Region, ...]) -> HttpResponseBase:
    user = await request.auser()
    if user.is_authenticated and not await sync_to_async(_may_see)(user, job_id):
        return HttpResponse("there is nothing here any more\n", status=410)
    take = partial(pages.job_again, job_id)
    return await answer(request, job_id, take, regions=pages.with_head(regions))


def _may_see(user: Any, job_id: str) -> bool:
    return permissions.visible_jobs(user).filter(pk=job_id).exists()


async def answer(
    request: HttpRequest,
    key: Any,
    take: live.Take,
    tick: float = live.TICK,
    regions: tuple[Region, ...] = (),
) -> HttpResponseBase:
    """One reader for each `key`, whoever watches which of its regions."""
    user = await request.auser()
    if not user.is_authenticated:
        return HttpResponse("log in again\n", status=401, content_type="text/plain")
    mine = await sync_to_async(scope.of)(user)
    if "poll" in request.GET:
        return await _once(partial(take, regions), partial(firing.count, mine))
    stream = live.events(key, take, tick, regions, partial(firing.counted, mine))
    response = StreamingHttpResponse(stream, content_type="text/event-stream")
    response["Cache-Control"] = "no-store"
    response["X-Accel-Buffering"] = "no"
    return response


async def _once(take: partial[Any], alerts: Callable[[], int]) -> HttpResponse:
    try:
        snapshot = await sync_to_async(take)()
        fire = await sync_to_async(alerts)()
    except live.Gone:
        return HttpResponse("there is nothing here any more\n", status=410)
    response = JsonResponse(live.payload(snapshot, snapshot.changed({}), fire))
    response["Cache-Control"] = "no-store"
    return response
