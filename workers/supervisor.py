"""What a TaskManager does all the time: beat, launch, watch, record, end.

Everything it needs is in the tables and in the run directories, so it can be killed at any time;
its next incarnation goes on where it was, with the drivers that ran on meanwhile.
"""

from __future__ import annotations

import contextlib
import shutil
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from itertools import islice
from pathlib import Path

import structlog
from django.conf import settings

from headrace.wire import commands, journal, text
from headrace.wire.failures import Cause
from jobs import attempts, job_secrets, logtail, recording, taskmanagers
from jobs.models import Attempt, TaskManager
from jobs.states import AttemptState
from workers import (
    checkpoint_commands,
    diagnosing,
    drivers,
    memory,
    savepoint_commands,
    specs,
    strays,
    vital_reports,
)
from workers.embedded.process import Identity

log = structlog.get_logger(__name__)

ENTRIES_AT_ONCE = 500
LOG_TAIL_BYTES = 8 * 1024
#: A driver that has not beaten once is still importing; it gets longer.
START_GRACE_SECONDS = 60.0
LAUNCHES = 3
#: Run directories kept per job, so that a job that fails again and again fills no disk.
RUN_DIRS = 20


@dataclass(frozen=True, slots=True)
class Limits:
    """Seconds until a silent driver counts as hung, and until one asked to end is killed."""

    driver: float
    stop: float

    @classmethod
    def from_settings(cls) -> Limits:
        return cls(settings.HEADRACE_DRIVER_TIMEOUT, settings.HEADRACE_STOP_TIMEOUT)


