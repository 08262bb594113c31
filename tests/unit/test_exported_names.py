"""Metrics whose names or values are odd cost no other metric its place."""

from __future__ import annotations

import threading
import time

from prometheus_client.parser import text_string_to_metric_families

from jobs.exports import collecting, configuration, otlp, prometheus
from jobs.exports.configuration import Reporter
from jobs.exports.samples import OPERATOR, Group
from workers.exporting import Exporting


def test_names_that_are_one_for_prometheus_are_told_once() -> None:
    groups = [Group(OPERATOR, {"subtask_index": index}, {"a.b": 1, "a_b": 2}) for index in "01"]
    [family] = text_string_to_metric_families(prometheus.text(groups))
    assert [sample.value for sample in family.samples] == [1, 1]
    assert [sample.labels["subtask_index"] for sample in family.samples] == ["0", "1"]


def test_only_what_a_metric_is_about_becomes_a_variable() -> None:
    values = {"topic.clicks.partition.3.offset": 5, "topic.errors": 6, "plain": 7}
    found = [(g.variables, g.values) for g in collecting._keyed({"x": "y"}, values)]
    assert found == [
        ({"x": "y", "topic": "clicks", "partition": "3"}, {"topic.partition.offset": 5}),
        ({"x": "y"}, {"topic.errors": 6, "plain": 7}),
    ]


def test_a_number_of_many_digits_costs_no_report() -> None:
    [reporter] = configuration.read({"metrics.reporter.o.factory.class": "otel"})
    data = otlp._data(reporter, [Group(OPERATOR, {}, {"huge": 1 << 70, "small": 1})], 1)
    [scope] = data.resource_metrics[0].scope_metrics
    points = [next(iter(metric.data.data_points)) for metric in scope.metrics]
    assert [point.value for point in points] == [float(1 << 70), 1.0]  # type: ignore[attr-defined]


def test_receivers_that_hang_hold_up_the_end_together() -> None:
    release = threading.Event()
    names = [f"metrics.reporter.{n}.factory.class" for n in range(5)]
    exporting = Exporting(lambda: False, configuration.read(dict.fromkeys(names, "statsd")))

    def hang(reporter: Reporter, groups: object, at: float) -> None:
        release.wait(20)

    for box in exporting._boxes:
        box._send = hang
        box.offer((0.0, []))
    exporting.start()
    begun = time.monotonic()
    exporting.stop(0.3)
    assert time.monotonic() - begun < 3
    release.set()
    for box in exporting._boxes:
        box.stop(5)
