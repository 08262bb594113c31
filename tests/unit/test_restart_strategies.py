"""Which of Flink's keys say what follows a failure, and their defaults."""

from __future__ import annotations

import pytest
from django.core.exceptions import ImproperlyConfigured

from config import properties
from jobs import options
from jobs.options import InvalidOption
from jobs.restart_strategies import (
    ExponentialDelay,
    FailureRate,
    FixedDelay,
    NoRestart,
    Strategy,
    allowed,
    read,
)

TYPE = "restart-strategy.type"
FIXED = "restart-strategy.fixed-delay."
RATE = "restart-strategy.failure-rate."
EXPONENTIAL = "restart-strategy.exponential-delay."
FOR_EVER = 2_147_483_647


def test_the_defaults_are_flinks() -> None:
    exponential = ExponentialDelay(1000, 60_000, 1.5, 3_600_000, 0.1, FOR_EVER)
    assert read({}) == read({TYPE: "exponential-delay"}) == exponential
    assert read({TYPE: "fixed-delay"}) == FixedDelay(1, 1000)
    assert read({TYPE: "failure-rate"}) == FailureRate(1, 60_000, 1000)


@pytest.mark.parametrize(
    ("configuration", "expected"),
    [
        ({TYPE: "none"}, NoRestart()),
        ({TYPE: "disable"}, NoRestart()),
        ({"restart-strategy": "off"}, NoRestart()),
        ({"restart-strategy": "fixed-delay", FIXED + "delay": "2 s"}, FixedDelay(1, 2000)),
        ({TYPE: "FixedDelay", FIXED + "attempts": "5"}, FixedDelay(5, 1000)),
        ({FIXED + "attempts": "5"}, ExponentialDelay()),
        (
            {
                TYPE: "failure-rate",
                RATE + "max-failures-per-interval": "3",
                RATE + "failure-rate-interval": "5 min",
                RATE + "delay": "PT1M30.5S",
            },
            FailureRate(3, 300_000, 90_500),
        ),
        (
            {
                EXPONENTIAL + "initial-backoff": "10 s",
                EXPONENTIAL + "max-backoff": "2 min",
                EXPONENTIAL + "backoff-multiplier": "2.0",
                EXPONENTIAL + "reset-backoff-threshold": "10 min",
                EXPONENTIAL + "jitter-factor": "0.2",
                EXPONENTIAL + "attempts-before-reset-backoff": "8",
            },
            ExponentialDelay(10_000, 120_000, 2.0, 600_000, 0.2, 8),
        ),
    ],
)
def test_flinks_keys(configuration: dict[str, str], expected: Strategy) -> None:
    assert read(configuration) == expected


def test_a_job_beats_the_cluster_key_by_key() -> None:
    cluster = {TYPE: "fixed-delay", FIXED + "attempts": "7", FIXED + "delay": "3 s"}

    assert read({}, cluster) == FixedDelay(7, 3000)
    assert read({FIXED + "attempts": "2"}, cluster) == FixedDelay(2, 3000)
    assert read({"restart-strategy": "none"}, cluster) == NoRestart()


@pytest.mark.parametrize(
    "configuration",
    [
        {TYPE: "exponential"},
        {TYPE: "fixed-delay", FIXED + "attempts": "-1"},
        {TYPE: "fixed-delay", FIXED + "attempts": "many"},
        {TYPE: "fixed-delay", FIXED + "attempts": str(FOR_EVER + 1)},
        {TYPE: "fixed-delay", FIXED + "delay": "soon"},
        {TYPE: "fixed-delay", FIXED + "delay": "900 h"},
        {TYPE: "failure-rate", RATE + "max-failures-per-interval": "0"},
        {EXPONENTIAL + "backoff-multiplier": "0.5"},
        {EXPONENTIAL + "backoff-multiplier": "nan"},
        {EXPONENTIAL + "jitter-factor": "1.1"},
        {EXPONENTIAL + "initial-backoff": "2 min"},
        {EXPONENTIAL + "attempts-before-reset-backoff": "0"},
    ],
)
def test_unusable_values_are_refused(configuration: dict[str, str]) -> None:
    with pytest.raises(InvalidOption, match="restart-strategy"):
        read(configuration)


def test_how_many_restarts_are_allowed_and_in_words() -> None:
    assert allowed(read({})) is None
    assert allowed(NoRestart()) == 0
    assert allowed(FixedDelay(3)) == 3
    assert str(FixedDelay(3, 1500)) == "fixed delay of 1500 ms, at most 3 times"
    assert str(ExponentialDelay()) == (
        "exponential delay from 1 s to 1 min (times 1.5, jitter 0.1), "
        "anew after 1 h without a failure, for ever"
    )


def test_the_cluster_is_configured_by_lines() -> None:
    values = properties.read("\n# our own\nrestart-strategy.type: none\nheartbeat.timeout: '20 s'")

    assert values == {TYPE: "none", "heartbeat.timeout": "20 s"}
    assert properties.heartbeat(values) == (10.0, 20.0)
    assert properties.heartbeat({}) == (10.0, 50.0)


@pytest.mark.parametrize("text", ["restart-strategy.type none", "restart-strategy.type: hope"])
def test_an_unusable_cluster_setting_keeps_the_platform_from_starting(text: str) -> None:
    with pytest.raises(ImproperlyConfigured, match="HEADRACE_PROPERTIES"):
        properties.read(text)


def test_a_heartbeat_is_shorter_than_its_timeout() -> None:
    with pytest.raises(ImproperlyConfigured, match="shorter than"):
        properties.heartbeat({"heartbeat.timeout": "5 s"})


@pytest.mark.parametrize(
    ("text", "milliseconds"),
    [
        ("5", 5),
        ("5 s", 5000),
        ("2 min", 120_000),
        ("1h", 3_600_000),
        ("7 d", 604_800_000),
        ("P1DT2H", 93_600_000),
        ("PT2S", 2000),
        ("PT", None),
    ],
)
def test_durations(text: str, milliseconds: int | None) -> None:
    assert options.duration_ms(text) == milliseconds
