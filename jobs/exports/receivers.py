"""The receivers of pushed metrics, by kind of reporter."""

from __future__ import annotations

from collections.abc import Iterable

from jobs.exports import configuration, graphite, statsd
from jobs.exports.configuration import Reporter
from jobs.exports.samples import Group


def send(reporter: Reporter, groups: Iterable[Group], at: float) -> None:
    """Samples of one moment, `at` seconds since 1970. Raises OSError."""
    if reporter.kind == configuration.STATSD:
        statsd.send(reporter, groups, at)
    elif reporter.kind == configuration.GRAPHITE:
        graphite.send(reporter, groups, at)
    elif reporter.kind == configuration.OTEL:
        from jobs.exports import otlp  # its imports take a while: only where it is used

        otlp.send(reporter, groups, at)
    else:
        raise ValueError(f"no reporter of kind {reporter.kind!r}")
