"""What follows a failure; PyFlink's `pyflink.common.restart_strategy`."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import timedelta

from headrace.common.configuration import Configuration
from headrace.common.time import Duration, Time, to_millis

STRATEGY = "restart-strategy.type"
_OLD_STRATEGY = "restart-strategy"


class RestartStrategyConfiguration:
    """A strategy as its configuration keys."""

    def get_description(self) -> str:
        raise NotImplementedError

    def to_dict(self) -> dict[str, str]:
        """The keys that say the same."""
        raise NotImplementedError


class RestartStrategies:
    """Shortcuts for the strategies."""

    @staticmethod
    def no_restart() -> RestartStrategyConfiguration:
        return RestartStrategies.NoRestartStrategyConfiguration()

    @staticmethod
    def fall_back_restart() -> RestartStrategyConfiguration:
        return RestartStrategies.FallbackRestartStrategyConfiguration()

    @staticmethod
    def fixed_delay_restart(
        restart_attempts: int, delay_between_attempts: int | timedelta | Time | Duration
    ) -> RestartStrategyConfiguration:
        """`delay_between_attempts` in ms."""
        delay = to_millis(delay_between_attempts)
        return RestartStrategies.FixedDelayRestartStrategyConfiguration(restart_attempts, delay)

    @staticmethod
    def failure_rate_restart(
        failure_rate: int,
        failure_interval: int | timedelta | Time | Duration,
        delay_interval: int | timedelta | Time | Duration,
    ) -> RestartStrategyConfiguration:
        return RestartStrategies.FailureRateRestartStrategyConfiguration(
            failure_rate, to_millis(failure_interval), to_millis(delay_interval)
        )

    @dataclass(frozen=True)
    class NoRestartStrategyConfiguration(RestartStrategyConfiguration):
        """The first failure ends the job."""

        def get_description(self) -> str:
            return "Restart deactivated."

        def to_dict(self) -> dict[str, str]:
            return {STRATEGY: "none"}

    @dataclass(frozen=True)
    class FixedDelayRestartStrategyConfiguration(RestartStrategyConfiguration):
        """So many restarts, the same delay before each."""

        restart_attempts: int
        #: Milliseconds, as the intervals of the other one.
        delay_between_attempts_interval: int

        def get_restart_attempts(self) -> int:
            return self.restart_attempts

        def get_delay_between_attempts_interval(self) -> timedelta:
            return timedelta(milliseconds=self.delay_between_attempts_interval)

        def get_description(self) -> str:
            return (
                f"Restart with fixed delay ({self.delay_between_attempts_interval} ms). "
                f"#{self.restart_attempts} restart attempts."
            )

        def to_dict(self) -> dict[str, str]:
            return {
                STRATEGY: "fixed-delay",
                "restart-strategy.fixed-delay.attempts": str(self.restart_attempts),
                "restart-strategy.fixed-delay.delay": f"{self.delay_between_attempts_interval} ms",
            }

    @dataclass(frozen=True)
    class FailureRateRestartStrategyConfiguration(RestartStrategyConfiguration):
        """Restarts until so many failures fall into one interval."""

        max_failure_rate: int
        failure_interval: int
        delay_between_attempts_interval: int

        def get_max_failure_rate(self) -> int:
            return self.max_failure_rate

        def get_failure_interval(self) -> timedelta:
            return timedelta(milliseconds=self.failure_interval)

        def get_delay_between_attempts_interval(self) -> timedelta:
            return timedelta(milliseconds=self.delay_between_attempts_interval)

        def get_description(self) -> str:
            return (
                f"Failure rate restart with maximum of {self.max_failure_rate} failures within "
                f"interval {self.failure_interval} ms and fixed delay "
                f"{self.delay_between_attempts_interval} ms."
            )

        def to_dict(self) -> dict[str, str]:
            prefix = "restart-strategy.failure-rate"
            return {
                STRATEGY: "failure-rate",
                f"{prefix}.max-failures-per-interval": str(self.max_failure_rate),
                f"{prefix}.failure-rate-interval": f"{self.failure_interval} ms",
                f"{prefix}.delay": f"{self.delay_between_attempts_interval} ms",
            }

    @dataclass(frozen=True)
    class FallbackRestartStrategyConfiguration(RestartStrategyConfiguration):
        """What the platform is configured with."""

        def get_description(self) -> str:
            return "Cluster level default restart strategy"

        def to_dict(self) -> dict[str, str]:
            return {}


def said(values: dict[str, str]) -> dict[str, str]:
    """What a configuration says about restarts: its keys, as they stand. Raises ValueError."""
    read(values)
    return {
        key: value
        for key, value in values.items()
        if key == _OLD_STRATEGY or key.startswith(f"{_OLD_STRATEGY}.")
    }


def configured(values: dict[str, str]) -> str:
    """The name of the configured strategy, "" without one."""
    return values.get(STRATEGY) or values.get(_OLD_STRATEGY, "")


@dataclass(frozen=True)
class RestartRule:
    """How many restarts, within how many seconds (None: in all), and seconds before each."""

    most: int
    delay: float = 0.0
    within: float | None = None
    multiplier: float = 1.0
    most_delay: float = float("inf")


def read(values: dict[str, str]) -> RestartRule:
    """What the keys say. Nothing configured is no restart. Raises ValueError."""
    kind = configured(values).strip().lower().replace("-", "")
    options = Configuration(values)
    prefix = "restart-strategy."
    if kind in ("", "none", "off", "disable"):
        return RestartRule(0)
    if kind == "fixeddelay":
        prefix += "fixed-delay."
        delay = options.get_millis(prefix + "delay", 1000) / 1000
        return RestartRule(options.get_integer(prefix + "attempts", 1), delay)
    if kind == "failurerate":
        prefix += "failure-rate."
        return RestartRule(
            options.get_integer(prefix + "max-failures-per-interval", 1),
            options.get_millis(prefix + "delay", 1000) / 1000,
            options.get_millis(prefix + "failure-rate-interval", 60_000) / 1000,
        )
    if kind == "exponentialdelay":
        prefix += "exponential-delay."
        return RestartRule(
            options.get_integer(prefix + "attempts-before-reset-backoff", (1 << 31) - 1),
            options.get_millis(prefix + "initial-backoff", 1000) / 1000,
            options.get_millis(prefix + "reset-backoff-threshold", 3_600_000) / 1000,
            options.get_float(prefix + "backoff-multiplier", 1.5),
            options.get_millis(prefix + "max-backoff", 60_000) / 1000,
        )
    raise ValueError(
        f"{STRATEGY}: {configured(values)!r} is not known; use 'none', 'fixed-delay', "
        "'failure-rate' or 'exponential-delay'"
    )
