"""The streams behind the live pages, and the same by polling (`?poll`) where streams fail."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import Any

from asgiref.sync import sync_to_async
from django.http import HttpRequest, HttpResponse, HttpResponseBase, JsonResponse
from django.http.response import StreamingHttpResponse

from dashboard import live, pages
from dashboard.regions import Snapshot


async def overview(request: HttpRequest) -> HttpResponseBase:
    return await _answer(request, "overview", pages.overview, tick=2.0)


async def job(request: HttpRequest, job_id: str, tab: str) -> HttpResponseBase:
    """`tab` names a page of the job; "head" or one without live regions has the head alone."""
    known = pages.TABS.get(tab)
    regions = known.regions if known else ()
    key = (job_id, tab if regions else "head")
    return await _answer(request, key, partial(pages.job_again, job_id, regions))


async def _answer(
    request: HttpRequest, key: Any, take: Callable[[], Snapshot], tick: float = live.TICK
) -> HttpResponseBase:
    user = await request.auser()
    if not user.is_authenticated:
        return HttpResponse("log in again\n", status=401, content_type="text/plain")
    if "poll" in request.GET:
        return await _once(take)
    answer = StreamingHttpResponse(live.events(key, take, tick), content_type="text/event-stream")
    answer["Cache-Control"] = "no-store"
    answer["X-Accel-Buffering"] = "no"
    return answer


async def _once(take: Callable[[], Snapshot]) -> HttpResponse:
    try:
        snapshot = await sync_to_async(take)()
    except live.Gone:
        return HttpResponse("there is nothing here any more\n", status=410)
    answer = JsonResponse(live.payload(snapshot, snapshot.changed({})))
    answer["Cache-Control"] = "no-store"
    return answer
