"""A savepoint while its files are copied, by a thread of its own: answered once, and in time."""

from __future__ import annotations

import logging
import threading
import time

from headrace.runtime.context import RunContext
from headrace.runtime.savepoint_requests import SavepointRequest
from headrace.runtime.savepoints import Held, SavepointFailed
from headrace.wire import events, savepoint

log = logging.getLogger(__name__)

POLL_SECONDS = 0.1
#: How long a copy that is given up has to end and to clear up. One that hangs in its file system is
#: left to itself then.
GIVE_UP_SECONDS = 5.0


class SavepointCopy:
    """As Flink's, it takes `execution.checkpointing.timeout` at the most."""

    def __init__(self, held: Held, request: SavepointRequest, context: RunContext) -> None:
        self._held = held
        self._request = request
        self._context = context
        self._begun = time.monotonic()
        self._given_up: tuple[str, float] | None = None
        self._lock = threading.Lock()
        self._answered = threading.Event()
        self.made = False
        threading.Thread(target=self._run, name="savepoint", daemon=True).start()

    def give_up(self, reason: str) -> None:
        """It is not wanted any more. The first reason counts."""
        if self._given_up is None:
            self._given_up = (reason, time.monotonic())

    def check(self) -> bool:
        """Asked again and again: whether it is answered, if only because it hangs."""
        self._why()
        if self._given_up is not None:
            reason, at = self._given_up
            if time.monotonic() - at > GIVE_UP_SECONDS:
                self._fail(reason)
        return self._answered.is_set()

    def wait(self) -> bool:
        """Until it is answered; whether it was made."""
        while not self.check():
            self._answered.wait(POLL_SECONDS)
        return self.made

    def _why(self) -> str:
        """Why it is given up; "" while it is not."""
        stopped = self._context.stop.reason
        limit = self._request.options.timeout_ms / 1000
        if stopped in ("canceled", "suspended"):  # a job that is to end does not wait for it
            self.give_up(f"the job was {stopped} before")
        elif time.monotonic() - self._begun > limit:
            self.give_up(f"it was not complete {limit:.0f} s after it was begun")
        return "" if self._given_up is None else self._given_up[0]

    def _run(self) -> None:
        try:
            path, manifest = self._held.save(self._request.options, self._why)
        except SavepointFailed as error:
            self._fail(str(error))
            return
        except Exception as error:
            log.exception("savepoint %s", self._request.savepoint_id)
            self._fail(f"{type(error).__name__}: {error}")
            return
        finally:
            self._held.release()
        completed = events.SavepointCompleted(
            savepoint_id=self._request.savepoint_id,
            path=str(path),
            checkpoint_id=manifest.checkpoint_id,
            size=manifest.size,
            files=len(manifest.files),
            duration=int((time.monotonic() - self._begun) * 1000),
            artifact_sha256=manifest.artifact_sha256,
        )
        if not self._answer(completed):  # that there is none
            savepoint.dispose(path, self._request.savepoint_id)

    def _fail(self, reason: str) -> None:
        if self._answer(events.SavepointFailed(self._request.savepoint_id, reason)):
            log.warning("no savepoint: %s", reason)

    def _answer(self, event: events.SavepointCompleted | events.SavepointFailed) -> bool:
        """False when it was answered before."""
        with self._lock:
            if self._answered.is_set():
                return False
            self._context.reporter.report(event)
            self.made = isinstance(event, events.SavepointCompleted)
            self._answered.set()
            return True
