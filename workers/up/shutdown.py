"""Stops everything so that nothing is lost and the next start goes on where this one ended."""

from __future__ import annotations

import contextlib
import time
from collections.abc import Callable

from django.conf import settings

from jobs import actions
from jobs.models import Attempt
from jobs.states import AttemptState
from workers.up.terminal import Terminal
from workers.up.watch import Watch

#: Jobs end behind their current batch; a driver that does not is killed by its TaskManager.
JOBS_GRACE_SECONDS = 20.0
TICK_SECONDS = 0.2

#: Who uses whom, users first.
ORDER = ("taskmanager", "jobmanager", "web", "replay", "redis", "kafka")


def stop(watch: Watch, terminal: Terminal, impatient: Callable[[], bool]) -> None:
    """1. Jobs end behind their current batch. 2. Processes, users before what they use.

    `impatient` turning true ends the wait for the jobs: their drivers then run on, and the next
    `up` finds them."""
    if {"taskmanager", "jobmanager"} <= set(watch.names()):
        try:
            _stop_jobs(watch, terminal, impatient)
        except Exception as error:  # whatever it is, the processes must not run on
            terminal.say(f"    jobs not stopped: {error}; found again at the next start")
    _stop_processes(watch, terminal)


def _stop_processes(watch: Watch, terminal: Terminal) -> None:
    with terminal.step("Processes") as step:
        for name in ORDER:
            step.detail = name
            try:
                watch.stop(name)
            except Exception as error:
                terminal.say(f"    {name} not stopped: {error}")
        step.detail = "stopped"


def _stop_jobs(watch: Watch, terminal: Terminal, impatient: Callable[[], bool]) -> None:
    deadline = time.monotonic() + settings.HEADRACE_STOP_TIMEOUT + JOBS_GRACE_SECONDS
    with terminal.step("Jobs") as step:
        _suspend()
        while (live := _live_attempts()) and time.monotonic() < deadline and not impatient():
            step.detail = f"{live} ending behind the current batch (Ctrl-C again: do not wait)"
            _suspend()
            watch.tick()
            time.sleep(TICK_SECONDS)
        step.detail = f"{live} still running; found again at the next start" if live else "stopped"


def _suspend() -> None:
    """Every job that is wanted running; one that changed this moment comes next time."""
    with contextlib.suppress(actions.Conflict):
        actions.suspend_all()


def _live_attempts() -> int:
    return Attempt.objects.filter(state__in=AttemptState.live()).count()
