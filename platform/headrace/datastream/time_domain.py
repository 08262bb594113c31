"""PyFlink's `pyflink.datastream.time_domain`."""

from enum import Enum


class TimeDomain(Enum):
    """Which clock a timer follows."""

    #: The watermark.
    EVENT_TIME = 0
    #: The time of the micro-batch.
    PROCESSING_TIME = 1
