"""The verifier of the chaos runs finds what it is there to find."""

from __future__ import annotations

import subprocess
import sys
import uuid
from collections.abc import Iterator
from pathlib import Path

import pytest
from confluent_kafka import Producer

from headrace.wire import events, journal
from tests.chaos import answers, processes, reading
from tests.chaos.life import Life
from tests.chaos.verification import output_problems
from tests.chaos.watch import Watch
from tests.chaos.workloads import Job, Query, Site
from tests.kafka import brokers

EXPECTED = {"k0": 4, "k1": 4}
RIGHT = [f"k{key} {number} {number + 1}" for number in range(4) for key in range(2)]
PATIENCE = 30.0


def differences(values: list[str]) -> list[str]:
    return answers.differences(EXPECTED, answers.tally(values, counted=True))


def test_right_records_are_right() -> None:
    assert differences(RIGHT) == []
    assert answers.tally(RIGHT, counted=True).problems == []


def test_a_lost_record_is_found() -> None:
    assert differences([each for each in RIGHT if each != "k1 2 3"]) == ["k1: 1 records lost: [2]"]


def test_a_lost_end_is_found_and_a_lost_key() -> None:
    assert differences(RIGHT[:-1]) == ["k1: 1 records lost: [3]"]
    assert differences([each for each in RIGHT if each.startswith("k0")]) == [
        "k1: 4 records lost: [0, 1, 2, 3]"
    ]


def test_a_doubled_record_is_found() -> None:
    assert differences([*RIGHT, RIGHT[-1]]) == ["k1: 1 records more than once: [3]"]
    again = differences([*RIGHT, *RIGHT])
    assert "k0: 4 records more than once: [0, 1, 2, 3]" in again


def test_a_wrong_order_is_found() -> None:
    turned = ["k0 0 1", "k0 2 3", "k0 1 2", "k0 3 4", *(r for r in RIGHT if "k1" in r)]
    assert differences(turned) == ["k0: out of order: 2, then 1"]
    assert answers.tally(turned, counted=True).problems[0] == "k0: 2 read where 1 was next"


def test_a_record_that_nobody_sent_is_found() -> None:
    assert differences([*RIGHT, "k1 4 5"]) == ["k1: 1 records not asked for: [4]"]
    assert differences([*RIGHT, "k9 0 1"]) == ["not asked for: key k9"]


def test_state_that_forgot_or_counted_twice_is_found() -> None:
    wrong = [each.replace("k0 3 4", "k0 3 5") for each in RIGHT]
    assert differences(wrong) == ["k0: record 3 was counted as 5"]


def test_sinks_that_do_not_agree_on_a_batch_are_found() -> None:
    right = {(0, "a", 0): 3, (0, "a", 1): 2, (0, "b", 0): 3, (0, "b", 1): 2}
    assert answers.batch_differences(right, []) == []
    half = {(0, "a", 0): 3, (0, "a", 1): 2, (0, "b", 0): 3}
    assert answers.batch_differences(half, []) == ["batch 0: {'a': 5, 'b': 3}"]
    assert answers.batch_differences(right, [(0, "a", 1)]) == [
        "committed more than once: (0, 'a', 1)"
    ]


class Transaction:
    """Of a producer that this test controls."""

    def __init__(self, servers: str, prefix: str) -> None:
        self.id = f"{prefix}-sink-1.00000000-0"
        self.producer = Producer(
            {"bootstrap.servers": servers, "transactional.id": self.id, "log_level": 0}
        )
        self.producer.init_transactions(PATIENCE)
        self.producer.begin_transaction()

    def write(self, topic: str, values: list[str]) -> None:
        for value in values:
            self.producer.produce(topic, value, value.partition(" ")[0], partition=0)
        assert self.producer.flush(PATIENCE) == 0


@pytest.fixture
def prefix() -> str:
    return f"verified-{uuid.uuid4().hex[:8]}"


@pytest.fixture
def transaction(kafka: str, prefix: str) -> Iterator[Transaction]:
    transaction = Transaction(kafka, prefix)
    yield transaction
    transaction.producer.abort_transaction(PATIENCE)


