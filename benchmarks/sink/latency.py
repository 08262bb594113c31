"""Time from `produce` to a reader with `read_committed`, at a steady rate.

The probe is a process of its own: it writes records that carry their time to the topic a query
reads, and reads the query's output.
"""

from __future__ import annotations

import json
import subprocess
import sys
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager

from confluent_kafka import OFFSET_END, Consumer, Producer, TopicPartition

VALUE_BYTES = 100
#: Records are produced this often, as many as are due.
TICK_SECONDS = 0.005
LAST_ONES_SECONDS = 30.0


@contextmanager
def probing(
    servers: str, source: str, target: str, rate: int, seconds: float, warm_up: float
) -> Iterator[subprocess.Popen[str]]:
    """The probe at work; ended with the block. `latencies` waits for what it found."""
    process = subprocess.Popen(
        [
            *(sys.executable, "-m", "benchmarks.sink.latency"),
            json.dumps([servers, source, target, rate, seconds, warm_up]),
        ],
        stdout=subprocess.PIPE,
        text=True,
        start_new_session=True,
    )
    try:
        yield process
    finally:
        if process.poll() is None:
            process.kill()
        process.wait()


def latencies(process: subprocess.Popen[str]) -> list[float]:
    """Milliseconds of every record after the warm-up. Raises when records are missing."""
    out, _ = process.communicate()
    if process.returncode:
        raise RuntimeError(f"the probe ended with {process.returncode}")
    found: list[float] = json.loads(out)
    return found


def _produce(servers: str, topic: str, rate: int, seconds: float) -> None:
    producer = Producer({"bootstrap.servers": servers, "linger.ms": 1})
    started = time.monotonic()
    sent, filler = 0, b"x" * (VALUE_BYTES - 20)
    while sent < rate * seconds:
        due = int(min(time.monotonic() - started, seconds) * rate)
        for number in range(sent, due):
            producer.produce(topic, b"%020d" % time.time_ns() + filler, key=b"%d" % number)
        sent = max(sent, due)
        producer.poll(0)
        time.sleep(TICK_SECONDS)
    producer.flush(30)


def _consumer(servers: str, topic: str) -> Consumer:
    consumer = Consumer(
        {
            "bootstrap.servers": servers,
            "group.id": "bench-probe",
            "isolation.level": "read_committed",
            "enable.auto.commit": False,
            "fetch.wait.max.ms": 10,
        }
    )
    partitions = consumer.list_topics(topic, timeout=30).topics[topic].partitions
    consumer.assign([TopicPartition(topic, number, OFFSET_END) for number in partitions])
    consumer.poll(1.0)
    return consumer


def _measure(
    servers: str, source: str, target: str, rate: int, seconds: float, warm_up: float
) -> list[float]:
    consumer = _consumer(servers, target)
    feeder = threading.Thread(target=_produce, args=(servers, source, rate, warm_up + seconds))
    from_ns = time.time_ns() + int(warm_up * 1e9)
    feeder.start()
    expected = int(rate * (warm_up + seconds))
    found: list[float] = []
    seen = 0
    give_up = time.monotonic() + warm_up + seconds + LAST_ONES_SECONDS
    while seen < expected and time.monotonic() < give_up:
        messages = consumer.consume(1000, 0.01)
        now = time.time_ns()
        for message in messages:
            if message.error() is None:
                seen += 1
                sent = int((message.value() or b"0")[:20])
                if sent >= from_ns:
                    found.append((now - sent) / 1e6)
    feeder.join()
    consumer.close()
    if seen != expected:
        raise RuntimeError(f"{expected} records were produced, {seen} arrived")
    return found


if __name__ == "__main__":
    print(json.dumps(_measure(*json.loads(sys.argv[1]))))
