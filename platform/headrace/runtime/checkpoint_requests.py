"""Checkpoints that the platform asks a running driver for, until each is answered.

Commands come in one thread, and the job takes them up in another. Each is answered once, by a
`CommandDone`: with the checkpoint that was made, or with the reason why there is none.
"""

from __future__ import annotations

import threading
import time
from collections.abc import Callable
from dataclasses import dataclass, field

from headrace.wire import events

Report = Callable[[events.Event], None]


@dataclass
class _Request:
    command_id: str
    timeout_ms: int
    asked_at: float = field(default_factory=time.monotonic)
    #: The batch that tells of this tick is the one; None: the job has not taken it up.
    tick: int | None = None
    #: The newest batch that was planned then. The second behind it was planned later in any case:
    #: a query that ends with its input sees no ticks.
    planned: int = -1

    @property
    def overdue(self) -> bool:
        return time.monotonic() - self.asked_at > self.timeout_ms / 1000


class CheckpointRequests:
    """Those of one driver. Safe to use from several threads."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._waiting: dict[str, _Request] = {}
        #: Why none can be made; "" where they can.
        self._closed = ""

    @property
    def wanted(self) -> bool:
        return bool(self._waiting)

    def ask(self, command_id: str, timeout_ms: int, report: Report) -> None:
        with self._lock:
            if not self._closed:
                self._waiting.setdefault(command_id, _Request(command_id, timeout_ms))
                return
        report(events.CommandDone(command_id, self._closed))

    def take_up(self, tick: Callable[[], int], planned: int) -> None:
        """Have a batch run for those that are new: `tick` causes one, and says which it is."""
        with self._lock:
            new = [each for each in self._waiting.values() if each.tick is None]
            if new:
                number = tick()
                for each in new:
                    each.tick, each.planned = number, planned

    def reached(self, tick: int, batch: int, report: Report) -> None:
        """The newest batch that is completed, and the tick that it tells of."""

        def made(each: _Request) -> bool:
            return each.tick is not None and (each.tick <= tick or batch >= each.planned + 2)

        for each in self._out(made):
            report(events.CommandDone(each.command_id, result={"checkpoint_id": batch + 1}))

    def give_up_overdue(self, report: Report) -> None:
        for each in self._out(lambda each: each.overdue):
            error = f"no checkpoint was completed within {each.timeout_ms / 1000:g} s"
            report(events.CommandDone(each.command_id, error))

    def close(self, reason: str, report: Report) -> None:
        """None is made any more."""
        with self._lock:
            self._closed = reason
        for each in self._out(lambda _: True):
            report(events.CommandDone(each.command_id, reason))

    def _out(self, those: Callable[[_Request], bool]) -> list[_Request]:
        with self._lock:
            found = [each for each in self._waiting.values() if those(each)]
            for each in found:
                del self._waiting[each.command_id]
        return found
