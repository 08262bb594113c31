"""What a query of a plain PySpark program says of itself, as the platform's events."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import replace
from datetime import datetime
from typing import Any

from headrace.runtime import progress
from headrace.runtime.kafka_brokers import Offsets
from headrace.runtime.plain_writer import Described
from headrace.wire.events import CheckpointCompleted

__all__ = ["Offsets", "checkpoint", "lag", "lowest", "most", "plan"]

lowest = progress.lowest


def checkpoint(
    number: int, found: dict[str, Any], name: str, behind: Offsets
) -> CheckpointCompleted:
    """`found` as StreamingQueryProgress.json; `behind`: the lag of all queries."""
    written = int(found.get("sink", {}).get("numOutputRows", -1))
    return replace(
        progress.checkpoint(number - 1, found, None, {}),
        records_in=int(found.get("numInputRows", 0)),
        records_out={name: written} if written >= 0 else {},
        watermark=_watermark(found),
        lag=behind,
    )


def lag(found: dict[str, Any]) -> Offsets:
    return progress.lag(found, ())


def most(each: Iterable[Offsets]) -> Offsets:
    """Where several queries read a partition, that of the one behind."""
    result: Offsets = {}
    for lags in each:
        for topic, partitions in lags.items():
            known = result.setdefault(topic, {})
            for partition, behind in partitions.items():
                known[partition] = max(behind, known.get(partition, 0))
    return result


def plan(queries: Sequence[Described], parallelism: int) -> dict[str, Any]:
    """As `runtime.plan.plan`: of each query its sources, itself, and its sink."""
    nodes: list[dict[str, Any]] = []

    def add(kind: str, pact: str, before: Sequence[int]) -> int:
        number = len(nodes) + 1
        node = {"id": number, "type": kind, "pact": pact, "contents": kind}
        node |= {"uid": f"node-{number}", "parallelism": parallelism, "level": 0, "chain": number}
        if before:
            node["predecessors"] = [
                {"id": each, "ship_strategy": "FORWARD", "side": "second" if at else "first"}
                for at, each in enumerate(before)
            ]
        nodes.append(node)
        return number

    for query in queries:
        sources = [add(f"Source: {source}", "Data Source", ()) for source in query.sources]
        middle = add(f"Query: {query.name}", "Operator", sources)
        add(f"Sink: {query.sink}", "Data Sink", (middle,))
    return {"nodes": nodes}


def _watermark(found: dict[str, Any]) -> int | None:
    text = found.get("eventTime", {}).get("watermark", "")
    if not text:
        return None
    moment = int(datetime.fromisoformat(text.replace("Z", "+00:00")).timestamp() * 1000)
    return moment if moment > 0 else None  # 1970 until there is one
