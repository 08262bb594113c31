"""Where event time comes from; PyFlink's `pyflink.common.watermark_strategy`."""

from __future__ import annotations

import abc
from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Any

from headrace.common.time import Duration
from headrace.common.watermark_generator import WatermarkGenerator
from headrace.common.watermark_generator import WatermarkOutput as WatermarkOutput


class TimestampAssigner(abc.ABC):
    """Reads the event time of a value."""

    @abc.abstractmethod
    def extract_timestamp(self, value: Any, record_timestamp: int) -> int:
        """Milliseconds since 1970 UTC. Called once per record, in its split's order.

        `record_timestamp` is the one the source gave (Kafka's), or the smallest long without."""


class AssignerWithPeriodicWatermarksWrapper:
    """In PyFlink a class of Java's, which there is no JVM of Flink's for."""

    def __init__(self, j_assigner_with_periodic_watermarks: object) -> None:
        raise NotImplementedError(
            "assigners written in Java do not run on Spark; use WatermarkStrategy.for_generator"
        )


@dataclass(frozen=True)
class Alignment:
    """What a program said of aligned watermarks."""

    group: str
    max_drift: Duration
    update_interval: Duration


@dataclass(frozen=True)
class WatermarkStrategy:
    """How watermarks follow from timestamps, per split of the source.

    An operator's watermark is the smallest over its sources and their splits; a split that has
    not spoken yet holds it back until it is idle (`with_idleness`). Watermarks move at the end
    of a micro-batch, behind its data.

    Behind a keyed operator or another exchange, a strategy takes the whole stream for one split:
    in Flink each subtask is one."""

    #: Milliseconds a record may be behind the newest one of its split; None: no watermarks, or
    #: those of a generator.
    out_of_orderness: int | None
    assigner: TimestampAssigner | None = None
    idle_timeout: int | None = None
    #: Makes a generator for each split.
    generator: Callable[[], WatermarkGenerator] | None = None
    #: Records get the time of the micro-batch that reads them.
    ingestion_time: bool = False
    alignment: Alignment | None = None

    @staticmethod
    def for_monotonous_timestamps() -> WatermarkStrategy:
        return WatermarkStrategy(0)

    @staticmethod
    def for_bounded_out_of_orderness(max_out_of_orderness: Duration) -> WatermarkStrategy:
        return WatermarkStrategy(max_out_of_orderness.to_millis())

    @staticmethod
    def no_watermarks() -> WatermarkStrategy:
        return WatermarkStrategy(None)

    @staticmethod
    def for_generator(generator_supplier: Callable[[], WatermarkGenerator]) -> WatermarkStrategy:
        """Java's: watermarks by a generator of your own; `generator_supplier` is its class, or
        makes one. See WatermarkGenerator for how long one lives."""
        return WatermarkStrategy(None, generator=generator_supplier)

    @staticmethod
    def for_ingestion_time() -> WatermarkStrategy:
        """Event time is when a record came into the job: the time of its micro-batch, the same
        when the batch is run again. What Flink once called ingestion time."""
        return WatermarkStrategy(0, ingestion_time=True)

    def with_timestamp_assigner(self, timestamp_assigner: TimestampAssigner) -> WatermarkStrategy:
        if self.ingestion_time:
            raise ValueError("with ingestion time the batch's time is the timestamp")
        return replace(self, assigner=timestamp_assigner)

    def with_idleness(self, idle_timeout: Duration) -> WatermarkStrategy:
        if idle_timeout.to_millis() <= 0:
            raise ValueError("the idle timeout must be longer than nothing")
        return replace(self, idle_timeout=idle_timeout.to_millis())

    def with_watermark_alignment(
        self,
        watermark_group: str,
        max_allowed_watermark_drift: Duration,
        update_interval: Duration | None = None,
    ) -> WatermarkStrategy:
        """Taken for PyFlink's sake, with a warning when the job starts: no source waits for another
        here, as Spark plans what each reads next. In Flink that keeps the state small which waits
        for the slowest source; results are the same with and without."""
        interval = update_interval or Duration.of_millis(1000)
        return replace(
            self, alignment=Alignment(watermark_group, max_allowed_watermark_drift, interval)
        )

    @property
    def silent(self) -> bool:
        """Whether no watermark follows from it before the end of input."""
        return self.out_of_orderness is None and self.generator is None
