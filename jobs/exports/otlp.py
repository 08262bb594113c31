"""Metrics by OpenTelemetry's protocol over HTTP, named as by Flink's reporter: `flink.`, the scope
and the name, with the variables as attributes. What OTEL_EXPORTER_OTLP_* in the environment says
about headers and certificates holds."""

from __future__ import annotations

import logging
import socket
from collections.abc import Iterable

from opentelemetry.exporter.otlp.proto.http import Compression
from opentelemetry.exporter.otlp.proto.http.metric_exporter import OTLPMetricExporter
from opentelemetry.sdk.metrics.export import (
    Gauge,
    Metric,
    MetricExportResult,
    MetricsData,
    NumberDataPoint,
    ResourceMetrics,
    ScopeMetrics,
)
from opentelemetry.sdk.resources import Resource
from opentelemetry.sdk.util.instrumentation import InstrumentationScope

from jobs.exports.configuration import Reporter
from jobs.exports.samples import HEADRACE, Group, Histogram

#: Points of one request; receivers take so many megabytes.
POINTS = 2_000
#: Whole numbers from here on do not fit into 64 bits; one would cost the whole report.
_WHOLE = 1 << 63
#: Of what went wrong; some errors tell all that was sent.
MOST_WORDS = 300


class NotTaken(OSError):
    """The receiver did not take the metrics."""


class _LastWords(logging.Handler):
    """Keeps what the exporter says went wrong, which it says nowhere but in its log."""

    def __init__(self) -> None:
        super().__init__()
        self.words = ""

    def emit(self, record: logging.LogRecord) -> None:
        self.words = record.getMessage()[:MOST_WORDS]


_log = logging.getLogger("opentelemetry.exporter.otlp.proto.http")
_log.propagate = False  # whoever sends says it, and says it once
_said = _LastWords()
_log.addHandler(_said)


def send(reporter: Reporter, groups: Iterable[Group], at: float) -> None:
    """`at`: seconds since 1970. Raises NotTaken."""
    exporter = OTLPMetricExporter(
        endpoint=reporter.endpoint,
        timeout=reporter.timeout,
        compression=Compression.Gzip,
        max_export_batch_size=POINTS,
    )
    try:
        data = _data(reporter, groups, int(at * 1e9))
        result = exporter.export(data, timeout_millis=reporter.timeout * 1000)
        if result is not MetricExportResult.SUCCESS:
            raise NotTaken(_said.words or "the receiver did not take the metrics")
    finally:
        exporter.shutdown()


def _data(reporter: Reporter, groups: Iterable[Group], at: int) -> MetricsData:
    points: dict[str, list[NumberDataPoint]] = {}
    for group in groups:
        attributes = {
            name: value for name, value in group.variables.items() if name not in reporter.excludes
        }
        prefix = group.scope if group.scope == HEADRACE else f"flink.{group.scope}"
        for name, value in group.values.items():
            for full, more, number in _numbers(f"{prefix}.{name}", value):
                if not -_WHOLE <= number < _WHOLE:
                    number = float(number)
                point = NumberDataPoint({**attributes, **more}, at, at, number)
                points.setdefault(full, []).append(point)
    metrics = [Metric(name, "", "", Gauge(own)) for name, own in points.items()]
    resource = Resource({**reporter.service, "service.instance.id": socket.gethostname()})
    scope = ScopeMetrics(InstrumentationScope("headrace"), metrics, "")
    return MetricsData([ResourceMetrics(resource, [scope], "")])


def _numbers(name: str, value: float | Histogram) -> list[tuple[str, dict[str, str], float]]:
    if not isinstance(value, Histogram):
        return [(name, {}, value)]
    quantiles = [
        (name, {"quantile": f"{quantile:g}"}, own) for quantile, own in value.quantiles.items()
    ]
    return [*quantiles, (f"{name}.count", {}, value.count)]
