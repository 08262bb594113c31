"""A topic, files and a table in one commit, the driver killed at each step: all three have every
record once, and nothing hidden, open or prepared is left."""

from __future__ import annotations

import uuid
from dataclasses import replace
from pathlib import Path

import pytest

from headrace.connectors.files import staging
from tests.kafka import brokers
from tests.twophase import engine
from tests.twophase.engine import Crash, Plan
from tests.twophase.postgresql import Server

KILLED = -9


@pytest.fixture
def plan(kafka: str, postgres: Server, tmp_path: Path) -> Plan:
    name = uuid.uuid4().hex[:8]
    postgres.execute(f"CREATE TABLE out_{name} (value text)")
    settings = postgres.settings
    return Plan(
        directory=str(tmp_path),
        servers=kafka,
        topic=brokers.new_topic(kafka),
        prefix=f"job-{name}",
        postgres={
            "host": settings.host,
            "port": settings.port,
            "database": settings.database,
            "user": settings.user,
            "password": settings.password,
        },
        table=f"out_{name}",
    )


def lines(plan: Plan) -> list[str]:
    """What a reader of the files sees: it leaves hidden folders out."""
    return sorted(
        line
        for path in plan.files.glob("*")
        if path.is_file()
        for line in path.read_text().splitlines()
    )


def in_table(plan: Plan, postgres: Server) -> list[str]:
    return sorted(str(value) for (value,) in postgres.query(f"SELECT value FROM {plan.table}"))


def check_exactly_once(plan: Plan, postgres: Server) -> None:
    assert brokers.read(plan.servers, plan.topic) == plan.all_values()
    assert lines(plan) == plan.all_values()
    assert in_table(plan, postgres) == plan.all_values()
    assert brokers.open_ids(plan.kafka()) == []
    assert [gid for gid in postgres.prepared() if gid.startswith(plan.prefix)] == []
    hidden = list((plan.files / staging.HIDDEN).glob("*/*-*"))
    assert all(path.name.endswith(staging.DONE) for path in hidden), hidden


@pytest.mark.parametrize(
    "mark",
    [
        Crash("begun", nth=5),
        Crash("prepared", nth=9),
        Crash("decided"),
        Crash("ended", nth=1),
        Crash("ended", nth=2),
        Crash("committed"),
    ],
    ids=lambda mark: f"{mark.step}-{mark.nth}",
)
def test_killed_at_a_step_of_the_commit(plan: Plan, postgres: Server, mark: Crash) -> None:
    assert engine.run(replace(plan, crash=mark)).code == KILLED

    ended = engine.run(plan)

    assert (ended.code, ended.error) == (0, ""), ended.message
    check_exactly_once(plan, postgres)


def test_killed_again_and_again(plan: Plan, postgres: Server) -> None:
    for mark in (
        Crash("prepared", nth=2),
        Crash("deciding"),
        Crash("ending", nth=1),
        Crash("ending", nth=3, batch=2),
        Crash("ended", nth=3, batch=3),
        Crash("done", batch=4),
        Crash("begun", nth=9, batch=5),
    ):
        assert engine.run(replace(plan, batches=6, crash=mark)).code == KILLED, mark

    ended = engine.run(replace(plan, batches=6))

    assert (ended.code, ended.error) == (0, ""), ended.message
    check_exactly_once(replace(plan, batches=6), postgres)


def test_killed_again_at_each_step_of_the_recovery(plan: Plan, postgres: Server) -> None:
    assert engine.run(replace(plan, crash=Crash("ended"))).code == KILLED
    for step in ("claimed", "ending", "ended", "recommitted", "fenced"):
        assert engine.run(replace(plan, crash=Crash(step, batch=-1))).code == KILLED, step

    ended = engine.run(plan)

    assert (ended.code, ended.error) == (0, ""), ended.message
    check_exactly_once(plan, postgres)


def test_what_was_lost_before_the_commit_is_written_again(plan: Plan, postgres: Server) -> None:
    assert engine.run(replace(plan, crash=Crash("decided"))).code == KILLED
    for gid in postgres.prepared():
        if gid.startswith(plan.prefix):
            postgres.execute(f"ROLLBACK PREPARED '{gid}'")

    ended = engine.run(plan)

    assert ended.recovered == {"recommitted": 6, "aborted": 0, "recomputed": 3}, ended.message
    check_exactly_once(plan, postgres)


def test_without_the_marker_table_nobody_knows(plan: Plan, postgres: Server) -> None:
    assert engine.run(replace(plan, crash=Crash("ended", nth=3))).code == KILLED
    postgres.execute("DROP TABLE headrace_commits")

    ended = engine.run(plan)

    assert ended.error == "OutcomeUnknown"
    assert "headrace_commits was made anew" in ended.message


def test_files_that_their_reader_moved_away_are_not_written_again(
    plan: Plan, postgres: Server
) -> None:
    assert engine.run(replace(plan, crash=Crash("committed"))).code == KILLED
    taken = lines(plan)
    for path in plan.files.glob("part-*"):
        path.unlink()

    assert engine.run(plan).code == 0

    assert sorted(taken + lines(plan)) == plan.all_values()


@pytest.mark.parametrize("step", ["prepared", "deciding", "decided"])
def test_a_driver_that_wakes_up_after_another_took_over(
    plan: Plan, postgres: Server, step: str
) -> None:
    with engine.started(replace(plan, crash=Crash(step, signal="SIGSTOP"))) as paused:
        engine.wait_until_paused(paused.pid)
        with engine.started(plan) as second:
            assert engine.ended(plan, second).error == ""
        engine.wake(paused.pid)
        assert engine.ended(plan, paused).error in {
            "ProducerUnavailable",
            "SecondDriver",
            "CommitIncomplete",
            "WriteFailed",
        }
    check_exactly_once(plan, postgres)
