"""Gauges to StatsD, by UDP."""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator

from jobs.exports import dotted, udp
from jobs.exports.configuration import Reporter
from jobs.exports.samples import Group


def send(reporter: Reporter, groups: Iterable[Group], at: float) -> None:
    """Raises OSError: `udp.send`."""
    numbers = dotted.numbers(groups, reporter.prefix, reporter.excludes)
    udp.send(reporter.host, reporter.port, _lines(numbers), reporter.timeout)


def _lines(numbers: Iterable[tuple[str, float]]) -> Iterator[bytes]:
    for name, value in numbers:
        if math.isfinite(value):
            gauge = f"{name}:{dotted.number(value)}|g"
            # A sign would mean "less by"; so it begins at 0.
            yield (f"{name}:0|g\n{gauge}" if value < 0 else gauge).encode()
