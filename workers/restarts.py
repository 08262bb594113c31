"""Whether a failed attempt is followed by another, and when. No I/O."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class FixedDelay:
    """At most `attempts` restarts in a row, `delay_ms` before each. None allowed = no restart."""

    attempts: int
    delay_ms: int


@dataclass(frozen=True, slots=True)
class Restart:
    delay_ms: int


@dataclass(frozen=True, slots=True)
class GiveUp:
    reason: str


def decide(strategy: FixedDelay, restarts_in_a_row: int, *, restartable: bool) -> Restart | GiveUp:
    """What follows a failure, after `restarts_in_a_row` restarts since the last start by hand."""
    if not restartable:
        return GiveUp("another attempt would meet the same error")
    if restarts_in_a_row < strategy.attempts:
        return Restart(strategy.delay_ms)
    if strategy.attempts == 0:
        return GiveUp("the job's restart strategy is: none")
    return GiveUp(
        f"the restart strategy allows {strategy.attempts} restarts "
        f"(fixed delay, {strategy.delay_ms} ms), and all were used"
    )
