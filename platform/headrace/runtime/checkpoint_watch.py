"""Checkpoints that take too long. No I/O.

A micro-batch cannot be given up without losing its records, so one that takes longer than the
timeout counts as a failed checkpoint and goes on: it may still be completed. Only when more fail in
a row than are tolerated, the job fails, and its restart strategy decides.
"""

from __future__ import annotations

from dataclasses import dataclass

from headrace.common.configuration import Configuration
from headrace.datastream.checkpoint_config import CheckpointConfig


@dataclass(frozen=True)
class Expired:
    """A batch has taken longer than allowed. `too_many`: more in a row than are tolerated."""

    batch: int
    in_a_row: int
    too_many: bool


class CheckpointWatch:
    """Of one run. `observe` is called again and again while its query runs."""

    def __init__(self, timeout_ms: int, tolerable: int) -> None:
        self.timeout_ms = timeout_ms
        self._tolerable = tolerable
        self._in_a_row = 0
        #: The batch that runs, when it was seen first, and whether it has expired.
        self._running: int | None = None
        self._since = 0.0
        self._expired = False

    @classmethod
    def of(cls, configuration: dict[str, str]) -> CheckpointWatch:
        config = CheckpointConfig(Configuration(configuration))
        tolerable = config.get_tolerable_checkpoint_failure_number()
        return cls(config.get_checkpoint_timeout(), tolerable)

    def observe(self, planned: int | None, completed: int | None, now: float) -> Expired | None:
        """The newest batches that were planned and completed; `now` in seconds of a clock that
        never goes back. What has expired since the last call."""
        running = planned if planned != completed else None
        if running != self._running:
            if self._running is not None and not self._expired:
                self._in_a_row = 0  # it was completed in time
            self._running, self._since, self._expired = running, now, False
        if running is None or self._expired or (now - self._since) * 1000 <= self.timeout_ms:
            return None
        self._expired = True
        self._in_a_row += 1
        return Expired(running, self._in_a_row, self._in_a_row > self._tolerable)
