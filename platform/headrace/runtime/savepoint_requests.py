"""Savepoints that the platform asks a running driver for, until each is answered.

Commands come in one thread, and the job takes them up in another, between two batches. Each is
answered once, by an event: made, or failed with the reason.
"""

from __future__ import annotations

import threading
import time
from collections.abc import Callable
from dataclasses import dataclass, field

from headrace.wire import events
from headrace.wire.commands import SavepointOptions

Report = Callable[[events.Event], None]


@dataclass(frozen=True)
class SavepointRequest:
    options: SavepointOptions
    asked_at: float = field(default_factory=time.monotonic)

    @property
    def savepoint_id(self) -> str:
        return self.options.savepoint_id

    @property
    def ends_job(self) -> bool:
        return bool(self.options.then)

    @property
    def overdue(self) -> bool:
        return time.monotonic() - self.asked_at > self.options.timeout_ms / 1000


class SavepointRequests:
    """Those of one driver. Safe to use from several threads."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._known: set[str] = set()
        self._waiting: list[SavepointRequest] = []
        #: The one of them that the query is being stopped for.
        self._begun: SavepointRequest | None = None
        #: Why none can be made; "" where they can.
        self._closed = ""

    def ask(self, request: SavepointRequest, report: Report) -> None:
        """A second one with the same id changes nothing."""
        with self._lock:
            if request.savepoint_id in self._known:
                return
            self._known.add(request.savepoint_id)
            if not self._closed:
                self._waiting.append(request)
                return
        report(events.SavepointFailed(request.savepoint_id, self._closed))

    def take(self, *, ending: bool) -> SavepointRequest | None:
        """The oldest of those that end the job, or of those that do not."""
        with self._lock:
            for request in self._waiting:
                if request.ends_job == ending:
                    self._waiting.remove(request)
                    if ending:
                        self._begun = None
                    return request
        return None

    def put_back(self, request: SavepointRequest) -> None:
        """It could not be made this time."""
        with self._lock:
            self._waiting.insert(0, request)

    @property
    def wanted(self) -> bool:
        return bool(self._waiting)

    def begin_ending(self) -> bool:
        """Whether the query is to be stopped for one that ends the job. It waits for that no
        longer than that takes: it is overdue no more."""
        with self._lock:
            self._begun = next((each for each in self._waiting if each.ends_job), None)
            return self._begun is not None

    def give_up_overdue(self, report: Report) -> None:
        """Of those that nobody has taken up in time."""
        with self._lock:
            overdue = [each for each in self._waiting if each.overdue and each != self._begun]
            self._waiting = [each for each in self._waiting if each not in overdue]
        for each in overdue:
            seconds = each.options.timeout_ms / 1000
            error = f"not begun within {seconds:.0f} s: no batch has ended meanwhile"
            report(events.SavepointFailed(each.savepoint_id, error))

    def close(self, reason: str, report: Report) -> None:
        """None is made any more."""
        with self._lock:
            self._closed, waiting, self._waiting = reason, self._waiting, []
        for each in waiting:
            report(events.SavepointFailed(each.savepoint_id, reason))
