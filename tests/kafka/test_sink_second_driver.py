"""A driver that was paused while another took the job over: it stops, and spoils nothing."""

from __future__ import annotations

import os
import signal
import time
import uuid
from dataclasses import replace
from pathlib import Path

import psutil
import pytest

from tests.kafka import brokers, engine
from tests.kafka.engine import Crash, Plan


@pytest.fixture
def plan(kafka: str, tmp_path: Path) -> Plan:
    topics = {"out": brokers.new_topic(kafka)}
    return Plan(kafka, str(tmp_path), topics, f"job-{uuid.uuid4().hex[:8]}")


@pytest.mark.parametrize(
    ("step", "errors"),
    [
        # Producers that it opens ahead may or may not be initialised when they are shut out.
        ("begun", {"WriteFailed", "ProducerUnavailable", "SecondDriver"}),
        ("prepared", {"WriteFailed", "ProducerUnavailable", "SecondDriver"}),
        # It had looked who owns the job just before it was paused.
        ("deciding", {"SecondDriver"}),
        ("decided", {"CommitIncomplete"}),
    ],
)
def test_the_paused_driver_stops(plan: Plan, step: str, errors: set[str]) -> None:
    with engine.started(replace(plan, crash=Crash(step, signal="SIGSTOP"))) as paused:
        wait_until_paused(paused.pid)

        with engine.started(plan) as second:
            assert engine.ended(plan, second).error == ""

        os.kill(paused.pid, signal.SIGCONT)
        assert engine.ended(plan, paused).error in errors

    assert brokers.read(plan.servers, plan.topics["out"]) == plan.all_values()
    assert brokers.open_ids(plan.sinks()[0]) == []


def test_a_job_started_without_its_checkpoint_shuts_the_old_one_out(
    plan: Plan, tmp_path: Path
) -> None:
    with engine.started(replace(plan, crash=Crash("prepared", signal="SIGSTOP"))) as paused:
        wait_until_paused(paused.pid)
        anew = replace(plan, directory=str(tmp_path / "anew"), batches=1)
        with engine.started(anew) as second:
            assert engine.ended(anew, second).error == ""
            assert brokers.open_ids(plan.sinks()[0]) == []
        os.kill(paused.pid, signal.SIGCONT)
        assert engine.ended(plan, paused).error in {
            "CommitIncomplete",
            "WriteFailed",
            "ProducerUnavailable",
        }


def wait_until_paused(pid: int) -> None:
    deadline = time.monotonic() + 240
    while psutil.Process(pid).status() != psutil.STATUS_STOPPED:
        assert time.monotonic() < deadline, "the engine did not get to its crash mark"
        time.sleep(0.05)
