"""The Spark application of one run."""

from __future__ import annotations

import logging
import os
import re
import shlex
import sys
import threading
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from pyspark.sql import SparkSession

from headrace.common.type_base import HIDDEN_VARIABLE
from headrace.runtime import memory, worker_ends, worker_sockets
from headrace.runtime.context import RunContext
from headrace.wire import rundir
from headrace.wire.checkpointing import RETAINED

#: Arguments of the JVM's launcher, read when it starts.
_LAUNCHER_ARGUMENTS = "PYSPARK_SUBMIT_ARGS"

#: Settings that every job runs with; a job's own `spark.*` configuration beats them.
SETTINGS = {
    "spark.ui.enabled": "false",
    "spark.ui.showConsoleProgress": "false",
    # stopping in a batch can overflow a small stack
    "spark.driver.extraJavaOptions": f"-Xss8m {memory.JVM_OPTION}",
    "spark.executor.extraJavaOptions": memory.JVM_OPTION,
    "spark.sql.session.timeZone": "UTC",
    "spark.python.daemon.module": "headrace.runtime.worker_daemon",
    "spark.python.worker.reuse": "true",  # producers and opened functions live in the workers
    "spark.sql.streaming.stateStore.providerClass": (
        "org.apache.spark.sql.execution.streaming.state.RocksDBStateStoreProvider"
    ),
    "spark.sql.streaming.stateStore.rocksdb.changelogCheckpointing.enabled": "true",
    # each partition has several of them, of 64 MiB each unless told
    "spark.sql.streaming.stateStore.rocksdb.writeBufferSizeMB": "16",
    "spark.sql.adaptive.enabled": "false",
    "spark.sql.streaming.stopTimeout": "20s",
    "spark.sql.streaming.numRecentProgressUpdates": "32",  # all are fetched after each batch
    # what plans, event logs and errors do not show of options: Spark's default, and Kafka's keys
    "spark.redaction.regex": "(?i)secret|password|token|access[.]?key|jaas|private key",
}

_SQL = "org.apache.spark.sql.execution"
_LOGGERS = {
    f"{_SQL}.python.streaming.TransformWithStateInPySparkStateServer": "ERROR",
    f"{_SQL}.streaming.runtime.ResolveWriteToStream": "ERROR",
    f"{_SQL}.streaming.runtime.ProcessingTimeExecutor": "ERROR",
    f"{_SQL}.datasources.DataSourceManager": "ERROR",  # the job's second query registers again
    "org.apache.spark.sql.kafka010.KafkaDataConsumer": "ERROR",
    # with a stack trace, whenever a query is stopped while Hadoop asks for a file's permissions
    "org.apache.hadoop.util.Shell": "ERROR",
}


#: Completed batches whose files are kept: Spark's least.
LEAST_RETAINED = 2

_lock = threading.Lock()
#: Jobs of this process that run on its application.
_jobs = 0


def start(context: RunContext, parallelism: int) -> SparkSession:
    """A session of this process's application, which the jobs share that run at once; `stop` gives
    it back. Takes 5 to 18 s where none runs yet."""
    global _jobs
    with _lock:
        session = _started(context, parallelism)
        _jobs += 1
    _activate(session)
    return session


def stop(session: SparkSession) -> None:
    """The application ends with the last job."""
    global _jobs
    with _lock:
        _jobs = max(0, _jobs - 1)
        if not _jobs:
            worker_ends.stop(session)


def _started(context: RunContext, parallelism: int) -> SparkSession:
    """What the builder is given stands in the JVM's command line, which every user of the machine
    may read. The job's own settings may be secrets, so they go by a file."""
    own = {k: v for k, v in context.configuration.items() if k.startswith("spark.")}
    builder = SparkSession.builder
    for name, value in settings(context, parallelism).items():
        if name not in own:
            builder = builder.config(name, value)
    make_ready(context, own)
    session = builder.getOrCreate()
    quieten(session)
    return session


def make_ready(context: RunContext, own: Mapping[str, str]) -> None:
    """What the JVM finds when it starts; `own`: settings of the job that may be secrets."""
    os.environ["PYSPARK_PYTHON"] = sys.executable
    # glibc keeps what RocksDB frees in an arena for each of the JVM's threads
    os.environ.setdefault("MALLOC_ARENA_MAX", "2")
    if own:
        _hand_over(own, context.run_dir / "spark.properties")
    # blocks that do not fit into memory: records, and the program with what it signs in with
    _local_dir(context).mkdir(mode=0o700, parents=True, exist_ok=True)


