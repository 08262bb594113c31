"""Whether another attempt follows a failure, and when: pure functions of the failure history."""

from __future__ import annotations

import pytest

from headrace.wire.failures import Cause
from jobs.restart_strategies import ExponentialDelay, FailureRate, FixedDelay, NoRestart, Strategy
from workers.restarts import GiveUp, History, Restart, backoff, decide

FOR_EVER = 2_147_483_647
HOUR = 3_600_000


def replay(strategy: Strategy, *times: int, seed: str = "a") -> list[int | str]:
    """The delay after each failure, or why there is no restart."""
    history = History()
    answers: list[int | str] = []
    for at in times:
        verdict = decide(strategy, history, at, seed=seed)
        if isinstance(verdict, GiveUp):
            return [*answers, verdict.reason]
        answers.append(verdict.delay_ms)
        history = verdict.after
    return answers


def test_none_gives_up_at_once() -> None:
    assert replay(NoRestart(), 0) == ["the job's restart strategy is: none"]
    assert isinstance(decide(FixedDelay(0), History(), 0), GiveUp)


def test_fixed_delay_restarts_until_its_attempts_are_used_up() -> None:
    answers = replay(FixedDelay(2, 500), 0, HOUR, 1000 * HOUR)

    assert answers[:2] == [500, 500]
    assert "allows 2 restarts" in str(answers[2])


def test_failure_rate_ends_with_one_failure_more_than_it_allows_in_an_interval() -> None:
    strategy = FailureRate(3, 10_000, 7)

    assert replay(strategy, 0, 0, 0, 0)[:3] == [7, 7, 7]
    assert "4 failures in the last 10 s" in str(replay(strategy, 0, 1000, 2000, 10_000)[3])
    assert replay(strategy, 0, 1000, 2000, 10_001, 11_001) == [7] * 5


def test_failure_rate_remembers_what_it_looks_at() -> None:
    verdict = decide(FailureRate(3, 10_000), History(2, (0, 5000)), 12_000)

    assert isinstance(verdict, Restart)
    assert verdict.after == History(2, (5000, 12_000), 13_000)


def test_exponential_delay_grows_up_to_the_longest() -> None:
    strategy = ExponentialDelay(1000, 5000, 2.0, HOUR, jitter=0.0)

    assert replay(strategy, *range(0, 60_000, 10_000)) == [1000, 2000, 4000, 5000, 5000, 5000]


def test_exponential_delay_begins_anew_when_the_job_ran_long_enough_since_its_restart() -> None:
    strategy = ExponentialDelay(1000, 60_000, 2.0, 100_000, jitter=0.0)

    # The second restart is due at 12 000.
    assert replay(strategy, 0, 10_000, 111_999) == [1000, 2000, 4000]
    assert replay(strategy, 0, 10_000, 112_000, 120_000) == [1000, 2000, 1000, 2000]


def test_exponential_delay_ends_after_its_attempts_unless_it_began_anew() -> None:
    strategy = ExponentialDelay(1000, 1000, reset_ms=100_000, attempts=2)

    assert "allows 2 restarts" in str(replay(strategy, 0, 10_000, 20_000)[-1])
    assert replay(strategy, 0, 10_000, 200_000, 210_000) == [1000, 1000, 1000, 1000]


def test_jitter_spreads_within_its_bounds_and_is_the_same_for_whoever_decides() -> None:
    strategy = ExponentialDelay(10_000, 60_000, jitter=0.25)
    delays = [backoff(strategy, 1, f"job {number}") for number in range(500)]

    assert min(delays) >= 15_000 - 3750
    assert max(delays) <= 15_000 + 3750
    assert len(set(delays)) > 100
    assert replay(strategy, 1, 20_000, seed="x") == replay(strategy, 1, 20_000, seed="x")
    assert replay(strategy, 1, 20_000, seed="x") != replay(strategy, 1, 20_000, seed="y")


def test_however_many_restarts_the_delay_stays_the_longest() -> None:
    assert backoff(ExponentialDelay(), 10, "") < 60_000
    assert backoff(ExponentialDelay(), FOR_EVER, "") == 60_000
    assert backoff(ExponentialDelay(jitter=1.0), 0, "") >= 1000


@pytest.mark.parametrize("cause", Cause)
def test_each_cause_is_worth_a_restart_or_says_why_not(cause: Cause) -> None:
    verdict = decide(FixedDelay(FOR_EVER), History(), 0, final=cause.final or None)

    assert isinstance(verdict, Restart) is cause.restartable
    if isinstance(verdict, GiveUp):
        assert verdict.reason == cause.final


def test_causes_by_name() -> None:
    assert Cause.of("in-doubt", restartable=False) is Cause.IN_DOUBT
    assert Cause.of("fenced", restartable=True) is Cause.FENCED
    assert Cause.of("", restartable=True) is Cause.RUNNING
    assert Cause.of("of a newer driver", restartable=False) is Cause.FINAL
    # What the driver says of the restart counts, also where it contradicts the table.
    assert Cause.of("fenced", restartable=False) is Cause.FINAL
