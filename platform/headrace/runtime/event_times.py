"""Refuses a job whose windows or joins would get records without a timestamp; tells what of its
strategies has no effect."""

from __future__ import annotations

import logging
from collections.abc import Iterable

from headrace.datastream.connectors.datagen import DataGeneratorSource
from headrace.datastream.connectors.file_system import FileSource
from headrace.datastream.connectors.number_seq import NumberSequenceSource
from headrace.datastream.dataframes import DataFrameSource
from headrace.runtime.operators.operator import KeyedOperator
from headrace.runtime.sources import CollectionSource, SocketSource
from headrace.runtime.transformations import (
    GraphError,
    KeyedTransformation,
    SourceTransformation,
    TimestampsTransformation,
    Transformation,
)

log = logging.getLogger(__name__)

#: Whose records come without a timestamp; of a source of the job's own nobody knows.
_UNTIMED = (
    CollectionSource,
    DataFrameSource,
    DataGeneratorSource,
    FileSource,
    NumberSequenceSource,
    SocketSource,
)


def check(order: Iterable[Transformation]) -> None:
    """`order`: each node behind what it reads. Raises GraphError with the line of the operator."""
    untimed: dict[int, SourceTransformation | None] = {}
    for node in order:
        sources = (untimed[edge.source.id] for edge in node.inputs)
        source = next((each for each in sources if each is not None), None)
        operator = node.operator if isinstance(node, KeyedTransformation) else None
        if source is not None and isinstance(operator, KeyedOperator) and operator.needs_timestamps:
            raise GraphError(
                f"{node.name!r} is in event time, but the records of {source.name!r} get no "
                "timestamp on their way to it; give the source a WatermarkStrategy with a "
                f"timestamp assigner, or call assign_timestamps_and_watermarks ({node.line})"
            )
        untimed[node.id] = None if _gives_timestamps(node) else _of_source(node) or source


def tell_of_alignment(order: Iterable[Transformation]) -> None:
    for node in order:
        if isinstance(node, TimestampsTransformation) and node.strategy.alignment is not None:
            log.warning(
                "with_watermark_alignment(%r) has no effect: no source waits for another one. "
                "Results are the same; windows and joins may keep more state (%s)",
                node.strategy.alignment.group,
                node.line,
            )


def _of_source(node: Transformation) -> SourceTransformation | None:
    if isinstance(node, SourceTransformation) and isinstance(node.source, _UNTIMED):
        return node
    return None


def _gives_timestamps(node: Transformation) -> bool:
    if isinstance(node, TimestampsTransformation):
        return node.strategy.assigner is not None or node.strategy.ingestion_time
    return isinstance(node, KeyedTransformation) and node.operator.gives_timestamps
