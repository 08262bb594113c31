"""Whether a failed attempt is followed by another, and when. No I/O, no clock, no chance.

Pure functions of the failure history: folding the times of the failures, oldest first, through
`decide` gives the same answers whoever leads, and however often it was killed in between. Jitter
is drawn from a seed and the time of the failure.

As Flink's `RestartBackoffTimeStrategy` classes decide (FixedDelay..., FailureRate...,
ExponentialDelay...): a failure is told first, then asked whether a restart may follow.
"""

from __future__ import annotations

import random
from dataclasses import dataclass
from typing import assert_never

from jobs.restart_strategies import (
    ExponentialDelay,
    FailureRate,
    FixedDelay,
    NoRestart,
    Strategy,
)


@dataclass(frozen=True, slots=True)
class History:
    """Of the failures since the last start by hand. Times are ms since 1970."""

    #: Restarts in a row, as the strategy counts them.
    restarts: int = 0
    #: The newest failures, oldest first: as many as the strategy looks at.
    failures: tuple[int, ...] = ()
    #: When the newest restart was due.
    restart_at: int | None = None


@dataclass(frozen=True, slots=True)
class Restart:
    delay_ms: int
    after: History
    #: In a few words, for the failure's row.
    words: str


@dataclass(frozen=True, slots=True)
class GiveUp:
    reason: str


def decide(
    strategy: Strategy, history: History, at: int, *, seed: str = "", final: str | None = None
) -> Restart | GiveUp:
    """What follows a failure at `at`. `final` says why another attempt would fail as well."""
    if final is not None:
        return GiveUp(final or "another attempt would meet the same error")
    match strategy:
        case NoRestart():
            return GiveUp("the job's restart strategy is: none")
        case FixedDelay():
            return _fixed(strategy, history, at)
        case FailureRate():
            return _rated(strategy, history, at)
        case ExponentialDelay():
            return _exponential(strategy, history, at, seed)
        case _:
            assert_never(strategy)


def _fixed(strategy: FixedDelay, history: History, at: int) -> Restart | GiveUp:
    if history.restarts >= strategy.attempts:
        return _used_up(strategy, history.restarts)
    return _restart(history.restarts + 1, (at,), at, strategy.delay_ms, strategy.attempts)


def _rated(strategy: FailureRate, history: History, at: int) -> Restart | GiveUp:
    recent = tuple(t for t in (*history.failures, at) if at - t <= strategy.interval_ms)
    if len(recent) > strategy.failures:
        return GiveUp(
            f"{len(recent)} failures in the last {strategy.interval_ms / 1000:g} s, "
            f"and the restart strategy allows {strategy.failures} ({strategy})"
        )
    return _restart(len(recent), recent, at, strategy.delay_ms, strategy.failures)


def _exponential(
    strategy: ExponentialDelay, history: History, at: int, seed: str
) -> Restart | GiveUp:
    """The count begins anew when the job ran long enough since its last restart."""
    began = history.restart_at
    ran_well = began is not None and at - began >= strategy.reset_ms
    restarts = 0 if ran_well else history.restarts
    if restarts >= strategy.attempts:
        return _used_up(strategy, restarts)
    delay = backoff(strategy, restarts, f"{seed}:{at}")
    return _restart(restarts + 1, (at,), at, delay, strategy.attempts)


def backoff(strategy: ExponentialDelay, restarts: int, seed: str) -> int:
    """Milliseconds before the restart that follows `restarts` others in a row."""
    try:
        plain = int(strategy.initial_ms * strategy.multiplier**restarts)
    except OverflowError:
        return strategy.max_ms
    offset = int(plain * strategy.jitter)
    jitter = random.Random(seed).randint(-offset, offset)
    return max(strategy.initial_ms, min(plain + jitter, strategy.max_ms))


def _restart(
    restarts: int, failures: tuple[int, ...], at: int, delay_ms: int, allowed: int
) -> Restart:
    of = f" of {allowed}" if allowed < 2_147_483_647 else ""
    words = f"restart {restarts}{of} in a row, after {delay_ms / 1000:g} s"
    return Restart(delay_ms, History(restarts, failures, at + delay_ms), words)


def _used_up(strategy: FixedDelay | ExponentialDelay, restarts: int) -> GiveUp:
    return GiveUp(
        f"the restart strategy allows {restarts} restart{'' if restarts == 1 else 's'} "
        f"({strategy}), and all were used"
    )
