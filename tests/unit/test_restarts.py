"""Whether another attempt follows a failure, and which of Flink's keys say so."""

from __future__ import annotations

import pytest

from jobs import options
from jobs.options import FOR_EVER, InvalidOption, Restarts
from workers.restarts import FixedDelay, GiveUp, Restart, decide

FIXED = "restart-strategy.type"
ATTEMPTS = "restart-strategy.fixed-delay.attempts"
DELAY = "restart-strategy.fixed-delay.delay"


def test_restarts_until_they_are_used_up() -> None:
    strategy = FixedDelay(attempts=2, delay_ms=500)

    answers = [decide(strategy, done, restartable=True) for done in range(3)]

    assert answers[:2] == [Restart(500), Restart(500)]
    assert isinstance(answers[2], GiveUp)
    assert "2 restarts" in answers[2].reason


def test_what_would_fail_again_is_not_restarted() -> None:
    verdict = decide(FixedDelay(FOR_EVER, 1000), 0, restartable=False)

    assert isinstance(verdict, GiveUp)


@pytest.mark.parametrize(
    ("configuration", "expected"),
    [
        ({}, Restarts(FOR_EVER, 1000)),
        ({FIXED: "none"}, Restarts(0, 1000)),
        ({"restart-strategy": "off"}, Restarts(0, 1000)),
        ({FIXED: "fixed-delay"}, Restarts(1, 1000)),
        ({FIXED: "fixed-delay", ATTEMPTS: "5", DELAY: "2 s"}, Restarts(5, 2000)),
        ({ATTEMPTS: "3", DELAY: "100ms"}, Restarts(3, 100)),
        ({DELAY: "PT1M30.5S"}, Restarts(FOR_EVER, 90_500)),
    ],
)
def test_flinks_keys(configuration: dict[str, str], expected: Restarts) -> None:
    assert options.restarts(configuration) == expected


@pytest.mark.parametrize(
    "configuration",
    [
        {FIXED: "exponential"},
        {ATTEMPTS: "-1"},
        {ATTEMPTS: "many"},
        {ATTEMPTS: str(FOR_EVER + 1)},
        {DELAY: "soon"},
        {DELAY: "-5 s"},
        {DELAY: "900 h"},
    ],
)
def test_unusable_values_are_refused(configuration: dict[str, str]) -> None:
    with pytest.raises(InvalidOption, match="restart-strategy"):
        options.restarts(configuration)


@pytest.mark.parametrize(
    ("text", "milliseconds"),
    [("5", 5), ("5 s", 5000), ("2 min", 120_000), ("1h", 3_600_000), ("PT2S", 2000), ("PT", None)],
)
def test_durations(text: str, milliseconds: int | None) -> None:
    assert options.duration_ms(text) == milliseconds
