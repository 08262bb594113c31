"""Where event time comes from; PyFlink's `pyflink.common.watermark_strategy`."""

from __future__ import annotations

import abc
from dataclasses import dataclass, replace
from typing import Any

from headrace.common.time import Duration


class TimestampAssigner(abc.ABC):
    """Reads the event time of a value."""

    @abc.abstractmethod
    def extract_timestamp(self, value: Any, record_timestamp: int) -> int:
        """Milliseconds since 1970 UTC. Called once per record, in its split's order.

        `record_timestamp` is the one the source gave (Kafka's), or the smallest long without."""


@dataclass(frozen=True)
class WatermarkStrategy:
    """How watermarks follow from timestamps, per split of the source.

    An operator's watermark is the smallest over its sources and their splits; a split that has
    not spoken yet holds it back until it is idle (`with_idleness`). Watermarks move at the end
    of a micro-batch, behind its data."""

    #: Milliseconds a record may be behind the newest one of its split; None: no watermarks.
    out_of_orderness: int | None
    assigner: TimestampAssigner | None = None
    idle_timeout: int | None = None

    @staticmethod
    def for_monotonous_timestamps() -> WatermarkStrategy:
        return WatermarkStrategy(0)

    @staticmethod
    def for_bounded_out_of_orderness(max_out_of_orderness: Duration) -> WatermarkStrategy:
        return WatermarkStrategy(max_out_of_orderness.to_millis())

    @staticmethod
    def no_watermarks() -> WatermarkStrategy:
        return WatermarkStrategy(None)

    def with_timestamp_assigner(self, timestamp_assigner: TimestampAssigner) -> WatermarkStrategy:
        return replace(self, assigner=timestamp_assigner)

    def with_idleness(self, idle_timeout: Duration) -> WatermarkStrategy:
        if idle_timeout.to_millis() <= 0:
            raise ValueError("the idle timeout must be longer than nothing")
        return replace(self, idle_timeout=idle_timeout.to_millis())
