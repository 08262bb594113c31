"""Metrics are pushed to real receivers, and one that is away disturbs nobody."""

from __future__ import annotations

import gzip
import socket
import threading
import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from datetime import timedelta

import pytest
from django.utils import timezone
from opentelemetry.proto.collector.metrics.v1.metrics_service_pb2 import (
    ExportMetricsServiceRequest,
)
from opentelemetry.proto.metrics.v1.metrics_pb2 import NumberDataPoint

from jobs import history
from jobs.exports import collecting, configuration, receivers
from jobs.exports.configuration import Reporter
from jobs.exports.samples import HEADRACE, JOB, Group
from jobs.models import Job
from tests.service.exports import running
from tests.service.receivers import webhook
from workers.embedded import ports
from workers.exporting import WAITING, Exporting, Outbox

NEGATIVE = Group(HEADRACE, {"job_name": "j"}, {"lag.trend": -2.5, "odd": float("nan")})
AT = 1_700_000_000.25


def reporter(kind: str, port: int, **keys: str) -> Reporter:
    told = {"factory": kind, "port": str(port), "host": "127.0.0.1", **keys}
    (found,) = configuration.read({f"metrics.reporter.r.{key}": v for key, v in told.items()})
    return found


@contextmanager
def udp_receiver() -> Iterator[socket.socket]:
    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as receiver:
        receiver.bind(("127.0.0.1", 0))
        receiver.settimeout(10)
        yield receiver


@contextmanager
def tcp_receiver() -> Iterator[tuple[int, list[bytes]]]:
    """Its port, and what came by each connection that was closed."""
    found: list[bytes] = []
    with socket.create_server(("127.0.0.1", 0)) as server:

        def take() -> None:
            connection, _ = server.accept()
            with connection, connection.makefile("rb") as file:
                found.append(file.read())

        thread = threading.Thread(target=take, daemon=True)
        thread.start()
        yield server.getsockname()[1], found
        thread.join(10)


@pytest.mark.django_db
def test_statsd_gets_gauges() -> None:
    running.measured_job("my job")
    groups = [NEGATIVE, *collecting.groups(Job.objects.all())]
    with udp_receiver() as receiver:
        receivers.send(reporter("statsd", receiver.getsockname()[1]), groups, AT)
        first = receiver.recv(65_536)
        lines = first.decode().splitlines()
        while not any("busyTimeMsPerSecond" in line for line in lines):
            packet = receiver.recv(65_536)
            assert len(packet) <= 1400
            lines += packet.decode().splitlines()

    assert lines[:2] == ["headrace.j.lag.trend:0|g", "headrace.j.lag.trend:-2.5|g"]
    assert "node-1.jobmanager.my-job.lastCompletedCheckpointId:41|g" in lines
    task = "node-1.taskmanager.tm-1.my-job.Source--kafka-flights.0"
    assert f"{task}.numRecordsIn:100|g" in lines


@pytest.mark.django_db
def test_graphite_gets_lines_with_their_time() -> None:
    running.measured_job("my job")
    groups = [NEGATIVE, *collecting.groups(Job.objects.all())]
    with tcp_receiver() as (port, found):
        receivers.send(reporter("graphite", port, prefix="prod"), groups, AT)
    lines = found[0].decode().splitlines()

    assert lines[0] == "prod.headrace.j.lag.trend -2.5 1700000000"
    assert "prod.headrace.my-job.topic.flights.partition.0.lag.records 120 1700000000" in lines
    assert all(line.count(" ") == 2 for line in lines)
    assert found[0].endswith(b"\n")


def test_graphite_takes_packets_too() -> None:
    with udp_receiver() as receiver:
        to = reporter("graphite", receiver.getsockname()[1], protocol="udp")
        receivers.send(to, [NEGATIVE], AT)
        assert receiver.recv(65_536) == b"headrace.j.lag.trend -2.5 1700000000"


