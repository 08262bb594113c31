"""A SQL script as a job, Kafka to Kafka: killed, started again, each window once."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path

import pytest
from confluent_kafka import Producer

from headrace.wire import events
from tests.driving import DrivenJob, drive
from tests.kafka import brokers

__all__ = ["drive"]

SCRIPT = """
SET 'execution.checkpointing.interval' = '500 ms';
CREATE TABLE orders (
  shop STRING, amount DECIMAL(10, 2), at TIMESTAMP(3),
  `partition` INT METADATA VIRTUAL,
  WATERMARK FOR at AS at - INTERVAL '1' SECOND
) WITH (
  'connector' = 'kafka', 'topic' = '{orders}', 'properties.group.id' = 'sql',
  'properties.auto.offset.reset' = 'earliest', 'format' = 'json',
  'json.ignore-parse-errors' = 'true'
);
CREATE TABLE totals (shop STRING, minute_ TIMESTAMP(3), total DECIMAL(12, 2), n BIGINT) WITH (
  'connector' = 'kafka', 'topic' = '{totals}', 'key.format' = 'json', 'key.fields' = 'shop',
  'value.format' = 'json', 'sink.delivery-guarantee' = 'exactly-once',
  'sink.transactional-id-prefix' = '{totals}'
);
CREATE TABLE newest (shop STRING, n BIGINT, PRIMARY KEY (shop) NOT ENFORCED) WITH (
  'connector' = 'upsert-kafka', 'topic' = '{newest}', 'key.format' = 'raw',
  'value.format' = 'csv'
);
CREATE TABLE once (v STRING, n BIGINT) WITH (
  'connector' = 'kafka', 'topic' = '{once}', 'format' = 'csv'
);
INSERT INTO once SELECT v, COUNT(*) FROM (VALUES ('a'), ('b'), ('a')) AS x (v) GROUP BY v;
INSERT INTO totals
SELECT shop, window_start, SUM(amount), COUNT(*)
FROM TABLE(TUMBLE(TABLE orders, DESCRIPTOR(at), INTERVAL '1' MINUTE))
GROUP BY shop, window_start, window_end;
INSERT INTO newest SELECT shop, COUNT(*) FROM orders GROUP BY shop;
"""


def send(kafka: str, topic: str, minutes: range) -> None:
    producer = Producer({"bootstrap.servers": kafka})
    producer.produce(topic, b"this is no JSON")
    for minute in minutes:
        for n in range(10):
            at = f"2024-05-01 {minute // 60:02}:{minute % 60:02}:{n * 5:02}"
            order = {"shop": f"s{n % 2}", "amount": 1.25, "at": at}
            producer.produce(topic, json.dumps(order).encode(), key=str(n).encode())
    producer.flush(30)


@pytest.mark.timeout(900)
def test_each_window_is_there_once(
    drive: Callable[..., DrivenJob], kafka: str, tmp_path: Path
) -> None:
    orders, totals, newest, once = (brokers.new_topic(kafka, 2) for _ in range(4))
    script = tmp_path / "shops.sql"
    script.write_text(SCRIPT.format(orders=orders, totals=totals, newest=newest, once=once))
    job = drive(script, kafka=kafka)

    send(kafka, orders, range(20))
    job.start()
    job.until(lambda: len(brokers.visible(kafka, totals)) >= 20)
    job.end()  # killed, with its JVM and workers
    send(kafka, orders, range(20, 40))
    job.start()
    job.until(lambda: len(brokers.visible(kafka, totals)) >= 78)
    job.until(lambda: "s0,200" in brokers.visible(kafka, newest))
    job.terminate()
    assert job.wait() == 0, job.log()

    rows = [json.loads(each) for each in brokers.visible(kafka, totals)]
    assert sorted((row["minute_"], row["shop"]) for row in rows) == [
        (f"2024-05-01 00:{minute:02}:00", shop)
        for minute in range(39)  # the last is still open
        for shop in ("s0", "s1")
    ]
    assert sorted(brokers.visible(kafka, once)) == ["a,2", "b,1"]  # not again by the second start
    assert {(row["total"], row["n"]) for row in rows} == {(6.25, 5)}
    assert job.events(events.Planned)[0].sources == [f"kafka:{orders}"]
    assert job.events()[-1] == events.Stopped("suspended")
