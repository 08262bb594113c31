"""Spans and points of time, in milliseconds; PyFlink's `pyflink.common.time`."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import timedelta


@dataclass(frozen=True, slots=True)
class Duration:
    """A span of time with millisecond resolution."""

    millis: int

    @staticmethod
    def of_days(days: int) -> Duration:
        return Duration(days * 86_400_000)

    @staticmethod
    def of_hours(hours: int) -> Duration:
        return Duration(hours * 3_600_000)

    @staticmethod
    def of_minutes(minutes: int) -> Duration:
        return Duration(minutes * 60_000)

    @staticmethod
    def of_seconds(seconds: int) -> Duration:
        return Duration(seconds * 1_000)

    @staticmethod
    def of_millis(millis: int) -> Duration:
        return Duration(millis)

    @staticmethod
    def of_nanos(nanos: int) -> Duration:
        """Rounded down to whole milliseconds: event time has no finer resolution."""
        return Duration(nanos // 1_000_000)

    def to_millis(self) -> int:
        return self.millis


@dataclass(frozen=True, slots=True)
class Time:
    """A span of time as window assigners take it."""

    millis: int

    def to_milliseconds(self) -> int:
        return self.millis

    @staticmethod
    def milliseconds(milliseconds: int) -> Time:
        return Time(milliseconds)

    @staticmethod
    def seconds(seconds: int) -> Time:
        return Time(seconds * 1_000)

    @staticmethod
    def minutes(minutes: int) -> Time:
        return Time(minutes * 60_000)

    @staticmethod
    def hours(hours: int) -> Time:
        return Time(hours * 3_600_000)

    @staticmethod
    def days(days: int) -> Time:
        return Time(days * 86_400_000)


@dataclass(frozen=True, slots=True, order=True)
class Instant:
    """A point of time, seconds and nanoseconds since 1970 UTC."""

    seconds: int
    nanos: int = 0

    def to_epoch_milli(self) -> int:
        return self.seconds * 1000 + self.nanos // 1_000_000

    @staticmethod
    def of_epoch_milli(epoch_milli: int) -> Instant:
        seconds, millis = divmod(epoch_milli, 1000)
        return Instant(seconds, millis * 1_000_000)

    def __repr__(self) -> str:
        return f"Instant<{self.seconds}, {self.nanos}>"


def to_millis(span: Duration | Time | timedelta | int) -> int:
    """Milliseconds of a Duration, a Time, a timedelta, or a plain number of milliseconds."""
    if isinstance(span, timedelta):
        return span // timedelta(milliseconds=1)
    return span if isinstance(span, int) else span.millis
