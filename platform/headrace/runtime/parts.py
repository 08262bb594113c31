"""Decoded rows of one split, as `ingest.Decoded` wants them."""

from __future__ import annotations

from dataclasses import dataclass, field

from headrace.runtime.operators.operator import Element


@dataclass
class Part:
    split: str
    elements: list[Element] = field(default_factory=list)
    rejected: dict[str, list[Element]] = field(default_factory=dict)
    arrived: list[int] = field(default_factory=list)
