"""The topic of the batch markers: how it is made, and what reading it may come to."""

from __future__ import annotations

from typing import Any, cast

import pytest
from confluent_kafka import Consumer, KafkaError

from headrace.connectors.kafka import errors, marker_topic, markers
from headrace.connectors.kafka.settings import SinkSettings

SINK = SinkSettings("out", "broker:9092", "topic")


class Message:
    def __init__(self, offset: int, key: bytes = b"", problem: int | None = None) -> None:
        self._offset, self._key, self._problem = offset, key, problem

    def offset(self) -> int:
        return self._offset

    def key(self) -> bytes:
        return self._key

    def value(self) -> bytes:
        return b"{}"

    def error(self) -> KafkaError | None:
        return None if self._problem is None else KafkaError(self._problem, "trouble")


def reader(*polls: list[Message]) -> Consumer:
    waiting = list(polls)

    class Reader:
        def consume(self, _count: int, _timeout: float) -> list[Message]:
            return waiting.pop(0) if waiting else []

    return cast(Consumer, Reader())


@pytest.fixture(autouse=True)
def impatient(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(markers, "QUIET_SECONDS", 0.2)


def test_what_passes_by_itself_is_borne() -> None:
    away = [
        Message(0, problem=KafkaError._TRANSPORT),
        Message(0, problem=KafkaError._ALL_BROKERS_DOWN),
    ]
    consumer = reader(away, [Message(0, b"a"), Message(1, b"b")])
    assert markers._read_until(consumer, 2, SINK, {b"a"}) == {b"a": b"{}"}


def test_a_long_topic_is_read_to_its_end_however_long_it_takes() -> None:
    consumer = reader(*([Message(number, b"x")] for number in range(1000)))
    assert markers._read_until(consumer, 1000, SINK, {b"x"}) == {b"x": b"{}"}
    # Nor do those who write on keep the reader.
    consumer = reader(*([Message(number, b"x")] for number in range(1000)))
    markers._read_until(consumer, 2, SINK, {b"x"})
    assert consumer.consume(1, 0)[0].offset() == 2


def test_no_answer_is_no_outcome() -> None:
    with pytest.raises(errors.ClusterUnreachable, match="before offset 2"):
        markers._read_until(reader([Message(0)]), 2, SINK, set())
    with pytest.raises(errors.CommitRefused, match="trouble"):
        refused = [Message(0, problem=KafkaError.TOPIC_AUTHORIZATION_FAILED)]
        markers._read_until(reader(refused), 2, SINK, set())


@pytest.mark.parametrize(
    ("brokers", "replicas", "in_sync"), [(1, 1, None), (2, 2, None), (3, 3, "2"), (9, 3, "2")]
)
def test_markers_outlive_a_broker(brokers: int, replicas: int, in_sync: str | None) -> None:
    made = marker_topic.made_for(brokers)
    assert (made["num_partitions"], made["replication_factor"]) == (1, replicas)
    assert made["configs"]["cleanup.policy"] == "compact"
    assert made["configs"].get("min.insync.replicas") == in_sync


def test_who_may_not_ask_leaves_it_to_the_brokers() -> None:
    assert "replication_factor" not in marker_topic.made_for(None)


def test_a_single_replica_among_several_brokers_is_a_concern() -> None:
    def of(*nodes: int) -> list[dict[str, Any]]:
        return [{"replica_nodes": list(nodes)}]

    assert marker_topic.concern("m", of(1), 1) is None
    assert marker_topic.concern("m", of(1), None) is None
    assert marker_topic.concern("m", of(1, 2), 3) is None
    assert "topic m has a single replica" in (marker_topic.concern("m", of(1), 3) or "")
