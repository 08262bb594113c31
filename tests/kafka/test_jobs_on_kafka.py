"""Jobs between Kafka topics, run by a real driver."""

from __future__ import annotations

import json
import re
from collections.abc import Callable
from pathlib import Path

from confluent_kafka import Producer

from headrace.wire import columns, events
from tests.chaos.flight_answers import committed, json_records
from tests.driving import DrivenJob, drive
from workers.embedded.kafka import ensure_topics

__all__ = ["drive"]

README = Path(__file__).parents[2] / "README.md"


def readme_job() -> str:
    """The program that the README shows."""
    [program] = re.findall(r"```python\n(# word_lengths\.py.*?)```", README.read_text(), re.DOTALL)
    return str(program)


def message(user: str, text: str, at: str) -> bytes:
    return json.dumps({"user": user, "text": text, "at": f"2026-01-31T{at}Z"}).encode()


def test_the_job_of_the_readme_runs(drive: Callable[..., DrivenJob], kafka: str) -> None:
    ensure_topics(
        kafka, {"messages": 1, "letters": 2, "messages-dead-letter": 1}, {"retention.ms": "-1"}
    )
    producer = Producer({"bootstrap.servers": kafka})
    for value in (
        message("ada", "four", "12:00:01"),
        message("ada", "three", "12:00:59"),
        message("bob", "x", "12:00:30"),
        b"no json",
        message("ada", "later", "12:01:10"),
    ):
        producer.produce("messages", value)
    producer.flush()
    job = drive(readme_job(), kafka=kafka)
    job.start()
    job.until(lambda: len(committed(kafka, "letters")) == 2)
    producer.produce("messages", message("bob", "late", "12:00:40"))  # within allowed lateness
    producer.flush()
    job.until(lambda: len(committed(kafka, "letters")) == 3)
    job.terminate()
    assert job.wait() == 0

    noon = 1769860800000
    assert sorted(json_records(kafka, "letters"), key=str) == sorted(
        [
            {"user": "ada", "minute": noon, "letters": 9},
            {"user": "bob", "minute": noon, "letters": 1},
            {"user": "bob", "minute": noon, "letters": 5},
        ],
        key=str,
    )
    [letter] = committed(kafka, "messages-dead-letter")
    assert letter.value() == b"no json"
    headers = dict(letter.headers() or [])
    assert b"not JSON" in (headers["headrace.reason"] or b"")
    assert headers["headrace.offset"] == b"3"
    checkpoints = job.events(events.CheckpointCompleted)
    assert sum(c.records_in for c in checkpoints) == 6
    counters = checkpoints[-1].counters
    assert (counters["deserializationErrors"], counters["numLateRecordsDropped"]) == (1, 0)
    assert counters["commitsFailed"] == 0
    assert checkpoints[-1].offsets == {"messages": {"0": 6}}
    assert checkpoints[0].latency["count"] > 0
    told = job.events(events.Measured)[-1]
    [source] = [t for t in told.operators.values() if "numRecordsInErrors" in t]
    numbers = columns.rows(source, 2)
    assert sum(row["numRecordsIn"] for row in numbers) == 6
    assert sum(row["numRecordsInErrors"] for row in numbers) == 1
    assert sum(row.get("pendingRecords", 0) for row in numbers) == 0
    sent = [columns.rows(t, 2) for t in told.operators.values() if "numRecordsSend" in t]
    assert sorted(sum(row["numRecordsSend"] for row in rows) for rows in sent) == [1, 3]
    assert {each["to"] for each in told.latency} == {"pre-commit", "visible"}
    assert told.partitions["messages"]["0"]["lag"] == 0
    assert job.events()[-1] == events.Stopped("suspended")


def test_an_unknown_topic_is_named_and_not_tried_again(
    drive: Callable[..., DrivenJob], kafka: str
) -> None:
    job = drive(readme_job().replace('"messages"', '"no-such-topic"'), kafka=kafka)
    assert job.run() == 1
    failed = job.events()[-1]
    assert isinstance(failed, events.Failed)
    assert "topic 'no-such-topic' does not exist" in failed.error
    assert "env.execute" in failed.traceback
    assert not failed.restartable


def test_an_unknown_output_topic_is_named_and_not_tried_again(
    drive: Callable[..., DrivenJob], kafka: str
) -> None:
    ensure_topics(kafka, {"messages": 1, "messages-dead-letter": 1})
    job = drive(readme_job().replace('"letters")', '"no-such-output")'), kafka=kafka)
    assert job.run() == 1
    failed = job.events()[-1]
    assert isinstance(failed, events.Failed)
    assert "no-such-output" in failed.error
    assert not failed.restartable


def test_a_broker_that_is_away_is_tried_again(drive: Callable[..., DrivenJob]) -> None:
    job = drive(readme_job(), kafka="127.0.0.1:1")
    assert job.run() == 1
    failed = job.events()[-1]
    assert isinstance(failed, events.Failed)
    assert "127.0.0.1:1 does not answer" in failed.error
    assert failed.restartable
