"""From Spark's progress and the batch's own report to a checkpoint event."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from datetime import datetime
from itertools import islice, zip_longest
from typing import Any

from headrace.runtime.job_sink import BatchReport
from headrace.runtime.kafka_brokers import Offsets
from headrace.runtime.kafka_kept import up_to
from headrace.runtime.measuring.shape import Shape
from headrace.runtime.metrics import latency_summary
from headrace.wire.events import CheckpointCompleted

#: Gauges and distributions of one job that its checkpoints tell.
MOST_NAMES = 300

#: Where each Kafka source ends, in the order of the program; None: nowhere.
Ends = Sequence[Offsets | None]


def checkpoint(
    batch: int,
    progress: dict[str, Any] | None,
    report: BatchReport | None,
    counters: dict[str, int],
    ends: Ends = (),
    committed: Offsets | None = None,
) -> CheckpointCompleted:
    """`progress` as StreamingQueryProgress.json, None when the driver that saw it is gone;
    `counters` since the start of the job; `committed`: what the groups of sources have."""
    return CheckpointCompleted(
        checkpoint_id=batch + 1,
        **{**_from_report(report), **_from_progress(progress, ends)},
        counters=counters,
        committed_offsets=committed or {},
    )


def _from_progress(progress: dict[str, Any] | None, ends: Ends) -> dict[str, Any]:
    if progress is None:
        return {}
    phases = {name: int(ms) for name, ms in progress.get("durationMs", {}).items()}
    operators = progress.get("stateOperators", [])
    return {
        "started_at": _millis(progress["timestamp"]),
        "duration": phases.get("triggerExecution", 0),
        "state_size": sum(_state_bytes(o) for o in operators),
        "state_rows": sum(int(o.get("numRowsTotal", 0)) for o in operators),
        "phases": phases,
        "offsets": offsets(progress, ends),
        "lag": lag(progress, ends),
    }


def tasks(
    progress: dict[str, Any], shape: Shape, busy: dict[str, list[int]]
) -> dict[str, dict[str, Any]]:
    """What the vertices did for a checkpoint: `busy` by their ids, ms of each subtask, and the
    state of those that have a level for themselves."""
    found: dict[str, dict[str, Any]] = {vertex: {"busy": each} for vertex, each in busy.items()}
    levels = list(reversed(progress.get("stateOperators", [])))  # Spark begins with the last
    for level, operator in enumerate(levels, 1):
        here = shape.keeping_state(level)
        if len(here) == 1:
            found.setdefault(here[0], {}).update(
                state_size=_state_bytes(operator), state_rows=int(operator.get("numRowsTotal", 0))
            )
    return found


def _from_report(report: BatchReport | None) -> dict[str, Any]:
    if report is None:
        return {"started_at": 0, "duration": 0}
    waited = max(0, report.visible_at - report.time)
    return {
        "started_at": report.time,
        "duration": waited,
        "records_in": report.metrics.records_in,
        "records_out": report.records_out,
        "transactions": report.transactions,
        "latency": latency_summary(report.metrics.ages, waited),
        "watermark": _watermark(report.metrics.watermarks),
        "gauges": dict(islice(report.metrics.gauges.items(), MOST_NAMES)),
        "distributions": dict(islice(report.metrics.distributions.items(), MOST_NAMES)),
    }


def kafka_offsets(progress: dict[str, Any], which: str) -> list[Offsets]:
    """Of each Kafka source, in the order of the program; empty where it has none yet."""
    found: list[Offsets] = []
    for source in progress.get("sources", []):
        if source.get("description", "").startswith("KafkaV2["):
            given = source.get(which) or {}
            found.append({t: {p: int(o) for p, o in ps.items()} for t, ps in given.items()})
    return found


def offsets(progress: dict[str, Any], ends: Ends) -> Offsets:
    """Where the next batch starts; where several sources read a partition, the one behind."""
    done = kafka_offsets(progress, "endOffset")
    return lowest([up_to(e, o) for e, o in zip_longest(ends, done) if o is not None])


def lag(progress: dict[str, Any], ends: Ends) -> Offsets:
    """Records, up to where a source ends, that the brokers hold beyond what this batch read, as
    far as they can be read; of open transactions none."""
    done, latest = kafka_offsets(progress, "endOffset"), kafka_offsets(progress, "latestOffset")
    most: Offsets = {}
    for end, here, there in zip_longest(ends, done, latest):
        for topic, partitions in up_to(end, there or {}).items():
            read = up_to(end, here or {}).get(topic, {})
            lags = most.setdefault(topic, {})
            for partition, offset in partitions.items():
                behind = max(0, offset - read.get(partition, 0))
                lags[partition] = max(behind, lags.get(partition, 0))
    return most


def lowest(each: Iterable[Offsets]) -> Offsets:
    result: Offsets = {}
    for offsets in each:
        for topic, partitions in offsets.items():
            known = result.setdefault(topic, {})
            for partition, offset in partitions.items():
                known[partition] = min(offset, known.get(partition, offset))
    return result


def _state_bytes(operator: dict[str, Any]) -> int:
    """Of the state as RocksDB last wrote it out (every few batches; between them changes are
    kept as a log). `memoryUsedBytes` is that of its caches and says little of the state."""
    custom = operator.get("customMetrics", {})
    return int(custom.get("rocksdbSstFileSize", operator.get("memoryUsedBytes", 0)))


def _watermark(watermarks: dict[int, int]) -> int | None:
    """The last level's, if event time can say it (not before the first, not at the end)."""
    if not watermarks:
        return None
    value = watermarks[max(watermarks)]
    return value if abs(value) < 1 << 61 else None


def _millis(timestamp: str) -> int:
    return int(datetime.fromisoformat(timestamp.replace("Z", "+00:00")).timestamp() * 1000)