def test_an_open_transaction_is_found_and_the_consumer_it_blocks(
    kafka: str, prefix: str, transaction: Transaction
) -> None:
    topic = brokers.new_topic(kafka, 1)
    transaction.write(topic, RIGHT[:2])
    plain = Producer({"bootstrap.servers": kafka})
    plain.produce(topic, "k0 1 2", "k0", partition=0)
    assert plain.flush(PATIENCE) == 0

    assert reading.committed(kafka, topic, 3).stuck == {0: "offset 0 of 3"}
    problems = output_problems(kafka, topic, {"k0": 2, "k1": 1}, counted=True, seconds=3)
    assert f"{topic}: a consumer is stuck at offset 0 of 3" in problems
    assert reading.transaction_problems(kafka, prefix, ["sink"], 0.5) == [
        f"transaction {transaction.id} is Ongoing"
    ]
    assert reading.transaction_problems(kafka, prefix, ["other"], 0.5)[1:] == [
        f"transaction {transaction.id} is of no sink of {prefix}"
    ]


def test_what_is_in_order_at_the_broker_is_found_in_order(kafka: str) -> None:
    topic = brokers.new_topic(kafka, 2)
    write(kafka, topic, RIGHT)
    assert output_problems(kafka, topic, EXPECTED, counted=True) == []


def test_the_live_consumer_sees_a_record_come_twice(kafka: str) -> None:
    topic = brokers.new_topic(kafka, 2)
    watch = Watch(kafka, [topic], 2, counted=True)
    try:
        write(kafka, topic, [*RIGHT, "k0 2 3"])
        assert processes.wait(lambda: watch.records() == len(RIGHT) + 1, PATIENCE)
    finally:
        watch.finish()
    assert watch.problems == [f"seen live in {topic}: k0: 2 read where 4 was next"]


def write(servers: str, topic: str, values: list[str]) -> None:
    producer = Producer({"bootstrap.servers": servers})
    for value in values:
        key = value.partition(" ")[0]
        producer.produce(topic, value, key, partition=int(key[1:]) % 2)
    assert producer.flush(PATIENCE) == 0


@pytest.fixture
def site(kafka: str, tmp_path: Path) -> Site:
    return Site(run=uuid.uuid4().hex, home=tmp_path, servers=kafka, jars=[], timeout_ms=10_000)


@pytest.mark.parametrize(
    ("reported", "right"),
    [
        (events.Failed("WriteFailed: no"), True),
        (events.Failed("SecondDriver: no", restartable=False), True),
        (events.Failed("PrefixInUse: no", restartable=False), False),
        (events.Failed("orders-0 offsets 2 to 3 were deleted", restartable=False), False),
        (events.Started(1, "local[2]", {}), False),
    ],
)
def test_a_job_that_no_restart_helps_is_found(
    site: Site, reported: events.Event, right: bool
) -> None:
    job = Job(site)
    run_dir = job.home / "runs" / "1"
    run_dir.mkdir(parents=True)
    writer = journal.JournalWriter(run_dir)
    writer.append(reported)
    writer.close()
    life = Life(job)
    life.note_end(1, 1)
    assert bool(life.problems) is not right


@pytest.mark.parametrize(
    ("told", "right"),
    [
        ("StreamingQueryException: WriteFailed: no", True),
        ("StreamingQueryException: [KAFKA_DATA_LOSS.X] SecondDriver", False),
        ("StreamingQueryException: InvalidRecord: no", False),
        ("Segmentation fault", False),
    ],
)
def test_a_query_that_no_restart_helps_is_found(site: Site, told: str, right: bool) -> None:
    query = Query(site)
    (query.home / "1.log").write_text(told)
    life = Life(query)
    life.note_end(1, 1)
    assert bool(life.problems) is not right


def test_a_machine_too_slow_for_the_transaction_timeout_gets_a_longer_one(site: Site) -> None:
    query = Query(site)
    life = Life(query)

    def end_by_itself() -> None:
        query.attempts += 1
        (query.home / f"{query.attempts}.log").write_text("CommitIncomplete")
        query.process = subprocess.Popen([sys.executable, "-c", "raise SystemExit(1)"])
        life.bury()

    commits = query.checkpoint() / "commits"
    commits.mkdir(parents=True)
    for batch in range(4):
        end_by_itself()
        (commits / str(batch)).touch()
    assert query.timeout_ms == site.timeout_ms
    for _ in range(3):
        end_by_itself()
    assert query.timeout_ms == 2 * site.timeout_ms
    assert life.problems == []
