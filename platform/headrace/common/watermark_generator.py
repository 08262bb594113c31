"""Watermarks by a job's own rule. Java's API: PyFlink has none."""

from __future__ import annotations

import abc
from typing import Any, Protocol


class WatermarkOutput(Protocol):
    """Where a generator's watermarks go."""

    def emit_watermark(self, watermark: int) -> None:
        """No record with this timestamp or an earlier one will come in this split. A smaller one
        than before changes nothing."""


class WatermarkGenerator(abc.ABC):
    """Derives watermarks from the records of one split.

    An instance lives for one micro-batch of its split (or of a part of it), so what it has to
    remember for longer belongs into the records. Watermarks of a batch take effect behind its
    data: the largest counts, and never goes back from batch to batch."""

    @abc.abstractmethod
    def on_event(self, event: Any, event_timestamp: int, output: WatermarkOutput) -> None:
        """Called for each record, in order; a punctuated generator emits from here."""

    @abc.abstractmethod
    def on_periodic_emit(self, output: WatermarkOutput) -> None:
        """Called once, behind the records of a micro-batch."""
