"""PyFlink 1's `pyflink.datastream.time_characteristic`, which version 2 has no more."""

from __future__ import annotations

from enum import Enum


class TimeCharacteristic(Enum):
    """Which time a job is about: since Flink 1.12 its windows, timers and strategies say so."""

    ProcessingTime = 0
    IngestionTime = 1
    EventTime = 2
