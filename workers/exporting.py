"""Metrics pushed to receivers, and totals kept, by the JobManager that leads.

In threads of their own: a receiver that is slow, or away, holds up neither jobs nor the others.
"""

from __future__ import annotations

import threading
import time
from collections import deque
from collections.abc import Callable, Sequence

import structlog
from django import db
from django.conf import settings
from django.utils import timezone

from jobs import cluster_history
from jobs.exports import collecting, configuration, receivers
from jobs.exports.configuration import Reporter
from jobs.exports.samples import Group
from jobs.models import Job

log = structlog.get_logger(__name__)

TICK_SECONDS = 1.0
TOTALS_SECONDS = 10.0
#: Reports that wait for a receiver; the oldest goes when there is one more.
WAITING = 2

Report = tuple[float, Sequence[Group]]
Send = Callable[[Reporter, Sequence[Group], float], None]


class Outbox:
    """What is to be sent to one receiver, and the thread that does it."""

    def __init__(self, reporter: Reporter, send: Send = receivers.send) -> None:
        self.reporter = reporter
        self._send = send
        self._waiting: deque[Report] = deque(maxlen=WAITING)
        self._word = threading.Condition()
        self._stopped = False
        self._fails = False
        name = f"metrics-{reporter.name}"
        self._thread = threading.Thread(target=self._run, name=name, daemon=True)

    def start(self) -> None:
        self._thread.start()

    def offer(self, report: Report) -> None:
        """Never waits."""
        with self._word:
            self._waiting.append(report)
            self._word.notify()

    def end(self) -> None:
        """After the report that is under way; what waits is not sent."""
        with self._word:
            self._stopped = True
            self._word.notify()

    def stop(self, timeout: float) -> None:
        self.end()
        self._thread.join(timeout)

    def _run(self) -> None:
        while (report := self._next()) is not None:
            self.deliver(report)

    def _next(self) -> Report | None:
        with self._word:
            while not self._waiting and not self._stopped:
                self._word.wait()
            return None if self._stopped else self._waiting.popleft()

    def deliver(self, report: Report) -> None:
        """Trouble is told when it begins and when it is over. What was not taken is not sent
        again: the next report says what is."""
        at, groups = report
        reporter = self.reporter
        try:
            self._send(reporter, groups, at)
        except Exception as error:
            if not self._fails:
                log.warning(
                    "metrics not taken; trying on without another word",
                    reporter=reporter.name,
                    receiver=reporter.where,
                    error=str(error),
                )
            self._fails = True
            return
        if self._fails:
            log.info("metrics are taken again", reporter=reporter.name, receiver=reporter.where)
        self._fails = False


class Exporting:
    """The thread that collects while this process leads."""

    def __init__(
        self,
        leads: Callable[[], bool],
        reporters: Sequence[Reporter] | None = None,
        clock: Callable[[], float] = time.monotonic,
    ) -> None:
        self._leads = leads
        self._clock = clock
        told = configuration.read(settings.HEADRACE_PROPERTIES) if reporters is None else reporters
        self._boxes = [Outbox(reporter) for reporter in told]
        self._due = {box.reporter.name: float("-inf") for box in self._boxes}
        self._totals_due = float("-inf")
        self._stopped = threading.Event()
        self._thread = threading.Thread(target=self._run, name="exports", daemon=True)

    def start(self) -> None:
        for box in self._boxes:
            box.start()
        self._thread.start()

    def stop(self, timeout: float) -> None:
        """In so many seconds, however many receivers keep their report waiting."""
        until = time.monotonic() + timeout
        self._stopped.set()
        for box in self._boxes:
            box.end()
        self._thread.join(timeout)
        for box in self._boxes:
            box.stop(max(0.0, until - time.monotonic()))

    def tick(self) -> None:
        """What is due of totals and reports, if this process leads."""
        if not self._leads():
            return
        now = self._clock()
        if now >= self._totals_due:
            self._totals_due = now + TOTALS_SECONDS
            cluster_history.record(timezone.now())
        due = [box for box in self._boxes if now >= self._due[box.reporter.name]]
        if due:
            self._collect(due, now)

    def _collect(self, due: Sequence[Outbox], now: float) -> None:
        for box in due:
            self._due[box.reporter.name] = now + box.reporter.interval
        scopes = {scope for box in due for scope in box.reporter.scopes}
        at, groups = time.time(), list(collecting.groups(Job.objects.all(), scopes))
        for box in due:
            box.offer((at, [group for group in groups if group.scope in box.reporter.scopes]))

    def _run(self) -> None:
        while not self._stopped.wait(TICK_SECONDS):
            try:
                self.tick()
            except Exception:
                log.exception("metrics not collected; trying again")
            db.close_old_connections()
        db.connections.close_all()