def prepare(session: SparkSession) -> None:
    """Have a session that the program made keep the state of operators, and be the one of this
    thread. Queries that go on from a checkpoint keep the settings that they began with."""
    _activate(session)
    for name, value in SETTINGS.items():
        if name.startswith("spark.sql.streaming.stateStore."):
            session.conf.set(name, value)
    session.sparkContext.environment.update(_worker_environment())


def _activate(session: SparkSession) -> None:
    jvm: Any = session._jvm
    jvm.org.apache.spark.sql.classic.SparkSession.setActiveSession(session._jsparkSession)


def settings(context: RunContext, parallelism: int) -> dict[str, str]:
    """What this run gives Spark unless the job says otherwise."""
    settings = {
        **SETTINGS,
        "spark.master": context.master,
        "spark.app.name": context.name,
        "spark.driver.memory": f"{memory.of_driver(context.memory_mib).heap}m",
        # fixed at a job's first start: Spark keeps it in the checkpoint
        "spark.sql.shuffle.partitions": str(parallelism),
        # splits of files must not depend on which executors are there
        "spark.sql.files.minPartitionNum": str(parallelism),
        "spark.sql.warehouse.dir": str(context.run_dir / "warehouse"),
        "spark.local.dir": str(_local_dir(context)),
        **{f"spark.executorEnv.{name}": each for name, each in _worker_environment().items()},
    }
    if context.master.startswith("local"):
        settings["spark.driver.host"] = "127.0.0.1"
        settings["spark.driver.bindAddress"] = "127.0.0.1"
        settings |= worker_sockets.settings()
    else:
        settings |= _executors(context)
    if retained := context.configuration.get(RETAINED):
        settings["spark.sql.streaming.minBatchesToRetain"] = str(max(LEAST_RETAINED, int(retained)))
    if context.jars:
        settings["spark.jars"] = ",".join(context.jars)
    return settings


def _executors(context: RunContext) -> dict[str, str]:
    """One for each slot, with its memory. Standalone counts the heap alone against the memory of
    its workers; YARN and Kubernetes end what takes more than heap and overhead together."""
    division = memory.of_executor(context.memory_mib)
    return {
        "spark.executor.cores": "1",
        "spark.cores.max": str(context.slots),
        "spark.executor.instances": str(context.slots),
        "spark.dynamicAllocation.enabled": "false",
        "spark.executor.memory": f"{division.heap}m",
        "spark.executor.memoryOverhead": f"{division.beside_heap}m",
        f"spark.executorEnv.{memory.WORKER_VARIABLE}": str(division.beside_heap),
        "spark.executorEnv.ARROW_DEFAULT_MEMORY_POOL": "system",
    }


def _worker_environment() -> dict[str, str]:
    """What the Python workers, wherever they are, have of this process's environment."""
    found = os.environ.get(HIDDEN_VARIABLE)
    return {HIDDEN_VARIABLE: found} if found else {}


def _local_dir(context: RunContext) -> Path:
    return context.run_dir / "spark"


def _hand_over(settings: Mapping[str, str], path: Path) -> None:
    """Have the JVM read the settings from a file that only this user may read."""
    rundir.write_atomically(path, properties(settings).encode("ascii"))
    others = os.environ.get(_LAUNCHER_ARGUMENTS, "pyspark-shell")
    arguments = f"--properties-file {shlex.quote(str(path))} --load-spark-defaults"
    os.environ[_LAUNCHER_ARGUMENTS] = f"{arguments} {others}"


def properties(settings: Mapping[str, str]) -> str:
    """The settings in the form of java.util.Properties, in ASCII."""
    return "".join(f"{_escaped(name)}={_escaped(value)}\n" for name, value in settings.items())


def _escaped(text: str) -> str:
    """Every character that could mean something, as the UTF-16 units that Java knows."""
    return re.sub(r"[^\w.,/-]", _units, text, flags=re.ASCII)


def _units(match: re.Match[str]) -> str:
    units = match[0].encode("utf-16-be", errors="surrogatepass").hex()
    return "".join(f"\\u{units[at : at + 4]}" for at in range(0, len(units), 4))


def quieten(session: SparkSession) -> None:
    """Warnings and worse only, and none for each state that has no value yet."""
    logging.getLogger("py4j").setLevel(logging.WARNING)  # not each connection it closes
    session.sparkContext.setLogLevel("WARN")
    jvm: Any = session.sparkContext._jvm
    log4j = jvm.org.apache.logging.log4j
    for logger, level in _LOGGERS.items():
        log4j.core.config.Configurator.setLevel(logger, getattr(log4j.Level, level))
