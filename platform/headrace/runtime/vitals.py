"""Whether a driver that runs also gets on. No I/O, no clock.

A batch may take as long as it takes: while tasks of it run, it is at work. What counts as hung is
a JVM that does not answer, and a query that is in a batch, runs no task and changes nothing.
"""

from __future__ import annotations

import threading
from collections.abc import Mapping
from dataclasses import dataclass, field


@dataclass(frozen=True, slots=True)
class Sign:
    """What one look at Spark found."""

    #: Tasks that run now.
    tasks: int = 0
    #: Of each query in the middle of a batch, by name: what changes as it gets on.
    at_work: Mapping[str, object] = field(default_factory=dict)


class Vitals:
    """Told of looks and pulses, asked what is wrong. Times are seconds of one clock."""

    def __init__(self, answer_seconds: float, stall_seconds: float) -> None:
        """`stall_seconds` 0: a query may stand still for ever."""
        self._answer_seconds = answer_seconds
        self._stall_seconds = stall_seconds
        self._lock = threading.Lock()
        self._asked: float | None = None
        self._still: dict[str, tuple[object, float]] = {}
        self._pulses: dict[int, float] = {}

    def asked(self, now: float) -> None:
        """Spark is looked at."""
        with self._lock:
            self._asked = now

    def answered(self, sign: Sign, now: float) -> None:
        """The look has come back."""
        with self._lock:
            self._asked = None
            before = {} if sign.tasks else self._still
            self._still = {
                name: before[name] if before.get(name, (None,))[0] == state else (state, now)
                for name, state in sign.at_work.items()
            }

    def pulse(self, who: int, now: float) -> None:
        """A loop that must go round has gone round."""
        with self._lock:
            self._pulses[who] = now

    def left(self, who: int) -> None:
        """That loop has ended."""
        with self._lock:
            self._pulses.pop(who, None)

    def complaint(self, now: float) -> str:
        """What is wrong, in words; "" when nothing is."""
        with self._lock:
            if self._asked is not None and now - self._asked > self._answer_seconds:
                return f"its JVM has not answered for {now - self._asked:.0f} s"
            if not self._stall_seconds:
                return ""
            for name, (_, since) in self._still.items():
                if now - since > self._stall_seconds:
                    return (
                        f"its query {name} has been in a batch for {now - since:.0f} s without "
                        "running a task or getting on"
                    )
            for since in self._pulses.values():
                if now - since > self._stall_seconds:
                    return f"the thread that watches its query has stood for {now - since:.0f} s"
            return ""
