"""Keeps processes running: one that dies is started again, sooner or later."""

from __future__ import annotations

import time
from collections.abc import Callable
from dataclasses import dataclass, field

from workers.embedded.process import Child

#: Waits before the first, second … start again in a row.
DELAYS_SECONDS = (0.0, 1.0, 2.0, 5.0, 10.0, 30.0)
#: One that has run for this long counts as well again.
WELL_AFTER_SECONDS = 60.0


@dataclass(frozen=True, slots=True)
class Service:
    """A process of the platform. `start` returns when it was started; it may raise."""

    name: str
    start: Callable[[], Child]
    stop_timeout: float = 15.0
    #: Ending with exit code 0 means that its work is done.
    may_finish: bool = False


@dataclass(slots=True)
class Watched:
    service: Service
    child: Child | None
    started_at: float
    deaths: int = 0
    due: float | None = None
    finished: bool = False


@dataclass(slots=True)
class Watch:
    """The processes that run, in the order they were started. Not safe for several threads."""

    tell: Callable[[str], None]
    clock: Callable[[], float] = time.monotonic
    _watched: dict[str, Watched] = field(default_factory=dict)

    def start(self, service: Service) -> Child:
        """Start it and watch it from now on; raises what `service.start` raises."""
        child = service.start()
        self._watched[service.name] = Watched(service, child, self.clock())
        return child

    def tick(self) -> None:
        """Look at each once: tell of a death, start again what is due."""
        for each in self._watched.values():
            if each.child is not None and not each.child.alive():
                self._ended(each)
            if each.due is not None and self.clock() >= each.due:
                self._start_again(each)

    def stop(self, name: str) -> None:
        """End it and watch it no more; nothing when it is not there."""
        each = self._watched.pop(name, None)
        if each is not None and each.child is not None:
            each.child.stop(each.service.stop_timeout)

    def names(self) -> list[str]:
        return list(self._watched)

    def _ended(self, each: Watched) -> None:
        code = each.child.popen.returncode if each.child and each.child.popen else None
        each.child = None
        if each.service.may_finish and code == 0:
            each.finished = True
            self.tell(f"{each.service.name} has done its work")
            return
        if self.clock() - each.started_at > WELL_AFTER_SECONDS:
            each.deaths = 0
        self._again_later(each, f"{each.service.name} has ended{_meaning(code)}")

    def _start_again(self, each: Watched) -> None:
        each.due, each.started_at = None, self.clock()
        try:
            each.child = each.service.start()
        except Exception as error:
            self._again_later(each, f"{each.service.name} did not start: {error}")

    def _again_later(self, each: Watched, what: str) -> None:
        delay = DELAYS_SECONDS[min(each.deaths, len(DELAYS_SECONDS) - 1)]
        each.deaths += 1
        each.due = self.clock() + delay
        when = f"in {delay:.0f} s" if delay else "now"
        self.tell(f"{what}; starting it again {when}")


def _meaning(code: int | None) -> str:
    if code is None:
        return ""
    return f" (signal {-code})" if code < 0 else f" (exit code {code})"
