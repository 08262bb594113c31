"""The main job on all the real data, its driver killed again and again: exact output."""

from __future__ import annotations

import os
import random
import signal
import sys
import time
import uuid
from collections.abc import Iterator
from pathlib import Path

import pytest
from confluent_kafka import Producer

from headrace.connectors.kafka.settings import DeliveryGuarantee, SinkSettings
from jobs import actions
from jobs.examples.flights import flights
from jobs.models import Attempt, Job
from jobs.states import JobState
from tests.chaos.flight_answers import committed, differences, expected, json_records
from tests.kafka.brokers import open_ids
from tests.service.conftest import Cluster
from workers.embedded import kafka as embedded_kafka

FLIGHT_DELAYS = Path(__file__).parents[2] / "jobs/examples/flight_delays.py"
KILLS = 6
BATCH = 15_000
MALFORMED = [b"{broken", b"[]", b"", b'{"origin":"EWR"}', b'{"event_time":"soon"}', b"\xff\x00"]
PATIENCE = 600.0


@pytest.fixture
def real(cluster: Cluster, kafka: str, jars: list[Path]) -> Iterator[Cluster]:
    """JobManager and TaskManager that launch the real driver."""
    cluster.environment = {
        "HEADRACE_DRIVER_COMMAND": f"{sys.executable},-m,headrace.runtime.driver",
        "HEADRACE_SPARK_JARS": os.pathsep.join(map(str, jars)),
        "HEADRACE_PROPERTIES": "heartbeat.interval: 2 s\nheartbeat.timeout: 60 s",
        "KAFKA_BOOTSTRAP_SERVERS": kafka,
    }
    cluster.start_jobmanager()
    cluster.start_taskmanager()
    yield cluster


@pytest.mark.timeout(2400)
def test_no_window_is_lost_or_doubled_however_often_the_driver_is_killed(
    real: Cluster, kafka: str
) -> None:
    seed = int(os.environ.get("HEADRACE_CHAOS_SEED", random.randrange(1_000_000)))
    chance = random.Random(seed)
    run = uuid.uuid4().hex[:8]
    topics = {name: f"{name}-{run}" for name in ("flights", "delays", "dead")}
    embedded_kafka.ensure_topics(kafka, dict.fromkeys(topics.values(), 3), {"retention.ms": "-1"})
    load(kafka, topics["flights"])
    job = actions.submit(
        "Flight delays",
        FLIGHT_DELAYS,
        [
            *("--input", topics["flights"], "--output", topics["delays"]),
            *("--dead-letters", topics["dead"], "--bounded", "--interval", "200"),
        ],
        2,
        {
            "source.max-records-per-batch": str(BATCH),
            "restart-strategy.fixed-delay.delay": "200 ms",
            "restart-strategy.fixed-delay.attempts": "100",
        },
    )

    injected = kill_drivers(real, job, chance)
    real.wait(job, JobState.FINISHED, timeout=PATIENCE)

    recoveries = [a.restored_checkpoint for a in job.attempts.order_by("number")]
    print(f"seed {seed}: killed {injected}; attempts restored from {recoveries}")
    assert len(injected) == KILLS
    problems = differences(expected(flights()), json_records(kafka, topics["delays"]))
    assert not problems, f"{len(problems)} windows wrong, seed {seed}: {problems[:5]}"
    letters = [message.value() or b"" for message in committed(kafka, topics["dead"])]
    assert sorted(letters) == sorted(MALFORMED)
    assert job.checkpoints.latest("checkpoint_id").counters["deserializationErrors"] == 6
    assert not open_ids(sink(kafka, topics["delays"], topics["delays"]))
    assert not open_ids(sink(kafka, topics["dead"], f"headrace-{job.pk}-dead-letters"))
    assert not job.slots.exists()


def load(servers: str, topic: str) -> None:
    """All flights in order of event time, the malformed records among them."""
    producer = Producer({"bootstrap.servers": servers, "linger.ms": 20})
    broken = iter(MALFORMED)
    for flight in flights():
        if flight.id in (7, 100_000, 200_000):
            producer.produce(topic, next(broken), partition=0)
        producer.produce(topic, flight.encode(), flight.origin, partition=flight.id % 3)
        if flight.id % 5_000 == 0:
            producer.poll(0)
            producer.flush()
    for rest in broken:
        producer.produce(topic, rest, partition=1)
    assert producer.flush(60) == 0


def kill_drivers(cluster: Cluster, job: Job, chance: random.Random) -> list[str]:
    """SIGKILL at random moments: while starting, within batches, between them."""
    injected = []
    for number in range(1, KILLS + 1):
        cluster.until(lambda number=number: running_pid(job, number) is not None, PATIENCE)  # type: ignore[misc]
        if chance.random() < 0.85:
            seen = job.checkpoints.count()
            more = chance.randint(1, 3)
            cluster.until(
                lambda seen=seen, more=more: job.checkpoints.count() >= seen + more,
                PATIENCE,  # type: ignore[misc]
            )
        time.sleep(chance.random() * 1.5)
        pid = running_pid(job, number)
        assert pid is not None
        os.kill(pid, signal.SIGKILL)
        injected.append(f"attempt {number} after checkpoint {job.checkpoints.count()}")
    return injected


def running_pid(job: Job, number: int) -> int | None:
    attempt = Attempt.objects.filter(job=job, number=number, ended_at=None).first()
    return None if attempt is None else attempt.pid


def sink(servers: str, topic: str, prefix: str) -> SinkSettings:
    return SinkSettings(topic, servers, topic, DeliveryGuarantee.EXACTLY_ONCE, prefix)
