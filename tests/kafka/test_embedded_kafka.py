"""The embedded broker: what is in it outlives every kind of end, and it is found again."""

from __future__ import annotations

import os
import signal
from collections.abc import Iterator
from pathlib import Path

import pytest
from confluent_kafka import Consumer, Producer, TopicPartition

from workers.embedded import kafka as embedded
from workers.embedded import ports, process


@pytest.fixture
def home(tmp_path: Path) -> Iterator[Path]:
    yield tmp_path
    if child := process.find(embedded.NAME, tmp_path):
        embedded.stop(child)


def test_records_outlive_stop_and_kill(home: Path, jar_folder: Path) -> None:
    port = ports.free()
    servers = embedded.bootstrap_servers(port)

    broker = embedded.start(home, port, jar_folder)
    embedded.ensure_topics(servers, {"kept": 1}, {"retention.ms": "-1"})
    write(servers, "first")
    embedded.stop(broker)
    assert not broker.alive()

    broker = embedded.start(home, port, jar_folder)
    write(servers, "second")
    os.kill(broker.pid, signal.SIGKILL)
    broker.wait(120)

    embedded.start(home, port, jar_folder)
    assert read(servers) == ["first", "second"]


def test_a_running_broker_is_found_not_started_twice(home: Path, jar_folder: Path) -> None:
    port = ports.free()
    first = embedded.start(home, port, jar_folder)

    second = embedded.start(home, port, jar_folder)

    assert second.identity == first.identity
    embedded.stop(second)
    assert first.wait(120)
    assert process.find(embedded.NAME, home) is None


def test_topics_are_only_made_on_request(kafka: str) -> None:
    consumer = Consumer({"bootstrap.servers": kafka, "group.id": "none"})
    consumer.list_topics("nobody-made-this", timeout=60)
    assert "nobody-made-this" not in consumer.list_topics(timeout=60).topics
    consumer.close()


def write(servers: str, value: str) -> None:
    producer = Producer({"bootstrap.servers": servers})
    producer.produce("kept", value=value)
    assert producer.flush(10) == 0


def read(servers: str) -> list[str]:
    consumer = Consumer({"bootstrap.servers": servers, "group.id": "reader"})
    partition = TopicPartition("kept", 0, 0)
    _, end = consumer.get_watermark_offsets(partition, timeout=60)
    consumer.assign([partition])
    messages = consumer.consume(end, timeout=60)
    consumer.close()
    return [(message.value() or b"").decode() for message in messages]
