"""How much of what grows was added per second of the last seconds."""

from __future__ import annotations

from collections import deque
from collections.abc import Mapping
from typing import Any

#: A rate is over whole batches of at least so many milliseconds.
WINDOW_MS = 10_000
#: Looks that are kept of a window, about.
LOOKS = 32


class Rates:
    """Told of numbers that only grow, whenever they have."""

    def __init__(self, begun: int, window: int = WINDOW_MS) -> None:
        """`begun`: ms since 1970, when all numbers were 0."""
        self._seen: deque[tuple[int, Mapping[Any, float]]] = deque([(begun, {})])
        self._window = window

    def observe(self, at: int, numbers: Mapping[Any, float]) -> None:
        seen = self._seen
        back = seen[-1][0] - at
        if back > 0:  # the clock was set back: spans stay what they were
            self._seen = seen = deque((then - back, known) for then, known in seen)
        if len(seen) > 1 and at - seen[-2][0] < self._window / LOOKS:
            seen.pop()
        seen.append((at, dict(numbers)))
        while len(seen) > 2 and at - seen[1][0] >= self._window:
            seen.popleft()

    @property
    def seconds(self) -> float:
        """What the rates are over; 0 before the first look."""
        return max(0.0, (self._seen[-1][0] - self._seen[0][0]) / 1000)

    def of(self, key: Any) -> float:
        """Per second; 0 before the first look."""
        if self.seconds <= 0:
            return 0.0
        more = self._seen[-1][1].get(key, 0.0) - self._seen[0][1].get(key, 0.0)
        return max(0.0, more) / self.seconds
