"""Where a job reads Kafka: places and lag of each partition, the trend, the time to catch up."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from dashboard import formats
from jobs import figures
from jobs.models import Job

#: Partitions of a topic that a page lists: those furthest behind.
PARTITIONS = 500
#: Records per second up to which a lag counts as steady, as a part of what is read.
_STEADY = 0.01


@dataclass(frozen=True, slots=True)
class Pace:
    """How lag develops; rates per second, None where it is not known."""

    arriving: float | None
    read: float | None
    trend: float | None
    catch_up: float | None

    def words(self, lag: int | None) -> str:
        """What the lag does, in words."""
        if lag is None:
            return formats.NOTHING
        if lag == 0:
            return "caught up"
        if self.trend is None:
            return "not known yet"
        if abs(self.trend) <= max(1.0, _STEADY * (self.read or 0)):
            return "steady"
        if self.trend > 0:
            return f"growing by {formats.number(self.trend)} /s"
        if self.catch_up is None:
            return f"shrinking by {formats.number(-self.trend)} /s"
        return f"caught up in {formats.elapsed(1000 * self.catch_up)}"


UNKNOWN = Pace(None, None, None, None)


@dataclass(frozen=True, slots=True)
class Partition:
    """One partition's place: `share` is its lag against the largest, in percent."""

    number: str
    offset: int | None
    lag: int | None
    share: int
    pace: Pace = UNKNOWN

    @property
    def words(self) -> str:
        return self.pace.words(self.lag)


@dataclass(frozen=True, slots=True)
class Topic:
    """`partitions`: those that are shown; `more`: how many others there are."""

    name: str
    lag: int | None
    partitions: list[Partition]
    pace: Pace = UNKNOWN
    more: int = 0

    @property
    def count(self) -> int:
        return len(self.partitions) + self.more

    @property
    def words(self) -> str:
        return self.pace.words(self.lag)


def topics(job: Job) -> list[Topic]:
    """From the last checkpoint, and what was measured since."""
    last = job.checkpoints.order_by("-checkpoint_id").values("offsets", "lag").first()
    if last is None:
        return []
    offsets, lags, trends = last["offsets"] or {}, last["lag"] or {}, figures.lag_trend(job)
    return [
        topic(name, offsets.get(name) or {}, lags.get(name) or {}, trends.get(name) or {})
        for name in sorted({*offsets, *lags})
    ]


def topic(
    name: str,
    offsets: Mapping[str, Any],
    lags: Mapping[str, int],
    trends: Mapping[str, Mapping[str, float]],
) -> Topic:
    most = max(lags.values(), default=0) or 1
    numbers = sorted({*offsets, *lags}, key=lambda number: (len(number), number))
    behind = set(sorted(numbers, key=lambda n: -lags.get(n, 0))[:PARTITIONS])
    return Topic(
        name=name,
        lag=sum(lags.values()) if lags else None,
        partitions=[
            Partition(
                n, offsets.get(n), lags.get(n), 100 * lags.get(n, 0) // most, _pace(trends.get(n))
            )
            for n in numbers
            if n in behind
        ],
        pace=_together(lags, trends),
        more=len(numbers) - len(behind),
    )


def _pace(found: Mapping[str, float] | None) -> Pace:
    if not found:
        return UNKNOWN
    return Pace(*(found.get(name) for name in ("arriving", "read", "trend", "catch_up")))


def _together(lags: Mapping[str, int], trends: Mapping[str, Mapping[str, float]]) -> Pace:
    """Of the whole topic: rates add up; it has caught up when its last partition has."""
    known = [trends[number] for number in lags if number in trends]
    if not known:
        return UNKNOWN
    arriving, read, trend = (
        sum(each.get(name, 0.0) for each in known) for name in ("arriving", "read", "trend")
    )
    behind = [trends.get(number, {}) for number, lag in lags.items() if lag > 0]
    can = bool(behind) and all("catch_up" in each for each in behind)
    return Pace(arriving, read, trend, max(e["catch_up"] for e in behind) if can else None)
