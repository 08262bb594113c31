"""What a dead task of the last batch left open does not keep readers waiting."""

from __future__ import annotations

import uuid
from pathlib import Path

from headrace.connectors.kafka.committer import Committer
from headrace.connectors.kafka.datasource import BatchWriter, TaskMessage
from headrace.connectors.kafka.messages import Resume, TaskIdentity
from headrace.connectors.kafka.settings import DeliveryGuarantee, SinkSettings
from headrace.connectors.kafka.writer import Prepared, open_writer
from tests.kafka import brokers


def test_leftovers_of_a_retried_task_end_with_its_batch(kafka: str, tmp_path: Path) -> None:
    settings = SinkSettings(
        "out",
        kafka,
        topic=brokers.new_topic(kafka, 1),
        guarantee=DeliveryGuarantee.EXACTLY_ONCE,
        transactional_id_prefix=f"job-{uuid.uuid4().hex[:8]}",
    )
    committer = Committer([settings], tmp_path)
    resume = committer.recover().resume

    def write(task: TaskIdentity, value: bytes) -> Prepared | None:
        writer = open_writer(settings, task, resume)
        writer.write([{"value": value}])
        return writer.prepare() if value != b"dead" else None

    first = write(TaskIdentity(0, 0, attempt=0), b"0")
    committer.commit(0, [first])
    write(TaskIdentity(1, 0, attempt=1), b"dead")
    again = write(TaskIdentity(1, 0, attempt=2, retry=1), b"1")
    assert len(brokers.open_ids(settings)) == 2

    committer.commit(1, [again])

    assert brokers.open_ids(settings) == []
    assert brokers.read(kafka, str(settings.topic)) == ["0", "1"]


def test_leftovers_of_a_plain_query_that_fails_end_with_it(kafka: str, tmp_path: Path) -> None:
    settings = SinkSettings(
        "out",
        kafka,
        topic=brokers.new_topic(kafka, 1),
        guarantee=DeliveryGuarantee.EXACTLY_ONCE,
        transactional_id_prefix=f"job-{uuid.uuid4().hex[:8]}",
    )
    resume = Committer([settings], tmp_path).recover().resume
    dead, lived = (open_writer(settings, TaskIdentity(0, part), resume) for part in range(2))
    for writer in (dead, lived):
        writer.write([{"value": b"no"}])
    message = TaskMessage(lived.prepare(), resume)
    assert len(brokers.open_ids(settings)) == 2

    BatchWriter(settings, str(tmp_path), ["value"], Resume()).abort([None, message], 0)

    assert brokers.open_ids(settings) == []
    assert brokers.read(kafka, str(settings.topic)) == []
