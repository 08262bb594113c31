"""A driver's sign of life: its heartbeat file is touched for as long as the driver gets on.

Two threads: one looks at Spark, and may be kept waiting by it for ever; the other one touches the
file unless `vitals` complains, and writes the complaint into it then.
"""

from __future__ import annotations

import contextlib
import logging
import sys
import threading
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from types import FrameType

from pyspark import SparkContext
from pyspark.sql import SparkSession

from headrace.common.configuration import Configuration
from headrace.runtime.vitals import Sign, Vitals
from headrace.wire import rundir

log = logging.getLogger(__name__)

#: How long a query may be in a batch without running a task or getting on; 0 is for ever. As long
#: as a checkpoint may take in Flink (`execution.checkpointing.timeout`).
STALL_KEY = "headrace.driver.stall-timeout"
STALL_MS = 600_000
ANSWER_SECONDS = 30.0
LOOK_SECONDS = 2.0

_vitals: Vitals | None = None


def start(run_dir: Path, configuration: dict[str, str]) -> None:
    """Beat from now on, for as long as this process lives."""
    global _vitals
    stall_ms = Configuration(configuration).get_millis(STALL_KEY, STALL_MS)
    _vitals = Vitals(ANSWER_SECONDS, stall_ms / 1000)
    for target in (_beat, _look):
        name = f"heartbeat:{target.__name__}"
        threading.Thread(target=target, args=(run_dir, _vitals), name=name, daemon=True).start()


@contextlib.contextmanager
def watched() -> Iterator[Callable[[], None]]:
    """The loop of this thread is to call the given function each time that it goes round."""
    vitals, me = _vitals, threading.get_ident()
    if vitals is None:  # not launched by the platform
        yield lambda: None
        return
    try:
        yield lambda: vitals.pulse(me, time.monotonic())
    finally:
        vitals.left(me)


def _beat(run_dir: Path, vitals: Vitals) -> None:
    path = run_dir / rundir.HEARTBEAT
    said = False
    while True:
        complaint = vitals.complaint(time.monotonic())
        with contextlib.suppress(OSError):  # a full disk must not look like a dead driver
            if not complaint:
                path.write_bytes(b"") if said else path.touch()
                said = False
            elif not said:
                log.error("no heartbeat from now on: %s", complaint)
                path.write_text(complaint)
                said = True
        time.sleep(rundir.HEARTBEAT_SECONDS)


def _look(_: Path, vitals: Vitals) -> None:
    while True:
        time.sleep(LOOK_SECONDS)
        context, session = SparkContext._active_spark_context, SparkSession._instantiatedSession
        if context is None or session is None:
            continue
        vitals.asked(time.monotonic())
        sign = Sign()
        try:
            sign = _sign(context, session)
        except Exception as error:  # it stops, or has died: the job's own thread finds that
            log.info("Spark was not looked at: %.200s", error)
        vitals.answered(sign, time.monotonic())


def _sign(context: SparkContext, session: SparkSession) -> Sign:
    tracker = context.statusTracker()
    stages = [tracker.getStageInfo(stage) for stage in tracker.getActiveStageIds()]
    tasks = sum(stage.numActiveTasks for stage in stages if stage is not None)
    queries = session._jsparkSession.sharedState().activeStreamingQueries()
    at_work = {}
    for query in list(queries.values()):
        status = query.status()
        if status.isTriggerActive():
            name = query.name() or str(query.id())
            at_work[name] = (status.message(), _callbacks())
    return Sign(tasks, at_work)


def _callbacks() -> list[tuple[str, int]]:
    """Where Python functions stand that Spark's driver has called: `foreachBatch`."""
    return [
        (frame.f_code.co_filename, frame.f_lasti)
        for top in sys._current_frames().values()
        for frame in _within_callback(top)
    ]


def _within_callback(top: FrameType) -> list[FrameType]:
    """The frames of a thread above the call that came from the JVM; none without such a call."""
    frames: list[FrameType] = []
    frame: FrameType | None = top
    while frame is not None:
        if frame.f_code.co_name == "_call_proxy":
            return frames
        frames.append(frame)
        frame = frame.f_back
    return []
