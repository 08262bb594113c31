"""What a Kafka source keeps beside the checkpoint from its job's first start on."""

from __future__ import annotations

import json
from dataclasses import asdict, dataclass, field
from pathlib import Path

from headrace.datastream.connectors.kafka import KafkaSource
from headrace.runtime import kafka_bounds, kafka_topics
from headrace.runtime.kafka_brokers import Brokers, Offsets, Partitions
from headrace.wire import rundir


@dataclass
class Kept:
    #: Partitions at the first start: each holds the watermark back until it has spoken. Later
    #: ones do from their first record on, so that a batch run again does as it did before.
    partitions: Partitions
    #: Where each of them starts and ends; ends None: nowhere.
    start: Offsets
    ends: Offsets | None
    #: Of the topics as the source has read them.
    ids: dict[str, str] = field(default_factory=dict)
    #: What the program names, as `kafka_topics.named` has it.
    named: list[str] = field(default_factory=list)
    #: Splits that the program has left or that were deleted: they hold event time back no more.
    gone: list[str] = field(default_factory=list)

    @classmethod
    def first(cls, source: KafkaSource, brokers: Brokers) -> Kept:
        """At the job's first start. Raises as `kafka_topics.partitions` and `kafka_bounds.start`
        do."""
        partitions = kafka_topics.partitions(source, brokers)
        return cls(
            partitions=partitions,
            start=kafka_bounds.start(source, partitions, brokers),
            ends=kafka_bounds.end(source, partitions, brokers),
            ids=brokers.ids(partitions),
            named=kafka_topics.named(source),
        )

    @classmethod
    def read(cls, path: Path) -> Kept:
        return cls(**json.loads(path.read_text()))

    def write(self, path: Path) -> None:
        rundir.write_atomically(path, json.dumps(asdict(self)).encode())


def reached(ends: Offsets, positions: Offsets) -> bool:
    """Whether all has been read up to the ends."""
    return all(
        positions.get(topic, {}).get(partition, 0) >= end
        for topic, partitions in ends.items()
        for partition, end in partitions.items()
    )


def up_to(ends: Offsets | None, offsets: Offsets) -> Offsets:
    """The offsets, none beyond the ends."""
    if ends is None:
        return offsets
    return {
        topic: {p: min(offset, ends.get(topic, {}).get(p, offset)) for p, offset in each.items()}
        for topic, each in offsets.items()
    }
