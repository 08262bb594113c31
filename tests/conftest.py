"""Real servers for the tests that need them, each started once per run, and a leak check."""

from __future__ import annotations

import contextlib
import os
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING

import psutil
import pytest
from django.test.utils import setup_databases, teardown_databases
from pytest_django import DjangoDbBlocker

from tests import isolation
from tests.kafka import brokers
from tests.processes import command_line
from workers.embedded import ports

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

LEAK_GRACE_SECONDS = 30.0
BROKER_SECONDS = 120.0

#: Files of minutes, the longest first: a long one that is begun last runs on alone.
LONG = (
    *("chaos/test_flights_exactly_once.py", "chaos/test_chaos.py", "kafka/test_sink_spark.py"),
    *("kafka/test_sources_in_jobs.py", "kafka/test_savepoints.py", "chaos/control/test_control.py"),
    *("kafka/test_sink_security_jobs.py", "kafka/test_sink_recovery.py"),
    *("spark/test_restored_programs.py", "service/test_lost_machines.py"),
    *("spark/test_standalone.py", "spark/test_dataframes.py", "kafka/test_sink_broker_loss.py"),
    *("service/test_upgraded_program.py", "twophase/test_mixed_job.py"),
)


@pytest.hookimpl(trylast=True)
def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Long files begin first; folders stay together, as fixtures of theirs do."""
    ranks = {Path(__file__).parent / name: rank for rank, name in enumerate(LONG)}
    items.sort(key=lambda item: (ranks.get(item.path, len(LONG)), item.path.parts[:-1]))


@pytest.fixture(scope="session", autouse=True)
def no_process_left() -> Iterator[None]:
    """Fails the run when a process that a test started, or its child, is still there."""
    yield
    _, alive = psutil.wait_procs(_started_by_this_run(), timeout=LEAK_GRACE_SECONDS)
    left = [f"{process.pid} {command_line(process)[:200]}" for process in alive]
    for process in alive:
        with contextlib.suppress(psutil.NoSuchProcess):
            process.kill()
    assert not left, "processes left running by the tests:\n" + "\n".join(left)


def _started_by_this_run() -> list[psutil.Process]:
    return [process for process in psutil.process_iter() if _is_of_this_run(process)]


def _is_of_this_run(process: psutil.Process) -> bool:
    try:
        mark = process.environ().get(isolation.RUN_VARIABLE)
        return mark == isolation.RUN and process.pid not in _own_line()
    except (psutil.NoSuchProcess, psutil.AccessDenied):
        return False


def _own_line() -> set[int]:
    own = psutil.Process()
    return {own.pid, *(parent.pid for parent in own.parents())}


@pytest.fixture(scope="session")
def django_db_setup(
    django_test_environment: None, django_db_blocker: DjangoDbBlocker
) -> Iterator[None]:
    """The test database. pytest-django's own makes it only if a test of the run is marked, and
    tests that share a cluster cannot be: their rows are for other processes to see."""
    with django_db_blocker.unblock():
        made = setup_databases(verbosity=0, interactive=False, serialized_aliases=set())
    yield
    with django_db_blocker.unblock():
        teardown_databases(made, verbosity=0)


@pytest.fixture(scope="session")
def jar_folder() -> Path:
    """Where verified jars are, or are put."""
    return isolation.JARS


@pytest.fixture(scope="session")
def jars(jar_folder: Path) -> list[Path]:
    """Spark's Kafka connector, for `spark.jars` or a job's spec."""
    from workers.embedded import jars as embedded_jars

    return embedded_jars.resolve("spark", jar_folder)


@pytest.fixture(scope="session")
def kafka(tmp_path_factory: pytest.TempPathFactory, jar_folder: Path) -> Iterator[str]:
    """Bootstrap servers of a real broker. It is shared: use topic names of your own."""
    from workers.embedded import kafka as embedded_kafka

    port = ports.free()
    broker = embedded_kafka.start(tmp_path_factory.mktemp("kafka"), port, jar_folder)
    yield embedded_kafka.bootstrap_servers(port)
    embedded_kafka.stop(broker)


@pytest.fixture(autouse=True)
def no_transaction_left(request: pytest.FixtureRequest) -> Iterator[None]:
    """Ends what processes that a test killed have left open at the shared broker: for a quarter of
    an hour it would hide the markers behind it from recoveries of the tests that follow."""
    yield
    if "kafka" in request.fixturenames:
        brokers.abort_all(request.getfixturevalue("kafka"), BROKER_SECONDS)


@pytest.fixture(scope="session")
def redis_url(tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    """A real Redis. It is shared: use keys and queues of your own."""
    from workers.embedded import redis as embedded_redis

    port = ports.free()
    server = embedded_redis.start(tmp_path_factory.mktemp("redis"), port)
    yield embedded_redis.url(port)
    embedded_redis.stop(server)


@pytest.fixture(scope="session")
def spark(jars: list[Path], tmp_path_factory: pytest.TempPathFactory) -> Iterator[SparkSession]:
    """One Spark for all tests that need one: two cores, a job's settings, the Kafka connector."""
    from pyspark.sql import SparkSession

    from headrace.runtime import spark_session, worker_sockets

    os.environ["PYSPARK_PYTHON"] = sys.executable
    settings = {
        **spark_session.SETTINGS,
        **worker_sockets.settings(),
        "spark.driver.host": "127.0.0.1",
        "spark.driver.bindAddress": "127.0.0.1",
        "spark.driver.memory": "1g",
        "spark.jars": ",".join(map(str, jars)),
        "spark.sql.shuffle.partitions": "2",
        "spark.sql.warehouse.dir": str(tmp_path_factory.mktemp("warehouse")),
    }
    builder = SparkSession.builder.master("local[2]").appName("headrace-tests")
    for name, value in settings.items():
        builder = builder.config(name, value)
    session = builder.getOrCreate()
    session.sparkContext.setLogLevel("ERROR")
    yield session
    session.stop()
    _end_java()


def _end_java() -> None:
    """The JVM outlives `stop()`; it ends when its standard input closes."""
    from pyspark import SparkContext

    gateway = SparkContext._gateway
    if gateway is not None:
        gateway.shutdown()
        gateway.proc.stdin.close()
        gateway.proc.wait(timeout=120)
        SparkContext._gateway = SparkContext._jvm = None
