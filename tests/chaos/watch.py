"""A read_committed consumer that runs along, as a user's would."""

from __future__ import annotations

import threading
import time
from dataclasses import dataclass, field

from confluent_kafka import TopicPartition

from tests.chaos.answers import Tally
from tests.chaos.reading import consumer_of

POLL_SECONDS = 0.2


@dataclass
class Stall:
    """The longest time without a new record in any of the topics."""

    seconds: float = 0.0
    ended_at: float = 0.0


@dataclass
class Watch:
    """Reads the topics of a workload until it is told to stop."""

    servers: str
    topics: list[str]
    partitions: int
    counted: bool
    tallies: dict[str, Tally] = field(default_factory=dict)
    stall: Stall = field(default_factory=Stall)

    def __post_init__(self) -> None:
        self.tallies = {topic: Tally(self.counted) for topic in self.topics}
        self._stop = threading.Event()
        self._last = time.monotonic()
        self._thread = threading.Thread(target=self._run, name="watch", daemon=True)
        self._thread.start()

    @property
    def problems(self) -> list[str]:
        return [
            f"seen live in {topic}: {problem}"
            for topic, tally in self.tallies.items()
            for problem in tally.problems + tally.wrong_counts
        ]

    def records(self) -> int:
        """In the topic that is furthest behind."""
        return min(tally.records for tally in self.tallies.values())

    def finish(self) -> None:
        self._stop.set()
        self._thread.join()

    def _run(self) -> None:
        with consumer_of(self.servers, "read_committed") as consumer:
            consumer.assign(
                [TopicPartition(t, p, 0) for t in self.topics for p in range(self.partitions)]
            )
            while not self._stop.is_set():
                messages = [m for m in consumer.consume(1000, POLL_SECONDS) if m.error() is None]
                for message in messages:
                    self.tallies[message.topic() or ""].take((message.value() or b"").decode())
                self._note(bool(messages))

    def _note(self, new: bool) -> None:
        now = time.monotonic()
        if self.records() and now - self._last > self.stall.seconds:
            self.stall = Stall(now - self._last, time.time())
        if new:
            self._last = now
