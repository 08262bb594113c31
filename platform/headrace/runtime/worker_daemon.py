"""Spark's Python daemon with what the workers need already imported.

Spark forks its workers from this process. Importing pandas, pyarrow and the runtime takes about two
seconds of CPU: here once, instead of in each worker at the start of a job, when all cores are busy.
Spark's short-lived planning workers need less and get none of it.
"""

import gc
import importlib
import socket
import sys

from pyspark import daemon

from headrace.runtime import closing, memory

#: The workers that run tasks; the daemon's first argument says which kind it forks.
TASKS = "pyspark.worker"
PRELOADED = (
    "pandas",
    "pyarrow",
    "pyspark.sql.pandas.serializers",
    "headrace.runtime.ingest",
    "headrace.runtime.job_sink",
    "headrace.runtime.spark_state",
)


def main() -> None:
    if sys.argv[1:2] == [TASKS]:
        for module in PRELOADED:
            importlib.import_module(module)
        closing.install(daemon)
        # shared with the workers, and left out when each of them collects garbage after a task
        gc.freeze()
        # records are many objects at a time and no cycles: looking for those took longer than work
        gc.set_threshold(100_000, 10, 10)
        daemon.worker = within_memory(daemon.worker)  # type: ignore[assignment]
    daemon.worker = parting_quietly(daemon.worker)  # type: ignore[assignment]
    daemon.manager()


def within_memory(worker: closing.Worker) -> closing.Worker:
    """Spark's worker, that gets no more memory than its job's slots have for it."""

    def run(sock: socket.socket, authenticated: bool) -> int:
        memory.limit_this_process()
        return worker(sock, authenticated)

    return run


def parting_quietly(worker: closing.Worker) -> closing.Worker:
    """Spark's worker, without a traceback where the JVM has gone before it: a query has stopped."""

    def run(sock: socket.socket, authenticated: bool) -> int:
        try:
            return worker(sock, authenticated)
        except BrokenPipeError:
            return 1

    return run


if __name__ == "__main__":
    main()
