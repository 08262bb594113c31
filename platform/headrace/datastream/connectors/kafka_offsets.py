"""Where a Kafka source starts and ends, per partition; PyFlink's initializers."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from enum import Enum


@dataclass(frozen=True, order=True)
class KafkaTopicPartition:
    topic: str
    partition: int

    def __post_init__(self) -> None:
        if not isinstance(self.topic, str) or not self.topic:
            raise TypeError(f"a topic is named by a str, not {self.topic!r}")
        if type(self.partition) is not int or self.partition < 0:
            raise ValueError(f"{self.topic}: a partition is a number from 0 on, {self.partition!r}")


class KafkaOffsetResetStrategy(Enum):
    """What is taken for a partition without an offset, or with one that Kafka does not hold."""

    LATEST = 0
    EARLIEST = 1
    #: The job does not start.
    NONE = 2


class Mode(Enum):
    EARLIEST = "earliest"
    LATEST = "latest"
    TIMESTAMP = "timestamp"
    COMMITTED = "committed"
    OFFSETS = "offsets"


@dataclass(frozen=True)
class KafkaOffsetsInitializer:
    """Where a source starts, or ends. A start counts only where there is no checkpoint: on a
    restore the checkpoint wins. Made by its static methods."""

    mode: Mode
    timestamp_ms: int | None = None
    partition_offsets: tuple[tuple[KafkaTopicPartition, int], ...] = ()
    reset: KafkaOffsetResetStrategy = KafkaOffsetResetStrategy.EARLIEST

    @staticmethod
    def committed_offsets(
        offset_reset_strategy: KafkaOffsetResetStrategy = KafkaOffsetResetStrategy.NONE,
    ) -> KafkaOffsetsInitializer:
        """The offsets that the source's group has committed to Kafka; the source needs a group
        id. For partitions without one the strategy counts: NONE keeps the job from starting."""
        _require(offset_reset_strategy, KafkaOffsetResetStrategy, "an offset_reset_strategy")
        return KafkaOffsetsInitializer(Mode.COMMITTED, reset=offset_reset_strategy)

    @staticmethod
    def timestamp(timestamp: int) -> KafkaOffsetsInitializer:
        """The first record of each partition stamped at or after `timestamp` (ms since 1970);
        its end where there is none."""
        _require(timestamp, int, "a timestamp in milliseconds")
        if timestamp < 0:
            raise ValueError(f"a timestamp is milliseconds since 1970, not {timestamp}")
        return KafkaOffsetsInitializer(Mode.TIMESTAMP, timestamp_ms=timestamp)

    @staticmethod
    def earliest() -> KafkaOffsetsInitializer:
        return KafkaOffsetsInitializer(Mode.EARLIEST)

    @staticmethod
    def latest() -> KafkaOffsetsInitializer:
        return KafkaOffsetsInitializer(Mode.LATEST)

    @staticmethod
    def offsets(
        offsets: Mapping[KafkaTopicPartition, int],
        offset_reset_strategy: KafkaOffsetResetStrategy = KafkaOffsetResetStrategy.EARLIEST,
    ) -> KafkaOffsetsInitializer:
        """The given offset of each partition. A partition not named takes the offset that the
        group has committed, else what the strategy says, as one whose offset Kafka does not
        hold does."""
        _require(offset_reset_strategy, KafkaOffsetResetStrategy, "an offset_reset_strategy")
        for where, offset in offsets.items():
            _require(where, KafkaTopicPartition, "a key of offsets")
            if type(offset) is not int or offset < 0:
                raise ValueError(f"{where}: an offset is a number from 0 on, not {offset!r}")
        return KafkaOffsetsInitializer(
            Mode.OFFSETS, partition_offsets=tuple(offsets.items()), reset=offset_reset_strategy
        )


def _require(value: object, kind: type, what: str) -> None:
    if not isinstance(value, kind) or isinstance(value, bool):
        raise TypeError(f"{what} is of type {kind.__name__}, not {value!r}")
