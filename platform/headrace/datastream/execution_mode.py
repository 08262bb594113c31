"""PyFlink's `pyflink.datastream.execution_mode`."""

from __future__ import annotations

from enum import Enum


class RuntimeExecutionMode(Enum):
    """How a job goes about its input."""

    #: Results while the input comes in.
    STREAMING = 0
    #: All sources end: event time stands still until they have, then everything fires once;
    #: aggregations of a keyed stream emit the final value only.
    BATCH = 1
    #: BATCH if all sources end, else STREAMING.
    AUTOMATIC = 2
