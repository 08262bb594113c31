"""Decoded rows of one split, as `ingest.Decoded` wants them."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

import numpy as np

from headrace.runtime.operators.operator import Element


@dataclass
class Part:
    split: str
    elements: list[Element] = field(default_factory=list)
    rejected: dict[str, list[Element]] = field(default_factory=dict)
    arrived: np.ndarray[Any, Any] = field(default_factory=lambda: np.empty(0, np.int64))
