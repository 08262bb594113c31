"""The broker dies and comes back while batches are written and committed."""

from __future__ import annotations

import os
import signal
import threading
import time
import uuid
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import pytest

from tests.kafka import brokers, engine
from tests.kafka.engine import Crash, Plan
from tests.kafka.test_sink_second_driver import wait_until_paused
from workers.embedded import kafka as embedded
from workers.embedded import ports
from workers.embedded.process import Child


class Broker:
    """A broker of this test's own, because the others' must not die."""

    def __init__(self, home: Path, jar_folder: Path) -> None:
        self._home = home
        self._jar_folder = jar_folder
        self._port = ports.free()
        self.servers = embedded.bootstrap_servers(self._port)
        self.child: Child = self.start()

    def start(self) -> Child:
        self.child = embedded.start(self._home, self._port, self._jar_folder)
        return self.child

    def kill(self) -> None:
        os.kill(self.child.pid, signal.SIGKILL)
        self.child.wait(60)


@pytest.fixture
def broker(tmp_path: Path, jar_folder: Path) -> Iterator[Broker]:
    broker = Broker(tmp_path / "broker", jar_folder)
    yield broker
    embedded.stop(broker.child)


@pytest.fixture
def plan(broker: Broker, tmp_path: Path) -> Plan:
    topics = {"out": brokers.new_topic(broker.servers)}
    return Plan(broker.servers, str(tmp_path / "job"), topics, f"job-{uuid.uuid4().hex[:8]}")


@pytest.mark.parametrize("step", ["begun", "deciding", "decided"])
def test_a_broker_that_comes_back_loses_nothing(broker: Broker, plan: Plan, step: str) -> None:
    # The engine pauses at the step, the broker dies, the engine goes on, the broker returns.
    with engine.started(replace(plan, crash=Crash(step, signal="SIGSTOP"))) as process:
        wait_until_paused(process.pid)
        broker.kill()
        back = threading.Timer(1, broker.start)
        back.start()
        os.kill(process.pid, signal.SIGCONT)
        assert engine.ended(plan, process).error == ""
        back.join()

    assert brokers.read(plan.servers, plan.topics["out"]) == plan.all_values()
    assert brokers.open_ids(plan.sinks()[0]) == []


def test_a_driver_that_starts_before_its_broker(broker: Broker, plan: Plan) -> None:
    assert engine.run(replace(plan, crash=Crash("decided"))).code < 0
    broker.kill()
    with engine.started(plan) as process:
        time.sleep(1)
        broker.start()
        ended = engine.ended(plan, process)
        assert ended.recovered.get("recommitted") == 3, ended

    assert brokers.read(plan.servers, plan.topics["out"]) == plan.all_values()
