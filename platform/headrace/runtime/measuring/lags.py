"""How far Kafka sources are behind, which way that goes, and when they will have caught up."""

from __future__ import annotations

from collections import deque
from dataclasses import dataclass

from headrace.runtime.kafka_brokers import Offsets

#: A trend is that of the last minute; under this many seconds there is none.
WINDOW_MS = 60_000
LEAST_MS = 3_000
#: Samples of a window that are kept; the oldest stays, those between are thinned out.
SAMPLES = 32


@dataclass(frozen=True)
class _Sample:
    at: int
    read: Offsets
    lag: Offsets


class Lags:
    """Told where the sources are after each batch."""

    def __init__(self) -> None:
        self._samples: deque[_Sample] = deque()

    def observe(self, at: int, read: Offsets, lag: Offsets) -> None:
        """`at`: ms since 1970; `read`: where the next batch starts; `lag`: records beyond it."""
        samples = self._samples
        read = read or (samples[-1].read if samples else {})
        if samples and at < samples[-1].at:
            samples.clear()  # the clock was set back
        if len(samples) > 1 and at - samples[-2].at < WINDOW_MS / SAMPLES:
            samples.pop()
        samples.append(_Sample(at, read, lag))
        while len(samples) > 2 and at - samples[1].at >= WINDOW_MS:
            samples.popleft()

    def figures(self) -> dict[str, dict[str, dict[str, float]]]:
        """topic -> partition -> {"lag"} and, once there are some seconds to compare, {"arriving",
        "read", "trend" (per second), "catch_up" (seconds, if it gets less)}."""
        if not self._samples:
            return {}
        newest = self._samples[-1]
        return {
            topic: {p: self._figures(topic, p, float(behind)) for p, behind in partitions.items()}
            for topic, partitions in newest.lag.items()
        }

    def of_splits(self, splits: list[str]) -> dict[str, int]:
        """Records that wait in partitions, by "<topic>-<partition>", where it is known."""
        known = _by_split(self._samples[-1].lag) if self._samples else {}
        return {split: known[split] for split in splits if split in known}

    def place(self, split: str) -> int | None:
        """The offset that is read next."""
        return _by_split(self._samples[-1].read).get(split) if self._samples else None

    def _figures(self, topic: str, partition: str, behind: float) -> dict[str, float]:
        oldest, newest = self._samples[0], self._samples[-1]
        seconds = (newest.at - oldest.at) / 1000
        before = oldest.lag.get(topic, {}).get(partition)
        begun = oldest.read.get(topic, {}).get(partition)
        here = newest.read.get(topic, {}).get(partition)
        if seconds * 1000 < LEAST_MS or before is None or begun is None or here is None:
            return {"lag": behind}
        trend = (behind - before) / seconds
        read = max(0.0, (here - begun) / seconds)
        found = {"lag": behind, "read": read, "arriving": max(0.0, read + trend), "trend": trend}
        if behind == 0:
            found["catch_up"] = 0.0
        elif trend < 0:
            found["catch_up"] = behind / -trend
        return {name: round(value, 3) for name, value in found.items()}


def _by_split(offsets: Offsets) -> dict[str, int]:
    return {
        f"{topic}-{partition}": offset
        for topic, partitions in offsets.items()
        for partition, offset in partitions.items()
    }