class Supervisor:
    """The loop of one incarnation of a TaskManager. `tick` is called again and again."""

    def __init__(
        self,
        taskmanager: TaskManager,
        command: Sequence[str] | None = None,
        limits: Limits | None = None,
        clock: Callable[[], float] = time.monotonic,
    ) -> None:
        self._taskmanager = taskmanager
        self._command = list(command or settings.HEADRACE_DRIVER_COMMAND)
        self._limits = limits or Limits.from_settings()
        self._clock = clock
        self._next_beat = clock()
        self._drivers: dict[int, drivers.Driver] = {}
        self._launches: dict[int, int] = {}
        self._scales: dict[int, memory.Scales] = {}
        #: When it was first seen that a driver was asked to end, or has said that it ends.
        self._asked: dict[tuple[int, str], float] = {}
        self._vitals = vital_reports.VitalReports(taskmanager, clock)
        self._diagnosing = diagnosing.Diagnosing(taskmanager=taskmanager)
        self._strays = strays.Strays(taskmanager)
        self._strays.kill()

    def tick(self) -> None:
        """Look after every attempt of this TaskManager once. Raises `taskmanagers.Replaced`."""
        self._beat()
        live = Attempt.objects.filter(
            taskmanager=self._taskmanager, state__in=AttemptState.live()
        ).order_by("pk")
        seen = set()
        for attempt in live.select_related("job", "taskmanager").defer("job__plan"):
            seen.add(attempt.pk)
            try:
                self._look_after(attempt)
            except Exception:
                # One attempt's trouble (a full disk, a broken run directory) stays its own.
                log.exception("attempt not looked after", attempt=str(attempt))
        for gone in self._drivers.keys() - seen:
            del self._drivers[gone]
            self._scales.pop(gone, None)
        self._asked = {key: at for key, at in self._asked.items() if key[0] in seen}
        savepoint_commands.carry(self._taskmanager)
        checkpoint_commands.carry(self._taskmanager)
        self._diagnosing.look()

    @property
    def overdue(self) -> float:
        """Seconds since it should have beaten; asked by another thread."""
        return self._clock() - self._next_beat

    def _beat(self) -> None:
        if self._clock() < self._next_beat:
            return
        taskmanagers.beat(self._taskmanager)
        self._next_beat = self._clock() + settings.HEADRACE_HEARTBEAT_INTERVAL
        self._strays.kill()
        checkpoint_commands.remove_left(self._taskmanager)
        self._vitals.report(self._drivers.values())

    def _look_after(self, attempt: Attempt) -> None:
        if not attempt.is_on(self._taskmanager):
            return  # the JobManager sees to it: its files, and maybe its driver, are elsewhere
        driver = self._drivers.setdefault(
            attempt.pk, drivers.Driver(Path(attempt.run_dir), _known(attempt))
        )
        if attempt.state == AttemptState.CREATED:
            self._launch(attempt, driver)
        elif driver.identity is None and attempt.pid is None:
            self._launch_again(attempt, driver)
        else:
            self._watch(attempt, driver)

    # --- launch ---

    def _launch(self, attempt: Attempt, driver: drivers.Driver) -> None:
        """Launch the driver of an attempt that nobody has launched.

        1. Say so (compare-and-set): of two deliveries of the launch, one goes on.
        2. Write what it is to run.
        3. Start the launcher, which records the process before it becomes the driver.
        Killed between 1 and 3, the next incarnation launches again: `_launch_again`.
        """
        if attempt.command:  # asked to end before it began
            attempts.end(attempt)
            return
        if not attempts.deploy(attempt):
            return
        self._start(attempt, driver)

    def _launch_again(self, attempt: Attempt, driver: drivers.Driver) -> None:
        """No process was recorded: wait for the launcher, or start one, a few times at most."""
        if driver.is_being_launched:
            return
        if attempt.command:
            attempts.end(attempt)
        elif self._launches.get(attempt.pk, 0) < LAUNCHES:
            self._start(attempt, driver)
        else:
            error = f"the driver could not be started; see {driver.run_dir}"
            attempts.give_up(attempt, error, Cause.NOT_LAUNCHED)
            attempts.end(attempt, driver.exit_code, log_tail(driver.run_dir))

    def _start(self, attempt: Attempt, driver: drivers.Driver) -> None:
        self._launches[attempt.pk] = self._launches.get(attempt.pk, 0) + 1
        try:
            specs.of(attempt).write(driver.run_dir)
            secrets = job_secrets.environment(attempt.job)
            driver.launch([*self._command, str(driver.run_dir)], secrets)
        except Exception as error:
            words = f"the driver could not be launched: {error}"
            attempts.give_up(attempt, words, Cause.NOT_LAUNCHED)
            attempts.end(attempt)
            log.exception("launch failed", attempt=str(attempt))
            return
        if Attempt.objects.filter(pk=attempt.pk, state__in=AttemptState.terminal()).exists():
            driver.kill()  # given up while this process was paused
            return
        log.info("launched", attempt=str(attempt), run_dir=attempt.run_dir)
        _remove_old_run_dirs(attempt)

    # --- watch ---

    def _watch(self, attempt: Attempt, driver: drivers.Driver) -> None:
        """One look at a launched driver.

        1. Is it alive? Asked before its journal is read: what it wrote last is then read too.
        2. Record what it has said since.
        3. Gone: clear away what is left of its session, then record the end.
        4. Alive: carry the command to it; kill it when it is overdue or hung.
        """
        # 1.
        alive = driver.is_alive()
        self._identify(attempt, driver)
        # 2.
        readable = self._record(attempt, driver)
        # 3.
        if not alive:
            if readable:
                self._finish(attempt, driver)
            return
        # 4.
        self._carry_command(attempt, driver)
        self._kill_if_overdue(attempt, driver)
        self._kill_if_too_large(attempt, driver)

    def _identify(self, attempt: Attempt, driver: drivers.Driver) -> None:
        identity = driver.identity
        if identity is not None and attempt.pid is None:
            attempts.identify(attempt, identity.pid, identity.started_at)

    def _record(self, attempt: Attempt, driver: drivers.Driver) -> bool:
        """Record the journal to its end; False when it must be tried again."""
        while True:
            try:
                lines = journal.read(driver.run_dir, attempt.journal_position, ENTRIES_AT_ONCE)
                entries = list(islice(lines, ENTRIES_AT_ONCE))
            except ValueError as error:
                before = attempt.journal_position
                attempt.refresh_from_db()
                if attempt.journal_position != before:
                    return False  # another has recorded, and forgotten, what was asked for
                attempts.give_up(attempt, str(error), Cause.DIED)
                driver.kill()
                return True
            before = attempt.journal_position
            if not recording.record(attempt, entries):
                attempt.refresh_from_db()
                return False
            journal.forget(driver.run_dir, before, attempt.journal_position)
            if len(entries) < ENTRIES_AT_ONCE:
                return True

    def _finish(self, attempt: Attempt, driver: drivers.Driver) -> None:
        if driver.remains():
            driver.kill()
            return  # looked at again with the next tick: no attempt ends before its processes
        attempts.end(attempt, driver.exit_code, log_tail(driver.run_dir))
        savepoint_commands.clear_up(attempt)
        log.info("ended", attempt=str(attempt), state=attempt.state, exit_code=driver.exit_code)

    def _carry_command(self, attempt: Attempt, driver: drivers.Driver) -> None:
        if not attempt.command or attempt.outcome:
            return
        command_id = f"{attempt.command}-{attempt.pk}"
        done = driver.run_dir / f".{command_id}"
        if not done.exists():
            verb: commands.Verb = "cancel" if attempt.command == "cancel" else "suspend"
            commands.send(driver.run_dir, commands.Command(command_id, verb))
            done.touch()

    def _kill_if_overdue(self, attempt: Attempt, driver: drivers.Driver) -> None:
        asked = attempt.outcome or attempt.command
        if asked and self._seconds_since(attempt, asked) > self._limits.stop:
            log.warning("killed: asked to end and did not", attempt=str(attempt))
            driver.kill()
            return
        has_beaten = (driver.run_dir / "heartbeat").exists()
        limit = self._limits.driver if has_beaten else max(START_GRACE_SECONDS, self._limits.driver)
        silent = driver.silent_seconds()
        if silent > limit:
            complaint = job_secrets.hidden(attempt.job, driver.complaint())
            attempts.give_up(
                attempt,
                f"the driver, process {attempt.pid}, gave no sign of life for {silent:.0f} s"
                f"{complaint} and was killed; what it had not committed is processed again from "
                "the last checkpoint",
                Cause.HUNG,
            )
            driver.kill()

    def _seconds_since(self, attempt: Attempt, asked: str) -> float:
        """How long this process has known; another machine's clock may say anything."""
        now = self._clock()
        return now - self._asked.setdefault((attempt.pk, asked), now)

    def _kill_if_too_large(self, attempt: Attempt, driver: drivers.Driver) -> None:
        """Before the machine has no memory left, and the system ends whichever it likes."""
        identity, limit = driver.identity, specs.memory_mib(attempt)
        scales = self._scales.setdefault(attempt.pk, memory.Scales())
        use = scales.weigh(identity.pid, driver.processes, limit) if identity is not None else None
        if use is None:
            return
        attempts.give_up(
            attempt,
            f"out of memory: the job's processes took {use.total} MiB ({use}), its slots have "
            f"{limit} MiB; they were killed, so that other jobs keep theirs. What was not "
            "committed is processed again from the last checkpoint. Give the job more slots, or "
            "its TaskManager more memory.",
            Cause.MEMORY,
        )
        driver.kill()


def _known(attempt: Attempt) -> Identity | None:
    if attempt.pid is None or attempt.process_started_at is None:
        return None
    return Identity(attempt.pid, attempt.process_started_at)


def log_tail(run_dir: Path) -> str:
    """The end of a driver's log as it is kept with a failure; "" when there is none."""
    with contextlib.suppress(OSError):
        return text.storable(logtail.read(run_dir, limit=LOG_TAIL_BYTES).text)
    return ""


def _remove_old_run_dirs(attempt: Attempt) -> None:
    """Log and journal of long ended attempts; their rows stay."""
    old = attempt.job.attempts.filter(
        number__lte=attempt.number - RUN_DIRS, state__in=AttemptState.terminal()
    ).order_by("-number")
    for run_dir in old.values_list("run_dir", flat=True)[:RUN_DIRS]:
        shutil.rmtree(run_dir, ignore_errors=True)
