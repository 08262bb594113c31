"""Reporters of metrics by Flink's keys."""

from __future__ import annotations

import pytest
from django.core.exceptions import ImproperlyConfigured

from config import properties
from jobs import options
from jobs.exports import configuration, dotted, samples, udp
from jobs.exports.configuration import Reporter
from jobs.exports.samples import Group, Histogram

STATSD = {"metrics.reporter.s.factory.class": "statsd"}
FLINK = "org.apache.flink.metrics"


def read(**keys: str) -> list[Reporter]:
    """Of the reporter `r`; __ stands for a dot, and _ for a dash in no key."""
    names = {f"metrics.reporter.r.{key.replace('__', '.')}": value for key, value in keys.items()}
    return configuration.read(names)


def test_nobody_named_means_nobody_reported_to() -> None:
    assert configuration.read({}) == []


def test_a_reporter_has_flinks_defaults() -> None:
    assert configuration.read(STATSD) == [Reporter("s", "statsd", "localhost", 8125)]
    (graphite,) = read(factory__class=f"{FLINK}.graphite.GraphiteReporterFactory")
    assert (graphite.port, graphite.protocol, graphite.interval) == (2003, "tcp", 10)
    (otel,) = read(factory__class=f"{FLINK}.otel.OpenTelemetryMetricReporterFactory")
    assert otel.endpoint == "http://localhost:4318/v1/metrics"
    assert otel.service == {"service.name": "headrace"}


def test_a_reporter_is_told_where_and_how_often() -> None:
    (found,) = read(
        **{"class": "graphite", "host": "there", "port": "99", "protocol": "UDP"},
        **{"interval": "1 min", "prefix": "prod", "scopes": "jobmanager.job, headrace"},
        scope__variables__excludes="job_id;host",
    )
    assert found == Reporter(
        "r",
        *("graphite", "there", 99),
        interval=60,
        protocol="udp",
        prefix="prod",
        scopes=("jobmanager.job", "headrace"),
        excludes=frozenset({"job_id", "host"}),
    )


def test_an_endpoint_may_have_a_path_of_its_own() -> None:
    (whole,) = read(factory="otel", exporter__endpoint="https://there/otlp/v1/metrics")
    (short,) = read(factory="otel", exporter__endpoint="https://there:1/")
    assert whole.endpoint == "https://there/otlp/v1/metrics"
    assert short.endpoint == "https://there:1/v1/metrics"


def test_prometheus_needs_no_reporter() -> None:
    assert read(factory__class=f"{FLINK}.prometheus.PrometheusReporterFactory") == []


def test_only_those_listed_report() -> None:
    both = {**STATSD, "metrics.reporter.g.class": "graphite"}
    assert len(configuration.read(both)) == 2
    assert [r.name for r in configuration.read({**both, "metrics.reporters": "g"})] == ["g"]
    with pytest.raises(options.InvalidOption, match="'x'"):
        configuration.read({**both, "metrics.reporters": "g,x"})


@pytest.mark.parametrize(
    ("key", "value"),
    [
        ("factory.class", "org.apache.flink.metrics.jmx.JMXReporterFactory"),
        ("port", "http"),
        ("port", "70000"),
        ("interval", "often"),
        ("interval", "0"),
        ("protocol", "smoke"),
        ("exporter.protocol", "gRPC"),
        ("exporter.endpoint", "there:4317"),
        ("scopes", "task"),
    ],
)
def test_what_cannot_be_used_is_refused_with_its_key(key: str, value: str) -> None:
    kind = "otel" if key.startswith("exporter") else "graphite"
    keys = {"metrics.reporter.r.factory": kind, f"metrics.reporter.r.{key}": value}
    with pytest.raises(options.InvalidOption, match=f"metrics.reporter.r.{key}"):
        configuration.read(keys)
    with pytest.raises(
        ImproperlyConfigured, match=f"HEADRACE_PROPERTIES: metrics.reporter.r.{key}"
    ):
        properties.read("\n".join(f"{key}: {value}" for key, value in keys.items()))


def test_a_reporter_without_a_class_is_refused() -> None:
    with pytest.raises(options.InvalidOption, match="class is not set"):
        configuration.read({"metrics.reporter.r.host": "there"})


TASK = {
    **{"job_id": "ab", "job_name": "my job", "task_id": "cd", "task_name": "Source: a.b"},
    **{"task_attempt_num": "0", "task_attempt_id": "x", "tm_id": "tm-1", "host": "node.1"},
    "subtask_index": "3",
}


def test_dotted_names_are_flinks() -> None:
    groups = [
        Group(samples.JOBMANAGER, {"host": "node.1"}, {"Status.JVM.CPU.Load": 0.5}),
        Group(samples.JOB, {"host": "h", "job_id": "ab", "job_name": "my job"}, {"uptime": 5}),
        Group(samples.TASKMANAGER, {"host": "h", "tm_id": "tm-1"}, {"x": 1}),
        Group(samples.TASK, TASK, {"numRecordsIn": 7}),
        Group(
            samples.OPERATOR,
            {**TASK, "operator_id": "ef", "operator_name": "map", "partition": "0"},
            {"offset": 7},
        ),
        Group(samples.HEADRACE, {"job_id": "ab", "job_name": "j"}, {"lag": Histogram(2, {0.5: 1})}),
    ]

    assert dict(dotted.numbers(groups)) == {
        "node-1.jobmanager.Status.JVM.CPU.Load": 0.5,
        "h.jobmanager.my-job.uptime": 5,
        "h.taskmanager.tm-1.x": 1,
        "node-1.taskmanager.tm-1.my-job.Source--a-b.3.numRecordsIn": 7,
        "node-1.taskmanager.tm-1.my-job.map.3.partition.0.offset": 7,
        "headrace.j.lag.count": 2,
        "headrace.j.lag.p50": 1,
    }


def test_variables_can_be_left_out_and_a_prefix_put_before() -> None:
    group = Group(samples.JOB, {"host": "h", "job_name": "j"}, {"uptime": 5})
    found = dict(dotted.numbers([group], "prod.", frozenset({"host"})))
    assert found == {"prod.jobmanager.j.uptime": 5}


def test_quantiles_have_names() -> None:
    quantiles = dict.fromkeys((0.5, 0.75, 0.95, 0.98, 0.99, 0.999), 1.0)
    group = Group(samples.HEADRACE, {"job_name": "j"}, {"x": Histogram(1, quantiles)})
    names = [name.rpartition(".")[2] for name, _ in group.flat()]
    assert names == ["count", "p50", "p75", "p95", "p98", "p99", "p999"]


def test_numbers_have_no_exponent() -> None:
    assert [dotted.number(v) for v in (5, 5.0, 1e15, 0.25, 1.7e12 + 0.5, 0.0)] == [
        *("5", "5", "1000000000000000", "0.25", "1700000000000.5", "0"),
    ]


def test_packets_are_filled_and_no_line_is_cut() -> None:
    lines = [b"x" * 400] * 7 + [b"y" * 2000]
    packets = list(udp.packets(lines))
    assert [len(packet) for packet in packets] == [1202, 1202, 400, 2000]
    assert list(udp.packets([])) == []
