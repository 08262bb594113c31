"""What the user sees: one line per step, counting seconds while it lasts."""

from __future__ import annotations

import contextlib
import sys
import threading
import time
from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import TextIO

REFRESH_SECONDS = 0.2


@dataclass(slots=True)
class Step:
    """A step under way. `detail` may be set from another thread."""

    label: str
    detail: str = ""
    started: float = field(default_factory=time.monotonic)

    @property
    def seconds(self) -> float:
        return time.monotonic() - self.started


class Terminal:
    """Writes lines, from any thread; on a terminal the steps under way share the last line."""

    def __init__(self, out: TextIO | None = None) -> None:
        self._out = out or sys.stdout
        self._live = self._out.isatty()
        self._lock = threading.Lock()
        self._under_way: list[Step] = []

    def say(self, text: str = "") -> None:
        with self._lock:
            self._out.write(f"{self._erase()}{text}\n")
            self._out.flush()

    def note(self, text: str) -> None:
        """A line with the time, for what happens long after the start."""
        self.say(f"{time.strftime('%H:%M:%S')}  {text}")

    @contextlib.contextmanager
    def step(self, label: str) -> Iterator[Step]:
        """One line for what happens inside; a tick at its end, a cross when it raises."""
        step = Step(label)
        self._begin(step)
        mark = "✗"
        try:
            yield step
            mark = "✓"
        finally:
            with self._lock:
                self._under_way.remove(step)
            self.say(f"  {mark} {describe(step)}")

    def _begin(self, step: Step) -> None:
        with self._lock:
            self._under_way.append(step)
            first = len(self._under_way) == 1
        if self._live and first:
            threading.Thread(target=self._draw, daemon=True).start()

    def _draw(self) -> None:
        while True:
            time.sleep(REFRESH_SECONDS)
            with self._lock:
                if not self._under_way:
                    return
                steps = "   ".join(" ".join(describe(step).split()) for step in self._under_way)
                self._out.write(f"{self._erase()}  … {steps}")
                self._out.flush()

    def _erase(self) -> str:
        return "\r\033[K" if self._live else ""


def describe(step: Step) -> str:
    """`Kafka  127.0.0.1:9092  (3 s)`; short times are not worth a word."""
    seconds = f"  ({step.seconds:.0f} s)" if step.seconds >= 1 else ""
    return f"{step.label:<16}{step.detail}{seconds}".rstrip()
