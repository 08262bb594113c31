"""What the example job must answer, computed directly from the data set."""

from __future__ import annotations

import json
from collections import defaultdict
from collections.abc import Iterable
from typing import Any

import numpy as np
from confluent_kafka import Consumer, Message, TopicPartition

from jobs.examples.flights import Flight

Window = tuple[str, str]


def expected(flights: Iterable[Flight]) -> dict[Window, dict[str, Any]]:
    """(hour, airport) -> the record of its window."""
    groups: defaultdict[Window, list[float | None]] = defaultdict(list)
    for flight in flights:
        record = flight.record()
        hour = f"{record['event_time'][:13]}:00:00Z"
        groups[hour, record["origin"]].append(record["dep_delay"])
    return {window: _figures(delays) for window, delays in groups.items()}


def _figures(delays: list[float | None]) -> dict[str, Any]:
    left = [delay for delay in delays if delay is not None]
    return {
        "flights": len(delays),
        "mean_delay": float(np.mean(left)) if left else None,
        "p95_delay": float(np.percentile(left, 95)) if left else None,
        "cancelled": len(delays) - len(left),
    }


def differences(
    right: dict[Window, dict[str, Any]], records: Iterable[dict[str, Any]]
) -> list[str]:
    """Every window that is missing, doubled, wrong, or not asked for."""
    got: defaultdict[Window, list[dict[str, Any]]] = defaultdict(list)
    for record in records:
        got[record["window_start"], record["origin"]].append(record)
    problems = [f"not asked for: {window}" for window in got.keys() - right.keys()]
    for window, figures in right.items():
        found = got.get(window, [])
        if len(found) != 1:
            problems.append(f"{window}: {len(found)} records instead of one")
        elif not _same(figures, found[0]):
            problems.append(f"{window}: {found[0]} instead of {figures}")
    return problems


def _same(figures: dict[str, Any], record: dict[str, Any]) -> bool:
    for name, value in figures.items():
        other = record[name]
        if value is None or other is None:
            if value is not other:
                return False
        elif abs(value - other) > 1e-9 * max(1.0, abs(value)):
            return False
    return True


def committed(servers: str, topic: str) -> list[Message]:
    """Every record of a topic that a read_committed consumer sees."""
    consumer = Consumer(
        {
            "bootstrap.servers": servers,
            "group.id": f"verify-{topic}",
            "isolation.level": "read_committed",
            "auto.offset.reset": "earliest",
            "enable.partition.eof": True,
            "enable.auto.commit": False,
        }
    )
    partitions = consumer.list_topics(topic, timeout=10).topics[topic].partitions
    consumer.assign([TopicPartition(topic, p, 0) for p in partitions])
    records: list[Message] = []
    ended = 0
    while ended < len(partitions):
        message = consumer.poll(30)
        assert message is not None, "a read_committed consumer hangs: a transaction is open"
        if message.error():
            ended += 1
        else:
            records.append(message)
    consumer.close()
    return records


def json_records(servers: str, topic: str) -> list[dict[str, Any]]:
    return [json.loads(message.value() or b"null") for message in committed(servers, topic)]
