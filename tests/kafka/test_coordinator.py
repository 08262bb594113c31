"""What the private calls of kafka-python do, on a real broker: the facts the sink rests on."""

from __future__ import annotations

import gc
import logging
import threading
import uuid

import psutil
import pytest

from headrace.connectors.kafka import coordinator as coordinators
from headrace.connectors.kafka import errors, ids
from headrace.connectors.kafka.coordinator import Coordinator, coordinator_for
from headrace.connectors.kafka.messages import PreparedTransaction
from headrace.connectors.kafka.producers import open_producer
from headrace.connectors.kafka.settings import DeliveryGuarantee, SinkSettings
from tests.kafka import brokers
from workers.embedded import ports

CONCURRENT_TRANSACTIONS, INVALID_STATE, FENCED, UNKNOWN_ID = 51, 48, 90, 49


@pytest.fixture
def sink(kafka: str) -> SinkSettings:
    prefix = f"job-{uuid.uuid4().hex[:8]}"
    topic = brokers.new_topic(kafka)
    return SinkSettings("out", kafka, topic, DeliveryGuarantee.EXACTLY_ONCE, prefix)


def prepare(sink: SinkSettings, number: int = 0, records: int = 1) -> PreparedTransaction:
    name = str(ids.TransactionalId(sink.id_root, 1, "0123abcd", number))
    producer = open_producer(sink, name)
    producer.client.begin_transaction()
    for _ in range(records):
        producer.client.produce(str(sink.topic), b"x")
    producer.client.flush()
    return PreparedTransaction(
        sink.name, 0, name, producer.producer_id, producer.producer_epoch, records
    )


def end(sink: SinkSettings, prepared: PreparedTransaction, *, commit: bool) -> int:
    return coordinator_for(sink).end([prepared], commit=commit)[prepared.transactional_id]


def fence(sink: SinkSettings, name: str) -> None:
    while (code := coordinator_for(sink).fence([name], 60_000)[name]) != 0:
        assert code == CONCURRENT_TRANSACTIONS


def test_another_client_commits(sink: SinkSettings) -> None:
    prepared = prepare(sink)
    assert brokers.open_ids(sink) == [prepared.transactional_id]

    assert end(sink, prepared, commit=True) == 0

    brokers.wait_until_none_open(sink, 5)
    assert brokers.read(sink.bootstrap_servers, str(sink.topic)) == ["x"]
    # Again is the same; the other way round is refused.
    assert end(sink, prepared, commit=True) == 0
    assert end(sink, prepared, commit=False) == INVALID_STATE


def test_a_fenced_transaction_is_aborted(sink: SinkSettings) -> None:
    prepared = prepare(sink)

    fence(sink, prepared.transactional_id)

    assert brokers.open_ids(sink) == []
    assert brokers.read(sink.bootstrap_servers, str(sink.topic)) == []
    assert end(sink, prepared, commit=True) == FENCED


def test_a_new_transaction_of_the_id_is_not_ended_for_the_old_one(sink: SinkSettings) -> None:
    old = prepare(sink)
    assert end(sink, old, commit=True) == 0
    new = prepare(sink)
    assert (new.transactional_id, new.producer_id) == (old.transactional_id, old.producer_id)
    assert new.producer_epoch > old.producer_epoch

    assert end(sink, old, commit=True) == FENCED

    assert brokers.open_ids(sink) == [new.transactional_id]
    assert end(sink, new, commit=False) == 0


def test_an_empty_transaction_cannot_be_ended(sink: SinkSettings) -> None:
    assert end(sink, prepare(sink, records=0), commit=True) == INVALID_STATE


def test_an_id_that_the_broker_does_not_know(sink: SinkSettings) -> None:
    unknown = PreparedTransaction("out", 0, f"{sink.id_root}-1.0123abcd-7", 4711, 0, 1)
    assert end(sink, unknown, commit=True) == UNKNOWN_ID


def test_several_at_once(sink: SinkSettings) -> None:
    prepared = [prepare(sink, number) for number in range(4)]
    assert coordinator_for(sink).end(prepared, commit=True) == {
        each.transactional_id: 0 for each in prepared
    }


def test_listing_finds_the_ids_of_a_sink_only(sink: SinkSettings) -> None:
    other = SinkSettings(
        "out-2",
        sink.bootstrap_servers,
        sink.topic,
        DeliveryGuarantee.EXACTLY_ONCE,
        sink.transactional_id_prefix,
    )
    mine, theirs = prepare(sink), prepare(other)
    assert end(sink, mine, commit=True) == 0
    brokers.wait_until_none_open(sink, 5)
    coordinator = coordinator_for(sink)
    assert coordinator.list_ids(ids.pattern(sink.id_root)) == [(mine.transactional_id, False)]
    assert coordinator.list_ids(ids.pattern(other.id_root)) == [(theirs.transactional_id, True)]
    assert end(other, theirs, commit=False) == 0


def test_the_brokers_longest_timeout(sink: SinkSettings) -> None:
    assert coordinator_for(sink).longest_timeout_ms() == 900_000


def test_failed_connections_leave_nothing_behind(
    monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    """A commit asks for as long as a broker is away."""
    # What is logged is kept for the test's report, with the sockets in its tracebacks.
    caplog.set_level(logging.CRITICAL, logger="kafka")
    monkeypatch.setattr(coordinators, "BOOTSTRAP_MS", 300)
    sink = SinkSettings("out", f"127.0.0.1:{ports.free()}", "topic")
    coordinator = Coordinator(sink)

    def held() -> tuple[int, int]:
        gc.collect()  # sockets that were refused
        return threading.active_count(), psutil.Process().num_fds()

    with pytest.raises(errors.ClusterUnreachable):
        coordinator.list_ids(".*")
    before = held()
    for _ in range(4):
        with pytest.raises(errors.ClusterUnreachable):
            coordinator.list_ids(".*")

    threads, descriptors = held()
    assert threads <= before[0]
    assert descriptors <= before[1]