@pytest.mark.django_db
def test_opentelemetry_gets_points_with_attributes() -> None:
    job = running.measured_job("my job")
    with webhook() as receiver:
        to = reporter("otel", receiver.port, **{"service.name": "streams"})
        receivers.send(to, list(collecting.groups(Job.objects.all())), AT)

    points: dict[str, list[NumberDataPoint]] = {}
    for posted in receiver.posted:
        assert posted.path == "/v1/metrics"
        request = ExportMetricsServiceRequest.FromString(gzip.decompress(posted.body))
        (resource,) = request.resource_metrics
        attributes = {a.key: a.value.string_value for a in resource.resource.attributes}
        assert attributes["service.name"] == "streams"
        for metric in resource.scope_metrics[0].metrics:
            points.setdefault(metric.name, []).extend(metric.gauge.data_points)
    ids = points["flink.jobmanager.job.lastCompletedCheckpointId"]
    assert [point.as_int for point in ids] == [41]
    assert ids[0].time_unix_nano == int(AT * 1e9)
    variables = {a.key: a.value.string_value for a in ids[0].attributes}
    assert variables == {"job_id": job.pk, "job_name": "my job", "host": "node-1"}
    latency = points["headrace.latency.seconds"]
    assert {a.value.string_value for p in latency for a in p.attributes if a.key == "quantile"} >= {
        "0.5",
        "0.999",
    }


@pytest.mark.parametrize("kind", ["graphite", "otel"])
def test_a_receiver_that_is_away_is_told_once_and_when_it_is_back(
    kind: str, caplog: pytest.LogCaptureFixture, capfd: pytest.CaptureFixture[str]
) -> None:
    to = reporter(kind, ports.free(), **{"timeout": "1 s", "exporter.timeout": "500 ms"})
    box = Outbox(to)
    for _ in range(3):
        box.deliver((AT, [NEGATIVE]))
    box._send = lambda *_: None
    box.deliver((AT, [NEGATIVE]))
    box.deliver((AT, [NEGATIVE]))

    told = [str(record.msg) for record in caplog.records if record.name == "workers.exporting"]
    assert sum("not taken" in words for words in told) == 1
    assert sum("taken again" in words for words in told) == 1
    assert len(told) == 2
    assert len(capfd.readouterr().err.splitlines()) <= 2  # the exporter's own words are kept


def test_a_receiver_that_hangs_holds_up_nobody_and_fills_no_memory() -> None:
    sending, go_on = threading.Event(), threading.Event()
    sent: list[float] = []

    def hang(_: Reporter, __: Sequence[Group], at: float) -> None:
        sending.set()
        go_on.wait(30)
        sent.append(at)

    box = Outbox(reporter("graphite", 1), hang)
    box.start()
    box.offer((0.0, []))
    assert sending.wait(10)
    began = time.monotonic()
    for number in range(1, 100):
        box.offer((float(number), []))
    assert time.monotonic() - began < 5
    go_on.set()
    deadline = time.monotonic() + 10
    while len(sent) < 1 + WAITING and time.monotonic() < deadline:
        time.sleep(0.01)
    box.stop(10)

    assert sent == [0.0, 98.0, 99.0]


@pytest.mark.django_db
def test_the_leader_reports_when_it_is_time_and_keeps_totals(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    running.measured_job()
    leads, now = False, 100.0
    offered: list[tuple[str, set[str]]] = []
    monkeypatch.setattr(
        Outbox,
        "offer",
        lambda box, report: offered.append(
            (box.reporter.name, {group.scope for group in report[1]})
        ),
    )
    told = [
        Reporter("often", "statsd", "h", 1, interval=10),
        Reporter("seldom", "statsd", "h", 1, interval=60, scopes=(JOB,)),
    ]
    exporting = Exporting(lambda: leads, told, lambda: now)

    exporting.tick()
    assert offered == []
    leads = True
    exporting.tick()
    exporting.tick()
    assert [name for name, _ in offered] == ["often", "seldom"]
    assert offered[1][1] == {JOB}
    assert len(offered[0][1]) == 6
    now += 11
    exporting.tick()
    assert [name for name, _ in offered] == ["often", "seldom", "often"]

    at = timezone.now()
    rows = history.series(
        history.CLUSTER,
        ["numRecordsInPerSecond", "lag", "numRunningJobs", "taskSlotsTotal"],
        at - timedelta(minutes=1),
        at + timedelta(minutes=1),
    )
    assert {name: own[-1][2] for name, own in rows.items()} == {
        "numRecordsInPerSecond": 25,
        "lag": 150,
        "numRunningJobs": 1,
        "taskSlotsTotal": 2,
    }
