"""PyFlink's `pyflink.datastream.timerservice`."""

from __future__ import annotations

import abc


class TimerService(abc.ABC):
    """Time and timers of the current key.

    A second timer of the same key, kind and time changes nothing. Timers fire in order of time.
    Processing time is that of the micro-batch: the same for all its records, and when it is run
    again. A batch fires the processing-time timers of before its time, then handles its records,
    then fires the event-time timers that the watermark has passed, and the processing-time timers
    of its very time. Processing-time timers that are not due when all input has ended do not
    fire, as in Flink."""

    @abc.abstractmethod
    def current_processing_time(self) -> int:
        """The time of the micro-batch, the same when it is run again."""

    @abc.abstractmethod
    def current_watermark(self) -> int: ...

    @abc.abstractmethod
    def register_processing_time_timer(self, timestamp: int) -> None:
        """Fires in the first batch whose time has reached `timestamp`; one runs soon after it."""

    @abc.abstractmethod
    def register_event_time_timer(self, timestamp: int) -> None:
        """Fires once the watermark reaches `timestamp`."""

    @abc.abstractmethod
    def delete_processing_time_timer(self, timestamp: int) -> None: ...

    @abc.abstractmethod
    def delete_event_time_timer(self, timestamp: int) -> None: ...
