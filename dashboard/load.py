"""How busy subtasks are, by Flink's three ratios and its thresholds. Pure."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass

from jobs import figures

#: Milliseconds per second spent busy, back-pressured and idle; together about 1000.
BUSY, PRESSED, IDLE = (
    *("busyTimeMsPerSecond", "backPressuredTimeMsPerSecond", "idleTimeMsPerSecond"),
)
_WORDS = {"ok": "OK", "low": "Low", "high": "High"}
_COLOURS = {"ok": "ok", "low": "warn", "high": "bad"}


@dataclass(frozen=True, slots=True)
class Load:
    """Whole percents of a second; `level` is Flink's: ok, low or high back pressure."""

    busy: int
    pressed: int
    idle: int
    level: str

    @property
    def label(self) -> str:
        return _WORDS[self.level]

    @property
    def colour(self) -> str:
        return _COLOURS[self.level]

    @property
    def words(self) -> str:
        return f"busy {self.busy} %, back-pressured {self.pressed} %, idle {self.idle} %"

    @property
    def main(self) -> str:
        """What the graph colours a vertex by."""
        if self.level != "ok":
            return self.level
        return "busy" if self.busy >= 80 else "ok"


def of(subtask: Mapping[str, float]) -> Load | None:
    """None while nothing is known of its time."""
    busy, pressed, idle = (_percent(subtask.get(name)) for name in (BUSY, PRESSED, IDLE))
    if busy is None and pressed is None and idle is None:
        return None
    level = figures.level(figures.back_pressure(dict(subtask)))
    rest = max(0, 100 - (busy or 0) - (pressed or 0))
    return Load(busy or 0, pressed or 0, rest if idle is None else idle, level)


def worst(loads: Iterable[Load | None]) -> Load | None:
    """Of the subtask that is back-pressured most, then of the busiest: Flink colours by that."""
    known = [each for each in loads if each is not None]
    return max(known, key=lambda each: (each.pressed, each.busy), default=None)


def _percent(milliseconds: float | None) -> int | None:
    if milliseconds is None or milliseconds != milliseconds:  # NaN: it is not measured
        return None
    return min(100, max(0, round(milliseconds / 10)))
