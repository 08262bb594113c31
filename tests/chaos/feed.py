"""Numbered records for a workload, for as long as it runs."""

from __future__ import annotations

import threading

from confluent_kafka import Producer

KEYS = 12
PARTITIONS = 2
TICK_SECONDS = 0.1


class Feed:
    """Writes `<key> <n>` with n = 0, 1, 2... for each key, a key always to the same partition.

    Each record is in the topic once and in order also when the broker is killed: the producer is
    idempotent and never gives up. The verifier does not rely on it and reads the topic.
    """

    def __init__(self, servers: str, topic: str, per_second: int) -> None:
        self._topic = topic
        self._rounds_per_tick = max(1, round(per_second * TICK_SECONDS / KEYS))
        self._producer = Producer(
            {
                "bootstrap.servers": servers,
                "enable.idempotence": True,
                "message.timeout.ms": 0,
                "linger.ms": 20,
                "log_level": 0,
            }
        )
        self._stop = threading.Event()
        self.rounds = 0
        self._thread = threading.Thread(target=self._run, name=f"feed {topic}", daemon=True)
        self._thread.start()

    def finish(self, seconds: float) -> int:
        """No more records; how many there are. All are acknowledged when it returns."""
        self._stop.set()
        self._thread.join()
        if left := self._producer.flush(seconds):
            raise TimeoutError(f"{left} records of {self._topic} not acknowledged")
        return self.rounds * KEYS

    def _run(self) -> None:
        while not self._stop.wait(TICK_SECONDS):
            for _ in range(self._rounds_per_tick):
                for key in range(KEYS):
                    self._produce(f"k{key}", f"k{key} {self.rounds}", key % PARTITIONS)
                self.rounds += 1
            self._producer.poll(0)

    def _produce(self, key: str, value: str, partition: int) -> None:
        while not self._stop.is_set():
            try:
                self._producer.produce(self._topic, value, key, partition=partition)
                return
            except BufferError:
                self._producer.poll(0.1)
