"""Waits for a job or for an operation and shows how far it is."""

from __future__ import annotations

import time
from collections.abc import Callable, Collection, Mapping
from typing import Any, TypeVar

from headrace.cli.client import Client, Unreachable
from headrace.cli.exits import Exit, Failure
from headrace.cli.terminal import Terminal

POLL_SECONDS = 0.5
#: A server that was there and does not answer is asked again for so long.
AWAY_SECONDS = 300.0

GONE = ("FINISHED", "FAILED", "CANCELED")
ENDED = (*GONE, "SUSPENDED")

_Answer = TypeVar("_Answer")


class Waiting:
    """Asks again and again. A web process that is started again in between is waited for."""

    def __init__(self, client: Client, terminal: Terminal) -> None:
        self._client = client
        self._terminal = terminal

    def job(self, job_id: str, until: Collection[str] = GONE) -> dict[str, Any]:
        """The job once its state is one of `until`, or it has ended otherwise, as it was wanted."""
        said = ("", "")
        while True:
            job = self.answer(lambda: self._client.job(job_id))
            now = (job["state"], job["waiting_for"])
            if now != said:
                said = now
                self._terminal.say(_told(job))
            if job["state"] in until or _is_over(job):
                return job
            if job["state"] == "RUNNING":
                self._terminal.progress(self._progress(job))
            time.sleep(POLL_SECONDS)

    def operation(self, ask: Callable[[], dict[str, Any]], words: str) -> Mapping[str, Any]:
        """What came of it. Raises Failure with its cause."""
        begun = time.monotonic()
        while True:
            answer = self.answer(ask)
            if answer["status"]["id"] == "COMPLETED":
                operation: Mapping[str, Any] = answer["operation"] or {}
                if cause := operation.get("failure-cause") or operation.get("failureCause"):
                    raise Failure(f"{words} failed: {_sentence(cause)}", Exit.REFUSED)
                return operation
            self._terminal.progress(f"{words}: {time.monotonic() - begun:.0f} s")
            time.sleep(POLL_SECONDS)

    def answer(self, ask: Callable[[], _Answer]) -> _Answer:
        """Raises Unreachable when the server stays away."""
        away: float | None = None
        while True:
            try:
                return ask()
            except Unreachable as error:
                if not self._client.reached:
                    raise
                if away is None:
                    away = time.monotonic()
                    self._terminal.say(f"{error}. Asking again; the job does not notice")
                if time.monotonic() - away > AWAY_SECONDS:
                    raise
                time.sleep(POLL_SECONDS)

    def _progress(self, job: Mapping[str, Any]) -> str:
        newest = self.answer(lambda: self._client.checkpoints(job["id"], 1))
        if not newest:
            return "RUNNING: no checkpoint yet"
        last = newest[0]
        lag = sum(sum(partitions.values()) for partitions in job["lag"].values())
        return (
            f"RUNNING: checkpoint {last['checkpoint_id']} took {last['duration']} ms, "
            f"{last['records_in']} records, {lag} behind, {job['restarts']} restarts"
        )


def _told(job: Mapping[str, Any]) -> str:
    why = f": {job['waiting_for']}" if job["waiting_for"] else ""
    return f"{time.strftime('%H:%M:%S')} {job['state']}{why}"


def _is_over(job: Mapping[str, Any]) -> bool:
    """Nothing more happens by itself. A suspended job may be about to go on, or be cancelled."""
    suspended: bool = job["state"] == "SUSPENDED" and job["wanted"] == "suspended"
    return suspended or job["state"] in GONE


def _sentence(cause: Mapping[str, Any]) -> str:
    """Flink's cause is a class and a stack trace; its first line says what."""
    name = str(cause.get("class", "no reason given"))
    trace = str(cause.get("stack-trace") or "").strip()
    return trace.splitlines()[0].removeprefix(f"{name}: ") if trace else name
