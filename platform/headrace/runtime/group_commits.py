"""Offsets of what a job has read, committed to Kafka under the source's group.

For those who watch: `kafka-consumer-groups` and lag monitors. The job never reads them back. A
thread of its own does it, so no batch waits; a commit that fails is counted and tried again.
"""

from __future__ import annotations

import logging
import threading
import time
from collections.abc import Mapping

from confluent_kafka import Consumer, KafkaException, TopicPartition

from headrace.connectors.kafka import sending
from headrace.runtime.kafka_brokers import Offsets, each

log = logging.getLogger(__name__)

#: Flink's names.
SUCCEEDED, FAILED = "commitsSucceeded", "commitsFailed"
RETRY_SECONDS = 5.0
#: What a broker that does not answer may cost: a commit, and the end of the job.
COMMIT_SECONDS = 6.0
CLOSE_SECONDS = 8.0


class GroupCommits:
    """Commits the newest offsets it was given; older ones that it did not get to are left out."""

    def __init__(
        self, servers: str, group: str, options: Mapping[str, str], every_ms: int | None
    ) -> None:
        """`every_ms`: at most that often; None: at once."""
        self._group = group
        self._options = {
            **options,
            "bootstrap.servers": servers,
            "group.id": group,
            "enable.auto.commit": False,
            "session.timeout.ms": int(COMMIT_SECONDS * 1000),  # how long a commit looks for it
        }
        self._pause = 0.0 if every_ms is None else every_ms / 1000
        self._condition = threading.Condition()
        self._waiting: Offsets | None = None
        self._counts = {SUCCEEDED: 0, FAILED: 0}
        self._committed: Offsets = {}
        self._closing = False
        self._thread = threading.Thread(target=self._run, name=f"commits-{group}", daemon=True)
        self._thread.start()

    def offer(self, offsets: Offsets) -> None:
        """A checkpoint that ends at these offsets is complete."""
        with self._condition:
            if offsets and offsets != self._committed:
                self._waiting = offsets
                self._condition.notify()

    def take_counts(self) -> dict[str, int]:
        """Commits since the last call."""
        with self._condition:
            taken, self._counts = self._counts, {SUCCEEDED: 0, FAILED: 0}
            return {name: n for name, n in taken.items() if n}

    @property
    def committed(self) -> Offsets:
        """What the group has, as far as this job has committed it."""
        with self._condition:
            return self._committed

    def close(self) -> None:
        """Commit what waits, once, and end."""
        with self._condition:
            self._closing = True
            self._condition.notify()
        self._thread.join(CLOSE_SECONDS)

    def _run(self) -> None:
        consumer = None
        while (offsets := self._next()) is not None:
            try:
                consumer = consumer or Consumer(self._options)
                _commit(consumer, offsets)
            except (KafkaException, ValueError, TypeError) as error:
                self._failed(offsets, error)
            else:
                self._succeeded(offsets)
            self._rest(self._pause)
        if consumer is not None:
            consumer.close()

    def _next(self) -> Offsets | None:
        """The newest offsets, when there are some; None at the end."""
        with self._condition:
            self._condition.wait_for(lambda: self._waiting is not None or self._closing)
            offsets, self._waiting = self._waiting, None
            return offsets

    def _succeeded(self, offsets: Offsets) -> None:
        with self._condition:
            self._counts[SUCCEEDED] += 1
            self._committed = offsets

    def _failed(self, offsets: Offsets, error: Exception) -> None:
        log.warning(
            "offsets of group %r were not committed (%s); the job does not need them and goes on",
            self._group,
            sending.reason(error),
        )
        with self._condition:
            self._counts[FAILED] += 1
            if self._waiting is None and not self._closing:
                self._waiting = offsets
        self._rest(RETRY_SECONDS)

    def _rest(self, seconds: float) -> None:
        until = time.monotonic() + seconds
        with self._condition:
            while not self._closing and (left := until - time.monotonic()) > 0:
                self._condition.wait(left)


def _commit(consumer: Consumer, offsets: Offsets) -> None:
    """Raises KafkaException, too, when a part of them is refused."""
    asked = [TopicPartition(t, int(p), o) for t, p, o in each(offsets)]
    for answer in consumer.commit(offsets=asked, asynchronous=False):
        if answer.error is not None:
            raise KafkaException(answer.error)
