"""Reporters as Flink's keys name them, `metrics.reporter.<name>.<key>`. No I/O.

    metrics.reporter.graphs.factory.class: graphite
    metrics.reporter.graphs.host: graphite.example.org
    metrics.reporter.graphs.interval: 30 s

Classes may be told by Flink's names, too. Prometheus needs no reporter: it asks for /metrics.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from urllib.parse import urlsplit, urlunsplit

from jobs import options
from jobs.exports.samples import SCOPES

STATSD, GRAPHITE, OTEL, _PROMETHEUS = "statsd", "graphite", "otel", "prometheus"
_KINDS = {
    "org.apache.flink.metrics.statsd.statsdreporterfactory": STATSD,
    "org.apache.flink.metrics.graphite.graphitereporterfactory": GRAPHITE,
    "org.apache.flink.metrics.otel.opentelemetrymetricreporterfactory": OTEL,
    "org.apache.flink.metrics.prometheus.prometheusreporterfactory": _PROMETHEUS,
    "opentelemetry": OTEL,
    "otlp": OTEL,
    "prom": _PROMETHEUS,
    **{kind: kind for kind in (STATSD, GRAPHITE, OTEL, _PROMETHEUS)},
}
_KIND_KEYS = ("factory.class", "class", "factory")
_PORTS = {STATSD: 8125, GRAPHITE: 2003, OTEL: 4318}
_PREFIX = "metrics.reporter."
_PATH = "/v1/metrics"
_LEAST_SECONDS = 1.0


@dataclass(frozen=True, slots=True)
class Reporter:
    """`kind`: STATSD, GRAPHITE or OTEL. Times are in seconds."""

    name: str
    kind: str
    host: str
    port: int
    interval: float = 10.0
    timeout: float = 10.0
    #: Of Graphite: "tcp" or "udp".
    protocol: str = "tcp"
    #: Before all names, of StatsD and Graphite.
    prefix: str = ""
    #: Of OTEL: where OTLP over HTTP is taken, and who sends it.
    endpoint: str = ""
    service: Mapping[str, str] = field(default_factory=dict)
    scopes: tuple[str, ...] = SCOPES
    #: Variables that are left out.
    excludes: frozenset[str] = frozenset()

    @property
    def where(self) -> str:
        return self.endpoint or f"{self.host}:{self.port}"


def read(properties: Mapping[str, str]) -> list[Reporter]:
    """Raises options.InvalidOption."""
    listed = [name for name in _split(properties.get("metrics.reporters", "")) if name]
    keys: dict[str, dict[str, str]] = {}
    for key, value in properties.items():
        if key.startswith(_PREFIX):
            name, _, own = key.removeprefix(_PREFIX).partition(".")
            keys.setdefault(name, {})[own] = value.strip()
    missing = [name for name in listed if name not in keys]
    if missing:
        raise options.InvalidOption(
            f"metrics.reporters names {missing[0]!r}, and no key begins with {_PREFIX}{missing[0]}."
        )
    found = [_reporter(name, own) for name, own in keys.items() if not listed or name in listed]
    return [reporter for reporter in found if reporter is not None]


def _reporter(name: str, own: Mapping[str, str]) -> Reporter | None:
    """None for Prometheus."""
    kind = _kind(name, own)
    if kind == _PROMETHEUS:
        return None
    return Reporter(
        name=name,
        kind=kind,
        host=own.get("host", "localhost"),
        port=_port(name, own.get("port", str(_PORTS[kind]))),
        interval=max(_LEAST_SECONDS, _seconds(name, own, "interval", 10.0)),
        timeout=_seconds(name, own, "exporter.timeout" if kind == OTEL else "timeout", 10.0),
        protocol=_protocol(name, kind, own),
        prefix=own.get("prefix", ""),
        endpoint=_endpoint(name, own) if kind == OTEL else "",
        service=_service(own) if kind == OTEL else {},
        scopes=_scopes(name, own.get("scopes", "")),
        excludes=frozenset(_split(own.get("scope.variables.excludes", ""))),
    )


def _kind(name: str, own: Mapping[str, str]) -> str:
    told = next((own[key] for key in _KIND_KEYS if own.get(key)), None)
    if told is None:
        raise options.InvalidOption(f"{_PREFIX}{name}.factory.class is not set: statsd, …")
    kind = _KINDS.get(told.lower())
    if kind is None:
        raise options.InvalidOption(
            f"{_PREFIX}{name}.factory.class: {told!r} is none of statsd, graphite, otel"
        )
    return kind


def _port(name: str, text: str) -> int:
    if not text.isdecimal() or not 0 < int(text) < 65_536:
        raise options.InvalidOption(f"{_PREFIX}{name}.port: {text!r} is no port")
    return int(text)


def _seconds(name: str, own: Mapping[str, str], key: str, default: float) -> float:
    if key not in own:
        return default
    # Flink's older reporters were told "10 SECONDS".
    milliseconds = options.duration_ms(own[key])
    if not milliseconds:
        raise options.InvalidOption(
            f"{_PREFIX}{name}.{key}: {own[key]!r} is no duration like '10 s'"
        )
    return milliseconds / 1000


def _protocol(name: str, kind: str, own: Mapping[str, str]) -> str:
    key, known = ("exporter.protocol", ("http",)) if kind == OTEL else ("protocol", ("tcp", "udp"))
    told = own.get(key, known[0]).lower()
    if told not in known:
        raise options.InvalidOption(
            f"{_PREFIX}{name}.{key}: {own[key]!r} is not known; it may be {' or '.join(known)}"
        )
    return told


def _endpoint(name: str, own: Mapping[str, str]) -> str:
    default = f"http://{own.get('host', 'localhost')}:{own.get('port', _PORTS[OTEL])}"
    told = own.get("exporter.endpoint", default)
    parts = urlsplit(told)
    if parts.scheme not in ("http", "https") or not parts.hostname:
        raise options.InvalidOption(
            f"{_PREFIX}{name}.exporter.endpoint: {told!r} is no address like http://host:4318"
        )
    path = parts.path if parts.path.strip("/") else _PATH
    return urlunsplit((parts.scheme, parts.netloc, path, parts.query, ""))


def _service(own: Mapping[str, str]) -> dict[str, str]:
    told = {key: own.get(key, "") for key in ("service.name", "service.version")}
    return {"service.name": "headrace", **{key: value for key, value in told.items() if value}}


def _scopes(name: str, text: str) -> tuple[str, ...]:
    asked = tuple(_split(text)) or SCOPES
    unknown = sorted(set(asked) - set(SCOPES))
    if unknown:
        raise options.InvalidOption(
            f"{_PREFIX}{name}.scopes: {unknown[0]!r} is none of {', '.join(SCOPES)}"
        )
    return asked


def _split(text: str) -> list[str]:
    return [part.strip() for part in text.replace(";", ",").split(",") if part.strip()]
