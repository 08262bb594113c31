"""Live pages: one reader per page, however many watch it, and a stream of events to each.

A `Feed` takes a snapshot every tick while somebody watches and hands it to all of them. All pages
of one job share a feed: it reads the regions that any of them shows, and each stream sends those
of its own page that changed since what that browser has. Events:

    regions   {"at", "title", "newest", "regions": {name: html}}   something changed
    beat      {"at"}                                               nothing did, and that is sure
              both with {"firing"}, how many alerts the reader has, where that is known
    gone      {}                                                   there is nothing here any more

When snapshots fail (the database is away), no beat is sent: the page then says what it shows
is old, because it is.
"""

from __future__ import annotations

import asyncio
import json
import logging
from collections import Counter
from collections.abc import AsyncGenerator, Awaitable, Callable
from contextlib import aclosing
from typing import Any

from django.db import close_old_connections

from dashboard.regions import Region, Snapshot

#: What is to be read -> the snapshot of it.
Take = Callable[[tuple[Region, ...]], Snapshot]

#: How many alerts fire that the reader may see.
Firing = Callable[[], Awaitable[int | None]]

TICK = 1.0
#: A browser hears at least a beat this often.
BEAT = 5.0
#: A stream ends after this long and the browser comes back: its login is looked at again.
STREAM_SECONDS = 300.0

log = logging.getLogger(__name__)


class Gone(Exception):
    """The page's subject does not exist any more."""


class Feed:
    """Snapshots of one subject, taken while it has watchers."""

    def __init__(self, take: Take, tick: float = TICK) -> None:
        self._take = take
        self._tick = tick
        self._latest: Snapshot | None = None
        self._gone = False
        self._news = asyncio.Condition()
        self._reader: asyncio.Task[None] | None = None
        #: Region -> how many of the watchers show it.
        self._wanted: Counter[Region] = Counter()
        self.watchers = 0

    async def watch(self, regions: tuple[Region, ...] = ()) -> AsyncGenerator[Snapshot, None]:
        """Every snapshot from now on that has these regions; a slow watcher misses some, never the
        last. Raises Gone."""
        self.watchers += 1
        self._wanted.update(regions)
        if self._reader is None:
            self._reader = asyncio.create_task(self._read())
        try:
            seen: Snapshot | None = None
            while True:
                async with self._news:
                    while not self._gone and (self._latest is seen or self._lacks(regions)):
                        await self._news.wait()
                if self._gone or self._latest is None:
                    raise Gone
                seen = self._latest
                yield seen
        finally:
            self.watchers -= 1
            self._wanted -= Counter(regions)
            if not self.watchers:
                self._reader.cancel()
                self._reader = None

    def _lacks(self, regions: tuple[Region, ...]) -> bool:
        """Whether the latest snapshot was taken before somebody wanted these."""
        known = self._latest.fragments if self._latest is not None else {}
        return any(region.name not in known for region in regions)

    async def _read(self) -> None:
        while not self._gone:
            try:
                self._latest = await asyncio.to_thread(self._take_once)
            except Gone:
                self._gone = True
            except Exception:
                log.exception("a live page could not be read; it is tried again")
            async with self._news:
                self._news.notify_all()
            await asyncio.sleep(self._tick)

    def _take_once(self) -> Snapshot:
        close_old_connections()
        try:
            return self._take(tuple(self._wanted))
        finally:
            close_old_connections()


_feeds: dict[Any, Feed] = {}


async def _unknown() -> None:
    return None


async def events(
    key: Any,
    take: Take,
    tick: float = TICK,
    regions: tuple[Region, ...] = (),
    firing: Firing = _unknown,
) -> AsyncGenerator[bytes, None]:
    """The stream of one browser that shows `regions` of the subject `key`, which `take` takes
    snapshots of; without regions, all that a snapshot has."""
    feed = _feeds.setdefault(key, Feed(take, tick))
    try:
        async with aclosing(_messages(feed, regions, firing)) as messages:
            async for message in messages:
                yield message
    except Gone:
        yield _message("gone", {})
    finally:
        if not feed.watchers and _feeds.get(key) is feed:
            del _feeds[key]


async def _messages(
    feed: Feed, regions: tuple[Region, ...], firing: Firing
) -> AsyncGenerator[bytes, None]:
    seen: dict[str, str] = {}
    newest, title = -1, ""
    told: int | None = None
    clock = asyncio.get_running_loop().time
    deadline, beat_due = clock() + STREAM_SECONDS, 0.0
    async with aclosing(feed.watch(regions)) as snapshots:
        async for taken in snapshots:
            if clock() > deadline:
                return
            snapshot = taken.only(regions) if regions else taken
            changed = snapshot.changed(seen)
            alerts = await firing()
            if changed or (snapshot.newest, snapshot.title) != (newest, title):
                yield _message("regions", payload(snapshot, changed, alerts))
                seen, newest, title = snapshot.digests(), snapshot.newest, snapshot.title
            elif alerts != told or clock() > beat_due:
                yield _message("beat", {"at": snapshot.at, **_alerts(alerts)})
            else:
                continue
            told, beat_due = alerts, clock() + BEAT


def payload(
    snapshot: Snapshot, regions: dict[str, str], firing: int | None = None
) -> dict[str, Any]:
    return {
        "at": snapshot.at,
        "title": snapshot.title,
        "newest": snapshot.newest,
        "regions": regions,
        **_alerts(firing),
    }


def _alerts(firing: int | None) -> dict[str, int]:
    return {} if firing is None else {"firing": firing}


def _message(event: str, data: dict[str, Any]) -> bytes:
    return f"event: {event}\ndata: {json.dumps(data)}\n\n".encode()
