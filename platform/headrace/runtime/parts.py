"""Decoded rows of one split, as `ingest.Decoded` wants them."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

import numpy as np

from headrace.datastream.connectors.python_source import SourceWatermark
from headrace.runtime.operators.operator import Element


@dataclass
class Part:
    split: str
    elements: list[Element] = field(default_factory=list)
    rejected: dict[str, list[Element]] = field(default_factory=dict)
    arrived: np.ndarray[Any, Any] = field(default_factory=lambda: np.empty(0, np.int64))
    #: What the source itself says.
    watermark: int | None = None

    @classmethod
    def of_python(cls, split: str, elements: list[Element]) -> Part:
        """`elements` as a PythonSource gave them, watermarks among them."""
        marks = [v.timestamp for _, v in elements if type(v) is SourceWatermark]
        if not marks:
            return cls(split, elements)
        values = [element for element in elements if type(element[1]) is not SourceWatermark]
        return cls(split, values, watermark=max(marks))
