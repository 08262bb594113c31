"""A Kafka source's checkpoint without Spark, and a cluster that answers from memory."""

from __future__ import annotations

import json
from collections.abc import Iterable
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from headrace.datastream.connectors.kafka import KafkaSource
from headrace.runtime.kafka_brokers import Offsets, Partitions
from headrace.runtime.kafka_input import KafkaInput
from headrace.runtime.spark_offsets import SparkOffsets


class Checkpoint:
    """Spark's log of a query with one Kafka source that has run one batch."""

    def __init__(self, folder: Path, position: Offsets) -> None:
        self.offsets = SparkOffsets(folder / "spark")
        self.kept = folder / "kafka-source-1.json"
        self.put("sources/0/0", f"\0v1\n{json.dumps(position)}")

    def put(self, path: str, text: str) -> None:
        file = self.offsets.checkpoint / path
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text(text)

    def completed(self, batch: int, *lines: Any) -> None:
        self.planned(batch, *lines)
        self.put(f"commits/{batch}", "v1\n{}")

    def planned(self, batch: int, *lines: Any) -> None:
        self.put(f"offsets/{batch}", "\n".join(["v1", "{}", *map(json.dumps, lines)]))
        self.put(f"offsets/.{batch}.crc", "of the lines above")

    def open(self, built: KafkaSource) -> KafkaInput:
        return KafkaInput.prepare(built, 0, self.kept, self.offsets)


def first_start(folder: Path, built: KafkaSource) -> Checkpoint:
    checkpoint = Checkpoint(folder, {})
    (checkpoint.offsets.checkpoint / "sources/0/0").unlink()
    checkpoint.open(built)
    return checkpoint


@dataclass
class Cluster:
    """Stands for `Brokers`. Topic -> (first offset, end) of each partition."""

    logs: dict[str, list[tuple[int, int]]] = field(default_factory=dict)
    made: dict[str, int] = field(default_factory=dict)
    #: How often more it does not know its topics.
    forgetful: int = 0

    def topics(self) -> Partitions:
        if self.forgetful:
            self.forgetful -= 1
            return {}
        return {topic: list(range(len(log))) for topic, log in self.logs.items()}

    def ids(self, topics: Iterable[str]) -> dict[str, str]:
        return {t: f"{t} {self.made.get(t, 0)}" for t in topics if t in self.logs}

    def earliest(self, partitions: Partitions) -> Offsets:
        return self._offsets(partitions, 0)

    def latest(self, partitions: Partitions) -> Offsets:
        return self._offsets(partitions, 1)

    readable = latest

    def _offsets(self, partitions: Partitions, which: int) -> Offsets:
        return {
            topic: {str(n): self.logs[topic][n][which] for n in numbers}
            for topic, numbers in partitions.items()
            if topic in self.logs
        }
