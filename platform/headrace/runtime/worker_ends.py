"""The end of Spark's application, in which its workers close the functions of the job."""

from __future__ import annotations

import logging
import os
import sys
import time
from pathlib import Path
from typing import Any

from pyspark.sql import SparkSession

from headrace.runtime.closing import CLOSE_SECONDS

log = logging.getLogger(__name__)

#: What is in the command line of daemon and workers.
DAEMON = "headrace.runtime.worker_daemon pyspark.worker"


def stop(session: SparkSession) -> None:
    """Workers on other machines are not waited for. Never raises: what the job came to matters."""
    workers = _workers(session)
    try:
        session.stop()
    except Exception as error:  # there is no JVM any more
        log.warning("Spark had ended before it was stopped: %s", error)
    until = time.monotonic() + CLOSE_SECONDS
    while any(map(_runs, workers)) and time.monotonic() < until:
        time.sleep(0.01)


def _workers(session: SparkSession) -> list[int]:
    """And the daemon that has forked them. What plans and commits may hang in a call of its own."""
    try:
        if not str(session.conf.get("spark.master", "")).startswith("local"):
            return []
        jvm: Any = session._jvm
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
