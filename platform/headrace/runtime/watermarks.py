"""The watermark of an operator: the smallest over its generators and their splits."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

from headrace.runtime.frames import MAX_WATERMARK, MIN_WATERMARK
from headrace.runtime.program import Generator

#: The split of a generator that makes no watermarks, or is behind an exchange.
ANY = "*"


@dataclass(frozen=True)
class Holding:
    """What holds an operator's watermark back: the split that is furthest behind ("" without any)
    and where it is; splits that are idle, and do not count meanwhile."""

    watermark: int
    split: str
    idle: tuple[str, ...]


class SplitWatermarks:
    """What one key group knows of the splits; a plain value to be kept in its head.

    Every key group gets the same control rows, so all of them know the same."""

    def __init__(self) -> None:
        self._watermarks: dict[str, int] = {}
        self._last_active: dict[str, int] = {}
        self._first_seen: int | None = None

    def advance(self, watermarks: dict[str, int], time: int) -> None:
        """Take what a source's task said; watermarks never go back."""
        if self._first_seen is None:
            self._first_seen = time
        for split, watermark in watermarks.items():
            if watermark > self._watermarks.get(split, MIN_WATERMARK):
                self._watermarks[split] = watermark
            self._last_active[split] = time

    def end(self, generators: Iterable[Generator]) -> None:
        """All input has ended: nothing holds a watermark back any more."""
        for generator in generators:
            for split in self._splits(generator):
                self._watermarks[split] = MAX_WATERMARK

    def of(self, generators: Iterable[Generator], time: int) -> int:
        """MIN_WATERMARK while a split that is not idle has not spoken. When all are idle, that of
        the one that was idle last: until then the others did not count any more."""
        alive = self._alive(generators, time)[0]
        return min((self._watermarks.get(s, MIN_WATERMARK) for s in alive), default=MIN_WATERMARK)

    def holding(self, generators: Iterable[Generator], time: int) -> Holding:
        """As `of`, and why."""
        alive, idle = self._alive(generators, time)
        marks = [(self._watermarks.get(split, MIN_WATERMARK), split) for split in sorted(alive)]
        watermark, split = min(marks, default=(MIN_WATERMARK, ""))
        return Holding(watermark, split, tuple(sorted(set(idle) - set(alive))))

    def _alive(self, generators: Iterable[Generator], time: int) -> tuple[list[str], list[str]]:
        """Splits that count, and those that are idle; when all are, the last one counts."""
        idle_since = {
            split: self._idle_since(split, generator.strategy.idle_timeout, time)
            for generator in generators
            for split in self._splits(generator)
        }
        alive = [split for split, since in idle_since.items() if since is None]
        idle = [split for split, since in idle_since.items() if since is not None]
        if not alive and idle_since:
            last = max(since for since in idle_since.values() if since is not None)
            alive = [split for split, since in idle_since.items() if since == last]
        return alive, idle

    def restart_clocks(self, time: int) -> None:
        """From now on every split has its whole idle timeout again."""
        self._first_seen = time
        self._last_active = dict.fromkeys(self._last_active, time)

    def _splits(self, generator: Generator) -> set[str]:
        prefix = f"{generator.name}/"
        spoken = {split for split in self._watermarks if split.startswith(prefix)}
        splits = spoken | {prefix + split for split in generator.splits}
        # a silent generator holds back until all that it reads has ended, or speaks by itself
        others = splits - {prefix + ANY}
        return others if others and others <= spoken else splits

    def _idle_since(self, split: str, timeout: int | None, time: int) -> int | None:
        """When the split became idle; None while it is not."""
        if timeout is None or self._watermarks.get(split) == MAX_WATERMARK:
            return None
        spoke = self._last_active.get(split, self._first_seen)
        return None if spoke is None or time - spoke <= timeout else spoke + timeout
