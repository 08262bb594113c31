"""The jobs of a run: each counts numbered records per key from a topic of its own to two others."""

from __future__ import annotations

import uuid
from dataclasses import dataclass, field
from pathlib import Path

from tests.chaos import feed, reading
from tests.chaos.watch import Watch
from workers.embedded.kafka import ensure_topics

PROGRAM = Path(__file__).parents[1] / "job.py"
RECORDS_PER_SECOND = 120
#: Between two micro-batches: four jobs share the machine.
INTERVAL_MS = 2000
#: Of transactions. A slow machine takes a minute for its first batch; what dead drivers have left
#: open is ended by their successors.
TIMEOUT_MS = 300_000
SETTINGS = {"source.max-records-per-batch": "5000"}


@dataclass
class Numbers:
    """One of them, with its records and its live consumer."""

    servers: str
    number: int
    counted: bool = True
    timeout_ms: int = TIMEOUT_MS
    #: Once submitted.
    id: str = ""
    prefix: str = field(default_factory=lambda: f"numbers-{uuid.uuid4().hex[:8]}")

    def __post_init__(self) -> None:
        self.name = f"numbers {self.number}"
        self.source = f"{self.prefix}-in"
        self.outputs = self.sinks = [f"{self.prefix}-first", f"{self.prefix}-second"]
        topics = dict.fromkeys([self.source, *self.outputs], feed.PARTITIONS)
        ensure_topics(self.servers, topics, {"retention.ms": "-1"})
        reading.keep_markers(self.servers)
        self._feed = feed.Feed(self.servers, self.source, RECORDS_PER_SECOND)
        self.watch = Watch(self.servers, self.outputs, feed.PARTITIONS, counted=True)

    @property
    def arguments(self) -> list[str]:
        return [self.source, *self.outputs, self.prefix, str(self.timeout_ms), str(INTERVAL_MS)]

    def given(self) -> int:
        """Records that have come in so far."""
        return self._feed.rounds * feed.KEYS

    def no_more(self) -> int:
        """How many records there are; none follows."""
        return self._feed.finish(60)

    def end(self) -> None:
        self.watch.finish()
        self._feed.finish(60)
