"""The end of Spark's application, in which its workers close the functions of the job."""

from __future__ import annotations

import os
import sys
import time
from pathlib import Path
from typing import Any

from pyspark.sql import SparkSession

#: What is in the command line of daemon and workers.
DAEMON = "headrace.runtime.worker_daemon pyspark.worker"
#: How long functions may take to close, in all workers.
CLOSE_SECONDS = 30.0


def stop(session: SparkSession) -> None:
    """Workers on other machines are not waited for."""
    local = session.conf.get("spark.master", "").startswith("local")  # type: ignore[union-attr]
    workers = _workers(session) if local else []
    session.stop()
    until = time.monotonic() + CLOSE_SECONDS
    while any(map(_runs, workers)) and time.monotonic() < until:
        time.sleep(0.01)


def _workers(session: SparkSession) -> list[int]:
    """And the daemon that has forked them. What plans and commits may hang in a call of its own."""
    jvm: Any = session._jvm
    try:
        found = jvm.java.lang.ProcessHandle.current().descendants().toArray()
        return [each.pid() for each in found if DAEMON in each.info().commandLine().orElse("")]
    except Exception:  # there is no JVM any more
        return []


def _runs(process: int) -> bool:
    """Not what has ended and has nobody who asks how."""
    try:
        os.kill(process, 0)
        stat = Path(f"/proc/{process}/stat").read_text()
    except (ProcessLookupError, PermissionError):  # perhaps its number is another one's now
        return False
    except FileNotFoundError:
        return sys.platform != "linux"
    return stat.rpartition(")")[2].split()[0] not in "ZX"
