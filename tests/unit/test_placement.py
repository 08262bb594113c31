"""Settings of how a job gets its slots, by Flink's and Spark's keys."""

from __future__ import annotations

import pytest

from jobs import placement
from jobs.options import InvalidOption
from jobs.placement import Placement


def test_defaults_are_flinks() -> None:
    assert placement.read({}) == Placement(priority=0, timeout_ms=300_000, spark_master="")
    assert not placement.spreads_out({})


def test_the_jobs_own_settings_beat_the_clusters() -> None:
    cluster = {"slot.request.timeout": "30 s", "headrace.priority": "1", "spark.master": "yarn"}

    assert placement.read({"headrace.priority": "-7"}, cluster) == Placement(-7, 30_000, "")


@pytest.mark.parametrize("url", ["spark://a:7077", "spark://a:1,b:2", "yarn", "k8s://https://c:1"])
def test_a_job_may_bring_a_spark_cluster(url: str) -> None:
    assert placement.read({"spark.master": f" {url} "}).spark_master == url


@pytest.mark.parametrize(
    ("values", "words"),
    [
        ({"spark.master": "local[8]"}, "is no Spark cluster; use spark://host:port"),
        ({"headrace.priority": "high"}, "no whole number from -1000 to 1000"),
        ({"headrace.priority": "1001"}, "no whole number from -1000 to 1000"),
        ({"slot.request.timeout": "soon"}, "is no duration"),
        ({"slot.request.timeout": "0"}, "is no duration"),
    ],
)
def test_what_cannot_be_used_is_refused(values: dict[str, str], words: str) -> None:
    with pytest.raises(InvalidOption, match=words):
        placement.read(values)


@pytest.mark.parametrize(
    ("values", "spreads"),
    [
        ({"taskmanager.load-balance.mode": "SLOTS"}, True),
        ({"taskmanager.load-balance.mode": "tasks"}, True),
        ({"taskmanager.load-balance.mode": "NONE"}, False),
        ({"cluster.evenly-spread-out-slots": "true"}, True),
        (
            {
                "taskmanager.load-balance.mode": "NONE",
                "cluster.evenly-spread-out-slots": "true",
            },
            False,
        ),
    ],
)
def test_balance_by_either_key(values: dict[str, str], spreads: bool) -> None:
    assert placement.spreads_out(values) == spreads


@pytest.mark.parametrize(
    "values",
    [{"taskmanager.load-balance.mode": "best"}, {"cluster.evenly-spread-out-slots": "maybe"}],
)
def test_an_unknown_balance_is_refused(values: dict[str, str]) -> None:
    with pytest.raises(InvalidOption):
        placement.spreads_out(values)
