"""Every flight is in the topic once and in order, however often the replay was killed."""

from __future__ import annotations

import json
import random
import signal
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from itertools import islice

import pytest
from confluent_kafka import Consumer, Producer, TopicPartition

from jobs.examples.flights import Flight, flights
from tests.isolation import ROOT
from workers.embedded.kafka import ensure_topics
from workers.replay import Pace, Replay, ReplayFailed, last_numbers

AT_ONCE = Pace(None)


@pytest.fixture(scope="module")
def some_flights() -> list[Flight]:
    return list(islice(flights(), 3000))


def replay(servers: str, topic: str) -> Replay:
    return Replay(servers, topic, say=lambda text: None)


def test_killed_at_random_moments_it_puts_every_flight_in_once(kafka: str) -> None:
    ensure_topics(kafka, {"killed": 2})
    options = ("--all", "--limit", "60000")
    for _ in range(3):
        with running(kafka, "killed", *options) as process:
            before = last_numbers(kafka, "killed")
            while last_numbers(kafka, "killed") == before and process.poll() is None:
                time.sleep(0.02)
            time.sleep(random.uniform(0, 0.2))
    with running(kafka, "killed", *options) as process:
        assert process.wait(timeout=400) == 0

    ids = [[record["id"] for record in partition] for partition in read(kafka, "killed")]
    assert sorted(ids[0] + ids[1]) == list(range(60_000))
    assert all(partition == sorted(partition) for partition in ids)


def test_records_are_the_encoded_flights(kafka: str, some_flights: list[Flight]) -> None:
    ensure_topics(kafka, {"encoded": 3})
    assert replay(kafka, "encoded").run(some_flights, AT_ONCE) == 3000

    partitions = read(kafka, "encoded")
    assert [{record["origin"] for record in part} for part in partitions] == [
        {"EWR"},
        {"JFK"},
        {"LGA"},
    ]
    records = sorted((record for part in partitions for record in part), key=lambda r: r["id"])
    assert records == [flight.record() for flight in some_flights]


def test_a_second_run_adds_nothing(kafka: str, some_flights: list[Flight]) -> None:
    ensure_topics(kafka, {"twice": 3})
    assert replay(kafka, "twice").run(some_flights[:2000], AT_ONCE) == 2000
    assert replay(kafka, "twice").run(some_flights[:2000], AT_ONCE) == 0
    assert replay(kafka, "twice").run(some_flights, AT_ONCE) == 1000


def test_records_of_others_do_not_mislead_it(kafka: str, some_flights: list[Flight]) -> None:
    ensure_topics(kafka, {"mixed": 1})
    replay(kafka, "mixed").run(some_flights[:10], AT_ONCE)
    producer = Producer({"bootstrap.servers": kafka})
    for _ in range(250):
        producer.produce("mixed", b'{"id": 99999999, "origin": "EWR"}')
        producer.produce("mixed", b"not JSON", headers=[("replay", b"nonsense")])
        producer.poll(0)
    producer.flush(10)

    assert last_numbers(kafka, "mixed") == [9]


def test_a_topic_that_is_not_there_is_said(kafka: str) -> None:
    with pytest.raises(ReplayFailed, match="no topic nowhere"):
        replay(kafka, "nowhere")


def test_two_replays_of_a_topic_are_kept_apart(kafka: str) -> None:
    ensure_topics(kafka, {"alone": 1})
    with running(kafka, "alone", "--speed", "60") as first:
        while last_numbers(kafka, "alone") == [-1]:
            assert first.poll() is None
            time.sleep(0.05)

        with running(kafka, "alone", "--all") as second:
            assert second.wait(timeout=400) == 1

        first.send_signal(signal.SIGINT)
        assert first.wait(timeout=400) == 0


@contextmanager
def running(servers: str, topic: str, *options: str) -> Iterator[subprocess.Popen[bytes]]:
    """The command in a process of its own, killed at the end if it still runs."""
    command = [sys.executable, str(ROOT / "manage.py"), "replay", "--topic", topic]
    command += ["--bootstrap-servers", servers, *options]
    with subprocess.Popen(
        command, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, cwd="/"
    ) as process:
        try:
            yield process
        finally:
            process.kill()


def read(servers: str, topic: str) -> list[list[dict[str, object]]]:
    """All records, by partition."""
    consumer = Consumer({"bootstrap.servers": servers, "group.id": f"check-{topic}"})
    partitions = consumer.list_topics(topic, timeout=60).topics[topic].partitions
    answer = []
    for partition in sorted(partitions):
        where = TopicPartition(topic, partition, 0)
        _, end = consumer.get_watermark_offsets(where, timeout=60)
        consumer.assign([where])
        values: list[bytes] = []
        while len(values) < end:
            messages = consumer.consume(min(5000, end - len(values)), 5)
            values += [message.value() or b"" for message in messages]
        answer.append([json.loads(value) for value in values])
    consumer.close()
    return answer
