"""The JobManager: moves what is towards what is wanted, one step at a time.

Any number may run; the one that holds the lease acts. A step is decided from the tables alone
(`workers.decisions`) and written in a transaction that is committed only while the lease is held,
so it can be killed, paused or replaced between any two of its instructions.
"""

from __future__ import annotations

import contextlib
import os
import socket
import threading
import time
from contextlib import AbstractContextManager

import structlog
from django import db
from django.conf import settings
from django.db import close_old_connections
from django.utils import timezone

from jobs import attempts, audit, history, jobmanagers, leases, sign_ins, taskmanagers
from workers import diagnosing, nudges, savepoint_commands, schedules, vitals
from workers.alerts.rounds import Rounds
from workers.exporting import Exporting
from workers.listening import Listening
from workers.round import Round
from workers.word import Word

log = structlog.get_logger(__name__)

TICK_SECONDS = 0.5
RENEW_SECONDS = 1.5
PRUNE_SECONDS = 600.0
REPORT_SECONDS = 10.0
STOP_SECONDS = 2.0


class JobManager:
    """One process; `run` until `stop`."""

    def __init__(self, name: str | None = None) -> None:
        self.name = name or f"{socket.gethostname()}:{os.getpid()}"
        self._held: leases.Held | None = None
        self._renewed = 0.0
        self._pruned = float("-inf")
        self._reported = float("-inf")
        self._vitals = vitals.Gauge()
        self._began = timezone.now()
        self._stands_by = False
        self._diagnosing = diagnosing.Diagnosing(jobmanager=self.name)
        self._listening = Listening()
        self._word = Word()
        self._alerts = Rounds()
        self._stopped = threading.Event()

    def run(self) -> None:
        ear = nudges.Ear(nudges.line(), settings.REDIS_URL)
        exporting = Exporting(lambda: self.leads)
        exporting.start()
        while not self._stopped.is_set():
            began = time.monotonic()
            try:
                self.tick()
            except db.Error:
                log.exception("the database does not answer; trying again")
            except Exception:
                # What stops one leader would stop the next one, too.
                log.exception("tick failed; trying again")
            close_old_connections()
            # Word that comes all the time takes half a core, no more: it is answered together.
            self._stopped.wait(min(time.monotonic() - began, TICK_SECONDS))
            ear.wait(TICK_SECONDS, self._stopped)
        if self._held is not None:
            leases.give_up(self._held)
        exporting.stop(STOP_SECONDS)
        with contextlib.suppress(db.Error):
            jobmanagers.leave(self.name)

    def stop(self) -> None:
        """End after the current tick; safe to call from a signal handler."""
        self._stopped.set()

    @property
    def leads(self) -> bool:
        return self._held is not None

    def tick(self) -> None:
        """Lead if possible, then take every step that is due."""
        try:
            if self._lead():
                self._notice_lost_taskmanagers()
                schedules.settle(timezone.now(), self._guard)
                savepoint_commands.give_up_unreached(timezone.now(), self._guard)
                Round(self._guard, self._renew, self._word).run()
                self._alerts.tick(self._guard)
                self._prune()
        except leases.Deposed as error:
            log.warning("deposed", error=str(error))
            self._held = None
        self._report()
        self._diagnosing.look()

    def _report(self) -> None:
        """Also while it stands by."""
        if time.monotonic() - self._reported >= REPORT_SECONDS:
            self._reported = time.monotonic()
            host, figures = socket.gethostname(), self._vitals.look()
            jobmanagers.report(self.name, host, os.getpid(), self._began, figures)

    def _lead(self) -> bool:
        if self._held is None:
            self._held = leases.take(leases.JOBMANAGER, self.name)
            if self._held is not None:
                self._renewed = time.monotonic()
                self._listening = Listening()
                log.info("leads", name=self.name, epoch=self._held.epoch)
            elif not self._stands_by:
                log.info("stands by", name=self.name)
            self._stands_by = self._held is None
        else:
            self._renew()
        return self._held is not None

    def _renew(self) -> None:
        """In the middle of a long tick, too."""
        if time.monotonic() - self._renewed > RENEW_SECONDS:
            leases.renew(self._lease())
            self._renewed = time.monotonic()

    def _notice_lost_taskmanagers(self) -> None:
        timeout = settings.HEADRACE_HEARTBEAT_TIMEOUT
        rows = {row.pk: row for row in taskmanagers.awaited()}
        heartbeats = {pk: row.last_heartbeat for pk, row in rows.items()}
        for pk in self._listening.silent(time.monotonic(), heartbeats, timeout):
            with self._guard():
                taskmanagers.lose(rows[pk])

    def _prune(self) -> None:
        """Those of TaskManagers, leads, drains and schedules. A job's go with the ends of its
        attempts. And figures that are too old, of what has ended."""
        if time.monotonic() - self._pruned >= PRUNE_SECONDS:
            self._pruned = time.monotonic()
            attempts.prune_events(None, attempts.EVENTS_OF_NO_JOB)
            history.prune(timezone.now())
            audit.prune(timezone.now())
            sign_ins.prune(timezone.now())

    def _guard(self) -> AbstractContextManager[None]:
        return leases.guard(self._lease())

    def _lease(self) -> leases.Held:
        if self._held is None:
            raise leases.Deposed(f"{self.name} does not lead")
        return self._held
