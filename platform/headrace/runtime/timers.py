"""Timers of one key group and one domain of time, kept in pages of about a second of that time.

The index of pages is part of the host's head, a page is an entry of the store, so firing reads
only the pages that are due, however many timers wait for later.
"""

from __future__ import annotations

import heapq
import itertools
from collections import defaultdict
from typing import Any

from headrace.runtime import keys
from headrace.runtime.frames import MIN_WATERMARK, dumps, loads
from headrace.runtime.state import Store

PAGE_MILLIS = 1024

#: What the addresses of a domain's pages begin with.
EVENT_TIME, PROCESSING_TIME, EXPIRY = b"t", b"p", b"x"

#: (operator's uid, key, namespace)
Owner = tuple[str, Any, Any]
#: timestamp -> owners by their bytes (`state.owner_bytes`), in the order they registered
Page = dict[int, dict[bytes, Owner]]


class Timers:
    """`index` is the set of page numbers that hold a timer; it is changed in place. `prefix`
    keeps the pages of several domains apart in one store."""

    def __init__(self, store: Store, index: set[int], prefix: bytes = EVENT_TIME) -> None:
        self._store = store
        self._prefix = prefix
        self._index = index
        #: Pages that the store has.
        self._kept = set(index)
        self._pages: dict[int, Page] = {}
        self._dirty: set[int] = set()
        #: Timers of pages up to `_queued_to`, per operator; deleted ones are skipped when popped.
        self._queues: defaultdict[str, list[tuple[int, int, bytes]]] = defaultdict(list)
        self._queued_to = MIN_WATERMARK // PAGE_MILLIS - 1
        self._order = itertools.count()

    def register(self, timestamp: int, identity: bytes, owner: Owner) -> None:
        """A second registration of the same timestamp and owner changes nothing."""
        number = timestamp // PAGE_MILLIS
        owners = self._page(number).setdefault(timestamp, {})
        if identity in owners:
            return
        owners[identity] = owner
        self._dirty.add(number)
        self._index.add(number)
        if number <= self._queued_to:
            self._queue(timestamp, identity, owner)

    def delete(self, timestamp: int, identity: bytes) -> None:
        number = timestamp // PAGE_MILLIS
        if number not in self._index:
            return
        page = self._page(number)
        owners = page.get(timestamp, {})
        if identity not in owners:
            return
        del owners[identity]
        if not owners:
            del page[timestamp]
        self._dirty.add(number)

    def pop_due(self, uid: str, watermark: int) -> tuple[int, bytes, Owner] | None:
        """Remove and return the earliest timer of an operator at or before the watermark, with
        the identity it was registered with."""
        self._queue_pages_to(watermark // PAGE_MILLIS)
        queue = self._queues[uid]
        while queue and queue[0][0] <= watermark:
            timestamp, _, identity = heapq.heappop(queue)
            page = self._page(timestamp // PAGE_MILLIS)
            owners = page.get(timestamp)
            owner = owners.pop(identity, None) if owners else None
            if owner is not None:
                if not owners:
                    del page[timestamp]
                self._dirty.add(timestamp // PAGE_MILLIS)
                return timestamp, identity, owner
        return None

    def next_due(self) -> int | None:
        """When the earliest timer of all operators is due; None without timers."""
        for number in sorted(self._index):
            if page := self._page(number):
                return min(page)
        return None

    def flush(self) -> None:
        for number in self._dirty:
            if self._pages[number]:
                self._store.put(self._address(number), dumps(self._pages[number]))
                self._kept.add(number)
                continue
            self._index.discard(number)
            if number in self._kept:
                self._store.remove(self._address(number))
                self._kept.discard(number)
        self._dirty.clear()

    def _queue_pages_to(self, last: int) -> None:
        if last <= self._queued_to:
            return
        for number in sorted(n for n in self._index if self._queued_to < n <= last):
            for timestamp, owners in self._page(number).items():
                for identity, owner in owners.items():
                    self._queue(timestamp, identity, owner)
        self._queued_to = last

    def _queue(self, timestamp: int, identity: bytes, owner: Owner) -> None:
        heapq.heappush(self._queues[owner[0]], (timestamp, next(self._order), identity))

    def _page(self, number: int) -> Page:
        page = self._pages.get(number)
        if page is None:
            stored = self._store.get(self._address(number)) if number in self._kept else None
            page = self._pages[number] = loads(stored) if stored else {}
        return page

    def _address(self, number: int) -> bytes:
        return self._prefix + keys.encode(number)
