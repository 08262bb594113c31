"""Kill the driver between any two steps, start it again: every record once, no consumer stuck."""

from __future__ import annotations

import uuid
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from headrace.connectors.kafka.coordinator import coordinator_for
from headrace.connectors.kafka.messages import PreparedTransaction
from headrace.connectors.twophase.manifest import ManifestStore
from tests.kafka import brokers, engine
from tests.kafka.engine import Crash, Plan

KILLED = -9


@pytest.fixture
def plan(kafka: str, tmp_path: Path) -> Plan:
    return Plan(
        servers=kafka,
        directory=str(tmp_path),
        topics={"left": brokers.new_topic(kafka), "right": brokers.new_topic(kafka)},
        prefix=f"job-{uuid.uuid4().hex[:8]}",
    )


def check_exactly_once(plan: Plan) -> None:
    for topic in plan.topics.values():
        assert brokers.read(plan.servers, topic) == plan.all_values()
    for sink in plan.sinks():
        assert brokers.open_ids(sink) == []


def crash(plan: Plan, mark: Crash) -> None:
    assert engine.run(replace(plan, crash=mark)).code == KILLED


def test_without_a_crash(plan: Plan) -> None:
    ended = engine.run(plan)

    assert ended.recovered == {"recommitted": 0, "aborted": 0, "recomputed": 0}
    check_exactly_once(plan)


def test_killed_while_a_task_writes(plan: Plan) -> None:
    crash(plan, Crash("begun", nth=3))

    assert engine.run(plan).recovered["aborted"] >= 2
    check_exactly_once(plan)


def test_killed_between_prepare_and_manifest(plan: Plan) -> None:
    crash(plan, Crash("deciding"))

    assert engine.run(plan).recovered == {"recommitted": 0, "aborted": 6, "recomputed": 0}
    check_exactly_once(plan)


def test_killed_after_the_manifest_before_the_commit(plan: Plan) -> None:
    crash(plan, Crash("decided"))
    written = brokers.read(plan.servers, plan.topics["left"], "read_uncommitted")
    assert set(plan.values(1, 0)) < set(written)

    assert engine.run(plan).recovered == {"recommitted": 6, "aborted": 0, "recomputed": 0}
    check_exactly_once(plan)


def test_killed_after_the_commit_before_the_commit_log(plan: Plan) -> None:
    crash(plan, Crash("committed"))

    assert engine.run(plan).recovered == {"recommitted": 6, "aborted": 0, "recomputed": 0}
    check_exactly_once(plan)


def test_killed_again_and_again(plan: Plan) -> None:
    crash(plan, Crash("deciding"))
    crash(plan, Crash("begun", nth=2))
    crash(plan, Crash("decided"))
    crash(plan, Crash("deciding", batch=3))
    crash(plan, Crash("committed", batch=3))

    assert engine.run(plan).code == 0
    check_exactly_once(plan)


def test_timed_out_at_the_broker_is_recomputed(plan: Plan) -> None:
    plan = replace(plan, transaction_timeout_ms=1500)
    crash(plan, Crash("decided"))
    commit_one_as_if_the_driver_had(plan)
    for sink in plan.sinks():
        brokers.wait_until_none_open(sink, 120)

    ended = engine.run(plan)

    # One was committed, as its answer or its marker says; five were not.
    assert ended.recovered["recomputed"] == 5, ended
    check_exactly_once(plan)


def test_crash_while_recomputing(plan: Plan) -> None:
    plan = replace(plan, transaction_timeout_ms=1500)
    crash(plan, Crash("decided"))
    commit_one_as_if_the_driver_had(plan)
    fence(plan)
    crash(plan, Crash("deciding"))
    crash(plan, Crash("decided"))
    fence(plan)

    ended = engine.run(plan)

    assert ended.recovered["recomputed"] == 5, ended
    check_exactly_once(plan)


def test_killed_when_what_was_lost_is_written_again(plan: Plan) -> None:
    """The second manifest is settled, the first, whose transactions are gone, is not."""
    crash(plan, Crash("decided"))
    fence(plan)
    crash(plan, Crash("done"))

    ended = engine.run(plan)

    assert (ended.code, ended.message) == (0, "")
    check_exactly_once(plan)


def test_a_new_prefix_still_finds_what_the_old_one_committed(plan: Plan) -> None:
    crash(plan, Crash("decided"))
    commit_one_as_if_the_driver_had(plan)
    fence(plan)

    plan = replace(plan, prefix=f"{plan.prefix}-renamed")
    ended = engine.run(plan)

    assert ended.recovered["recomputed"] == 5, ended
    check_exactly_once(plan)


@pytest.mark.parametrize("change", [{"surplus": 1}, {"partitions": 2}, {"partitions": 4}])
def test_other_records_in_a_half_committed_batch_stop_the_job(
    plan: Plan, change: dict[str, Any]
) -> None:
    crash(plan, Crash("decided"))
    commit_one_as_if_the_driver_had(plan)
    fence(plan)

    ended = engine.run(replace(plan, **change))

    assert ended.error == "ChangedRecords"
    # Nothing was spoilt: with the right records the job goes on.
    assert engine.run(plan).code == 0
    check_exactly_once(plan)


@pytest.mark.parametrize("change", [{"surplus": 1}, {"partitions": 4}])
def test_more_records_in_a_batch_that_is_out_stop_the_job(
    plan: Plan, change: dict[str, Any]
) -> None:
    """A power failure takes what Spark had planned; it plans again, with what has come since."""
    crash(plan, Crash("committed"))

    ended = engine.run(replace(plan, **change))

    assert ended.error == "ChangedRecords"
    assert engine.run(plan).code == 0
    check_exactly_once(plan)


def newest(plan: Plan) -> list[PreparedTransaction]:
    prepared = ManifestStore(plan.home).newest_batch()[-1].prepared
    return [PreparedTransaction.opened(each) for each in prepared]


def commit_one_as_if_the_driver_had(plan: Plan) -> None:
    """The first transaction of the newest manifest, which the killed driver got to."""
    first = newest(plan)[0]
    sink = next(sink for sink in plan.sinks() if sink.name == first.sink)
    assert coordinator_for(sink).end([first], commit=True) == {first.transactional_id: 0}


def fence(plan: Plan) -> None:
    """What a timeout does, at once: every transaction of the newest manifest is gone."""
    for each in newest(plan):
        sink = next(sink for sink in plan.sinks() if sink.name == each.sink)
        while coordinator_for(sink).fence([each.transactional_id], 1500)[each.transactional_id]:
            pass
