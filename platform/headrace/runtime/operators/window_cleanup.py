"""When what is kept of a window goes."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from headrace.runtime.frames import MAX_WATERMARK
from headrace.runtime.operators.operator import KeyedContext


@dataclass(frozen=True)
class Cleanup:
    """Behind a window's end: in event time the allowed lateness later, else at once."""

    event_time: bool
    allowed_lateness: int

    def time(self, window: Any) -> int:
        end: int = window.max_timestamp()
        return min(end + self.allowed_lateness, MAX_WATERMARK) if self.event_time else end

    def register(self, cleanup: int, window: Any, context: KeyedContext) -> None:
        if cleanup == MAX_WATERMARK:
            return
        if self.event_time:
            context.register_timer(cleanup, window)
        else:
            context.register_processing_timer(cleanup, window)

    def delete(self, window: Any, context: KeyedContext) -> None:
        if self.event_time:
            context.delete_timer(self.time(window), window)
        else:
            context.delete_processing_timer(self.time(window), window)
