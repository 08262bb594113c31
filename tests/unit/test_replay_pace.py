"""The replay's clock: event time passes `speed` times as fast as the wall's."""

from __future__ import annotations

from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta

from jobs.examples.flights import Flight
from workers.replay import LONGEST_PAUSE_SECONDS, Pace

START = datetime(2013, 1, 1, 10, 15, tzinfo=UTC)


@dataclass
class Clock:
    now: float = 1000.0
    slept: list[float] = field(default_factory=list)

    def read(self) -> float:
        return self.now

    def sleep(self, seconds: float) -> None:
        self.slept.append(seconds)
        self.now += seconds


def at(*minutes: int) -> list[Flight]:
    return [Flight(n, START + timedelta(minutes=m), "") for n, m in enumerate(minutes)]


def test_an_hour_passes_in_three_seconds_at_1200() -> None:
    clock = Clock()
    times = []
    for _ in Pace(1200, clock.read, clock.sleep).follow(at(0, 0, 60, 120), lambda: None):
        times.append(round(clock.now - 1000, 6))
    assert times == [0, 0, 3, 6]


def test_idle_is_called_while_a_night_passes() -> None:
    clock = Clock()
    calls: list[float] = []
    list(Pace(1200, clock.read, clock.sleep).follow(at(0, 300), lambda: calls.append(clock.now)))
    assert len(calls) == 15 / LONGEST_PAUSE_SECONDS
    assert max(clock.slept) <= LONGEST_PAUSE_SECONDS


def test_as_fast_as_possible_never_sleeps() -> None:
    clock = Clock()
    assert len(list(Pace(None, clock.read, clock.sleep).follow(at(0, 60, 600), lambda: None))) == 3
    assert clock.slept == []
