"""The Spark application of one run."""

from __future__ import annotations

import os
import sys
from typing import Any

from pyspark.sql import SparkSession

from headrace.runtime.context import RunContext

#: Settings that every job runs with; a job's own `spark.*` configuration beats them.
_SETTINGS = {
    "spark.ui.enabled": "false",
    "spark.ui.showConsoleProgress": "false",
    "spark.driver.extraJavaOptions": "-Xss8m",  # stopping in a batch can overflow a small stack
    "spark.sql.session.timeZone": "UTC",
    "spark.python.daemon.module": "headrace.runtime.worker_daemon",
    "spark.python.worker.reuse": "true",  # producers and opened functions live in the workers
    "spark.sql.streaming.stateStore.providerClass": (
        "org.apache.spark.sql.execution.streaming.state.RocksDBStateStoreProvider"
    ),
    "spark.sql.streaming.stateStore.rocksdb.changelogCheckpointing.enabled": "true",
    "spark.sql.adaptive.enabled": "false",
    "spark.sql.streaming.stopTimeout": "20s",
}

_SQL = "org.apache.spark.sql.execution"
_LOGGERS = {
    f"{_SQL}.python.streaming.TransformWithStateInPySparkStateServer": "ERROR",
    f"{_SQL}.streaming.runtime.ResolveWriteToStream": "ERROR",
    f"{_SQL}.streaming.runtime.ProcessingTimeExecutor": "ERROR",
    "org.apache.spark.sql.kafka010.KafkaDataConsumer": "ERROR",
}


def start(context: RunContext, parallelism: int) -> SparkSession:
    """A session of its own JVM; takes 5 to 18 s."""
    os.environ["PYSPARK_PYTHON"] = sys.executable
    settings = {
        **_SETTINGS,
        "spark.driver.memory": f"{context.memory_mib}m",
        # fixed at a job's first start: Spark keeps it in the checkpoint
        "spark.sql.shuffle.partitions": str(parallelism),
        # splits of files must not depend on which executors are there
        "spark.sql.files.minPartitionNum": str(parallelism),
        "spark.sql.warehouse.dir": str(context.run_dir / "warehouse"),
        "spark.local.dir": str(context.run_dir / "spark"),
    }
    if context.master.startswith("local"):
        settings["spark.driver.host"] = "127.0.0.1"
        settings["spark.driver.bindAddress"] = "127.0.0.1"
    if context.master.startswith("spark:"):
        settings["spark.cores.max"] = str(parallelism)
        settings["spark.executor.memory"] = f"{context.memory_mib}m"
    if context.jars:
        settings["spark.jars"] = ",".join(context.jars)
    settings |= {k: v for k, v in context.configuration.items() if k.startswith("spark.")}
    builder = SparkSession.builder.master(context.master).appName(context.name)
    for name, value in settings.items():
        builder = builder.config(name, value)
    session = builder.getOrCreate()
    _quieten(session)
    return session


def _quieten(session: SparkSession) -> None:
    """Warnings and worse only, and none for each state that has no value yet."""
    session.sparkContext.setLogLevel("WARN")
    jvm: Any = session.sparkContext._jvm
    log4j = jvm.org.apache.logging.log4j
    for logger, level in _LOGGERS.items():
        log4j.core.config.Configurator.setLevel(logger, getattr(log4j.Level, level))
