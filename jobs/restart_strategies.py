"""Restart strategies: Flink's four, by Flink's keys and with Flink's defaults. No I/O.

The job's own settings beat the cluster's. Nothing said is exponential-delay: every job has
checkpoints. Source: "Task Failure Recovery" of Flink's documentation, `RestartStrategyOptions`.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass

from jobs.options import InvalidOption, duration_ms

PREFIX = "restart-strategy"
TYPE = f"{PREFIX}.type"
OLD_TYPE = PREFIX
FOR_EVER = 2_147_483_647
MAX_DELAY_MS = 7 * 24 * 3600 * 1000


@dataclass(frozen=True, slots=True)
class NoRestart:
    """The first failure ends the job."""

    def __str__(self) -> str:
        return "no restart"


@dataclass(frozen=True, slots=True)
class FixedDelay:
    """`attempts` restarts since the last start by hand, the same delay before each."""

    attempts: int = 1
    delay_ms: int = 1000

    def __str__(self) -> str:
        return f"fixed delay of {_span(self.delay_ms)}, {_times(self.attempts)}"


@dataclass(frozen=True, slots=True)
class FailureRate:
    """Restarts until more than `failures` failures fall into one interval."""

    failures: int = 1
    interval_ms: int = 60_000
    delay_ms: int = 1000

    def __str__(self) -> str:
        return (
            f"failure rate: at most {self.failures} in {_span(self.interval_ms)}, "
            f"{_span(self.delay_ms)} before each restart"
        )


@dataclass(frozen=True, slots=True)
class ExponentialDelay:
    """Each delay is the last one times `multiplier`, up to `max_ms`. A job that ran for `reset_ms`
    begins with `initial_ms` again. `attempts` restarts without such a time end it."""

    initial_ms: int = 1000
    max_ms: int = 60_000
    multiplier: float = 1.5
    reset_ms: int = 3_600_000
    jitter: float = 0.1
    attempts: int = FOR_EVER

    def __str__(self) -> str:
        return (
            f"exponential delay from {_span(self.initial_ms)} to {_span(self.max_ms)} "
            f"(times {self.multiplier:g}, jitter {self.jitter:g}), anew after "
            f"{_span(self.reset_ms)} without a failure, {_times(self.attempts)}"
        )


Strategy = NoRestart | FixedDelay | FailureRate | ExponentialDelay


def allowed(strategy: Strategy) -> int | None:
    """Restarts in a row that it allows at most; None when it does not count them."""
    match strategy:
        case NoRestart():
            return 0
        case FixedDelay(attempts) | ExponentialDelay(attempts=attempts):
            return attempts if attempts < FOR_EVER else None
        case FailureRate(failures):
            return failures


def own(configuration: Mapping[str, str]) -> dict[str, str]:
    """What a configuration says about restarts: its keys, as they stand."""
    return {
        key: value
        for key, value in configuration.items()
        if key == OLD_TYPE or key.startswith(f"{PREFIX}.")
    }


def read(job: Mapping[str, str], cluster: Mapping[str, str] | None = None) -> Strategy:
    """The strategy in force. Raises InvalidOption."""
    cluster = cluster or {}
    kind = _kind(job) or _kind(cluster) or "exponentialdelay"
    values = {**own(cluster), **own(job)}
    if kind in ("none", "off", "disable"):
        return NoRestart()
    found = _READERS.get(kind)
    if found is None:
        raise InvalidOption(
            f"{TYPE}: {kind!r} is not known; use 'none', 'fixed-delay', 'failure-rate' or "
            "'exponential-delay' (or leave it out: exponential-delay)"
        )
    name, reader = found
    return reader(_Values(values, f"{PREFIX}.{name}."))


def _kind(values: Mapping[str, str]) -> str:
    return values.get(TYPE, values.get(OLD_TYPE, "")).strip().lower().replace("-", "")


@dataclass(frozen=True, slots=True)
class _Values:
    """Typed readers of one strategy's keys."""

    values: Mapping[str, str]
    prefix: str

    def whole(self, name: str, default: int, least: int) -> int:
        text = self.values.get(self.prefix + name, str(default)).strip()
        if not text.isdecimal() or not least <= int(text) <= FOR_EVER:
            raise self._wrong(name, f"no whole number from {least} to {FOR_EVER}")
        return int(text)

    def number(self, name: str, default: float, least: float, most: float) -> float:
        try:
            value = float(self.values.get(self.prefix + name, default))
        except ValueError:
            value = float("nan")
        if not least <= value <= most:
            raise self._wrong(name, f"no number from {least:g} to {most:g}")
        return value

    def span(self, name: str, default: int, least: int = 0) -> int:
        text = self.values.get(self.prefix + name)
        value = default if text is None else duration_ms(text)
        if value is None or not least <= value <= MAX_DELAY_MS:
            raise self._wrong(name, "no duration up to 7 days, like '500 ms' or '5 s'")
        return value

    def _wrong(self, name: str, what: str) -> InvalidOption:
        key = self.prefix + name
        return InvalidOption(f"{key}: {self.values.get(key)!r} is {what}")


def _fixed_delay(values: _Values) -> FixedDelay:
    return FixedDelay(values.whole("attempts", 1, 0), values.span("delay", 1000))


def _failure_rate(values: _Values) -> FailureRate:
    return FailureRate(
        values.whole("max-failures-per-interval", 1, 1),
        values.span("failure-rate-interval", 60_000, 1),
        values.span("delay", 1000),
    )


def _exponential_delay(values: _Values) -> ExponentialDelay:
    initial = values.span("initial-backoff", 1000, 1)
    longest = values.span("max-backoff", 60_000, 1)
    if initial > longest:
        raise InvalidOption(
            f"{values.prefix}initial-backoff: {_span(initial)} is longer than "
            f"{values.prefix}max-backoff: {_span(longest)}"
        )
    return ExponentialDelay(
        initial,
        longest,
        values.number("backoff-multiplier", 1.5, 1.0, 1000.0),
        values.span("reset-backoff-threshold", 3_600_000, 1),
        values.number("jitter-factor", 0.1, 0.0, 1.0),
        values.whole("attempts-before-reset-backoff", FOR_EVER, 1),
    )


_READERS: dict[str, tuple[str, Callable[[_Values], Strategy]]] = {
    "fixeddelay": ("fixed-delay", _fixed_delay),
    "failurerate": ("failure-rate", _failure_rate),
    "exponentialdelay": ("exponential-delay", _exponential_delay),
}


def _span(milliseconds: int) -> str:
    for unit, length in (("h", 3_600_000), ("min", 60_000), ("s", 1000)):
        if milliseconds >= length and milliseconds % length == 0:
            return f"{milliseconds // length} {unit}"
    return f"{milliseconds} ms"


def _times(attempts: int) -> str:
    if attempts >= FOR_EVER:
        return "for ever"
    return f"at most {attempts} time{'' if attempts == 1 else 's'}"
