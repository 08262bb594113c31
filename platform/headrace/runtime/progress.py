"""From Spark's progress and the batch's own report to a checkpoint event."""

from __future__ import annotations

from datetime import datetime
from typing import Any

from headrace.runtime.job_sink import BatchReport
from headrace.runtime.metrics import latency_summary
from headrace.wire.events import CheckpointCompleted

Offsets = dict[str, dict[str, int]]


def checkpoint(
    batch: int,
    progress: dict[str, Any] | None,
    report: BatchReport | None,
    counters: dict[str, int],
) -> CheckpointCompleted:
    """`progress` as StreamingQueryProgress.json, None when the driver that saw it is gone;
    `counters` since the start of the job."""
    return CheckpointCompleted(
        checkpoint_id=batch + 1,
        **{**_from_report(report), **_from_progress(progress)},
        counters=counters,
    )


def _from_progress(progress: dict[str, Any] | None) -> dict[str, Any]:
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
        "offsets": offsets(progress, "endOffset"),
        "lag": lag(progress),
    }


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
    }


def offsets(progress: dict[str, Any], which: str) -> Offsets:
    """Kafka offsets per topic and partition of all sources."""
    found: Offsets = {}
    for source in progress.get("sources", []):
        if "Kafka" in source.get("description", "") and isinstance(source.get(which), dict):
            for topic, partitions in source[which].items():
                known = found.setdefault(topic, {})
                known.update({p: int(offset) for p, offset in partitions.items()})
    return found


def lag(progress: dict[str, Any]) -> Offsets:
    """Records that the brokers hold beyond what this batch read."""
    done, latest = offsets(progress, "endOffset"), offsets(progress, "latestOffset")
    return {
        topic: {
            p: max(0, latest.get(topic, {}).get(p, offset) - offset)
            for p, offset in partitions.items()
        }
        for topic, partitions in done.items()
    }


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
