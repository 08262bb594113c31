"""Spark's Python daemon with what the workers need already imported.

Spark forks its workers from this process. Importing pandas, pyarrow and the runtime takes about two
seconds of CPU: here once, instead of in each worker at the start of a job, when all cores are busy.
Spark's short-lived planning workers need less and get none of it.
"""

import gc
import importlib
import sys

from pyspark import daemon

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
        # shared with the workers, and left out when each of them collects garbage after a task
        gc.freeze()
    daemon.manager()


if __name__ == "__main__":
    main()
