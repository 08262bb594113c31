"""The end of Spark's application, in which its workers close the functions of the job."""

from __future__ import annotations

import os
import sys
import time
from pathlib import Path
from typing import Any

from pyspark.sql import SparkSession

#: How long functions may take to close, in all workers.
CLOSE_SECONDS = 10.0


def stop(session: SparkSession) -> None:
    """Workers on other machines are not waited for."""
    local = session.conf.get("spark.master", "").startswith("local")  # type: ignore[union-attr]
    workers = _processes_of_the_jvm(session) if local else []
    session.stop()
    until = time.monotonic() + CLOSE_SECONDS
    while any(map(_runs, workers)) and time.monotonic() < until:
        time.sleep(0.01)


def _processes_of_the_jvm(session: SparkSession) -> list[int]:
    """Workers, and the daemons that they are children of."""
    jvm: Any = session._jvm
    try:
        found = jvm.java.lang.ProcessHandle.current().descendants().toArray()
        return [handle.pid() for handle in found]
    except Exception:  # there is no JVM any more
        return []


def _runs(process: int) -> bool:
    """Not what has ended and has nobody who asks how."""
    try:
        os.kill(process, 0)
        stat = Path(f"/proc/{process}/stat").read_text()
    except ProcessLookupError:
        return False
    except FileNotFoundError:
        return sys.platform != "linux"
    return stat.rpartition(")")[2].split()[0] not in "ZX"
