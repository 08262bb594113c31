"""Ends a streaming query in order."""

from __future__ import annotations

import time

from pyspark.sql.streaming.query import StreamingQuery

#: How long a stop waits for the micro-batch that runs; what is open then is aborted and redone.
STOP_SECONDS = 10.0


def stop(query: StreamingQuery) -> None:
    """Between two batches, or where batches follow on each other just after one has ended; what
    has begun then is aborted, and run again by the next attempt."""
    before = _batches_done(query)
    until = time.monotonic() + STOP_SECONDS
    while query.isActive and query.status["isTriggerActive"] and time.monotonic() < until:
        if _batches_done(query) > before:
            break
        time.sleep(0.01)
    query.stop()


def _batches_done(query: StreamingQuery) -> int:
    last = query.lastProgress
    return -1 if last is None else int(last["batchId"])
