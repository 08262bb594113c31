"""The sink in a plain PySpark program whose driver is killed: every record once."""

from __future__ import annotations

import os
import random
import signal
import subprocess
import sys
import time
import uuid
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest
from confluent_kafka import Producer

from headrace.connectors.kafka.settings import DeliveryGuarantee, SinkSettings
from headrace.connectors.twophase import commitlog
from tests.kafka import brokers
from tests.kafka.engine import ROOT

RECORDS = 4500
PARTITIONS = 3
KILLS = 3
SECONDS = 400


@pytest.fixture
def arguments(kafka: str, jars: list[Path], tmp_path: Path) -> list[str]:
    source = brokers.new_topic(kafka, PARTITIONS)
    producer = Producer({"bootstrap.servers": kafka})
    for number in range(RECORDS):
        producer.produce(source, f"{number:05d}", partition=number % PARTITIONS)
    assert producer.flush(30) == 0
    target = brokers.new_topic(kafka, PARTITIONS)
    prefix = f"query-{uuid.uuid4().hex[:8]}"
    return [",".join(map(str, jars)), kafka, source, target, prefix, str(tmp_path / "checkpoint")]


@pytest.mark.timeout(1200)
def test_every_record_once_when_the_driver_is_killed(arguments: list[str]) -> None:
    _, servers, _, target, prefix, checkpoint = arguments
    delays = random.Random(4)
    for _ in range(KILLS):
        with running(arguments) as query:
            wait_for_batches(query, Path(checkpoint), 2)
            time.sleep(delays.uniform(0, 0.6))
            # The JVM and its Python workers go on for a moment: stragglers, as in real life.
            query.kill()

    with running(arguments) as query:
        assert query.wait(SECONDS) == 0

    assert brokers.read(servers, target) == [f"{number:05d}" for number in range(RECORDS)]
    sink = SinkSettings("sink", servers, target, DeliveryGuarantee.EXACTLY_ONCE, prefix)
    assert brokers.open_ids(sink) == []


@contextmanager
def running(arguments: list[str]) -> Iterator[subprocess.Popen[bytes]]:
    process = subprocess.Popen(
        [sys.executable, "-m", "tests.kafka.spark_query", *arguments],
        cwd=ROOT,
        env={**os.environ, "PYTHONPATH": f"{ROOT}:{ROOT / 'platform'}"},
        start_new_session=True,
    )
    try:
        yield process
    finally:
        if process.poll() is None:
            os.killpg(process.pid, signal.SIGKILL)
        process.wait()


def wait_for_batches(query: subprocess.Popen[bytes], checkpoint: Path, more: int) -> None:
    """Until the query has committed `more` batches than it had."""
    wanted = (commitlog.newest(checkpoint) or 0) + more
    deadline = time.monotonic() + SECONDS
    while (commitlog.newest(checkpoint) or 0) < wanted:
        assert query.poll() is None, "the query ended before it was killed"
        assert time.monotonic() < deadline, "no batches"
        time.sleep(0.02)
