"""A TaskManager beats while it is busy, and no longer than its supervisor can be trusted."""

from __future__ import annotations

import threading

import pytest
from pytest_django import Settings

from jobs import taskmanagers
from jobs.models import TaskManager
from tests.service.test_taskmanagers import LONG_AGO
from workers import savepoint_commands
from workers.heartbeat import STUCK_SECONDS, StandIn
from workers.supervisor import Limits, Supervisor
from workers.taskmanager import Offer, SupervisorStep


@pytest.mark.django_db
def test_beats_are_made_for_a_supervisor_that_is_late_and_not_for_one_that_is_stuck() -> None:
    now = 1000.0
    row = taskmanagers.register("tm", "here", 1, 1, 1024)
    supervisor = Supervisor(row, ["/none"], Limits(30, 30), clock=lambda: now)
    supervisor.tick()
    stand_in = StandIn(row, supervisor)

    assert not stand_in.beat()
    now += 20
    TaskManager.objects.update(last_heartbeat=LONG_AGO)
    assert stand_in.beat()
    assert TaskManager.objects.get().last_heartbeat > LONG_AGO
    now += STUCK_SECONDS
    assert not stand_in.beat()


def test_it_beats_while_files_are_removed_and_not_once_it_has_left(
    transactional_db: None, settings: Settings, monkeypatch: pytest.MonkeyPatch
) -> None:
    settings.HEADRACE_HEARTBEAT_INTERVAL = 0.05
    removing, removed = threading.Event(), threading.Event()

    def remove(taskmanager: TaskManager) -> None:
        removing.set()
        assert removed.wait(240)

    monkeypatch.setattr(savepoint_commands, "carry", remove)
    step = SupervisorStep(None, Offer("tm", 1, 1024))
    step.start(None)
    try:
        assert removing.wait(240)
        for _ in range(3):
            TaskManager.objects.update(last_heartbeat=LONG_AGO)
            _until_it_beats()
    finally:
        removed.set()
        step.stop(None)
        assert step._thread is not None
        step._thread.join(240)

    assert TaskManager.objects.get().state == "LEFT"
    assert "heartbeat" not in [thread.name for thread in threading.enumerate()]


def _until_it_beats() -> None:
    pause = threading.Event()
    for _ in range(600):
        if TaskManager.objects.get().last_heartbeat > LONG_AGO:
            return
        pause.wait(0.1)
    pytest.fail("no heartbeat")
