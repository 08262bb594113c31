"""Records that cannot be read: what becomes of them, and of records behind a bounded end."""

from __future__ import annotations

from typing import Any

import pyarrow as pa
import pytest
from confluent_kafka import Producer

from headrace.common import Types, WatermarkStrategy
from headrace.common.serialization import SimpleStringSchema
from headrace.connectors.kafka import producers
from headrace.connectors.kafka.settings import SinkSettings
from headrace.datastream import DeliveryGuarantee, StreamExecutionEnvironment
from headrace.datastream.connectors.kafka import KafkaSink, KafkaSource, OnDeserializationError
from headrace.datastream.formats.json import JsonRowDeserializationSchema
from headrace.runtime import context
from headrace.runtime.operators.operator import OperatorError
from headrace.runtime.parts import Part
from headrace.runtime.sources import DEAD_LETTERS, DeadLetter, DeadLetterSchema
from headrace.runtime.spark_kafka import KafkaDecoder

BROKERS_DEFAULT = 1_048_588
#: A batch of one record, around its key, value and headers.
AROUND = 61 + 6 * 5 + 5 * 10
SCHEMA = (
    JsonRowDeserializationSchema.builder()
    .type_info(Types.ROW_NAMED(["n"], [Types.INT()]))
    .fail_on_missing_field()
    .build()
)


def letter(value: bytes | None, key: bytes | None = None, reason: str = "broken") -> dict[str, Any]:
    return DeadLetterSchema("dead").record(None, DeadLetter(key, value, reason, "in", 2, 7))


def size(record: dict[str, Any]) -> int:
    headers = sum(len(name) + len(value) for name, value in record["headers"])
    return len(record["key"] or b"") + len(record["value"] or b"") + headers


def test_a_dead_letter_has_the_bytes_as_they_came() -> None:
    assert letter(b"{broken", b"key") == {
        "key": b"key",
        "value": b"{broken",
        "headers": [
            ("headrace.reason", b"broken"),
            ("headrace.topic", b"in"),
            ("headrace.partition", b"2"),
            ("headrace.offset", b"7"),
        ],
    }
    assert letter(None)["value"] is None


def test_the_reason_is_cut() -> None:
    headers = dict(letter(b"", reason="\ud800" + "x" * 10_000)["headers"])
    assert headers["headrace.reason"].startswith(b"\\ud800x")
    assert len(headers["headrace.reason"]) == 1024


@pytest.mark.parametrize("key", [None, b"key", b"k" * 1_000_000])
def test_a_letter_fits_the_largest_record_of_a_broker(key: bytes | None) -> None:
    whole = b"v" * 1_048_000
    record = letter(whole, key, "r" * 5000)
    assert size(record) + AROUND <= BROKERS_DEFAULT
    assert whole.startswith(record["value"])
    assert record["value"]
    headers = dict(record["headers"])
    assert headers["headrace.truncated"] == b"1048000"
    assert headers.get("headrace.truncated-key") == (b"1000000" if len(key or b"") > 3 else None)


def test_a_letter_that_fits_is_not_cut() -> None:
    record = letter(b"v" * 1_000_000, b"key")
    assert len(record["value"]) == 1_000_000
    assert "headrace.truncated" not in dict(record["headers"])


@pytest.mark.parametrize(
    ("options", "taken"), [({}, True), ({"message.max.bytes": "1000000"}, False)]
)
def test_the_broker_decides_how_large_is_too_large(options: dict[str, str], taken: bool) -> None:
    producer: Producer = producers.make_client(
        SinkSettings("out", "localhost:1", options=options), {"log_level": 0}
    )
    record = {"value": b"v" * 1_048_500}
    assert producer.produce_batch("out", [record]) == int(taken)
    producer.purge()


def decode(decoder: KafkaDecoder, *rows: tuple[str, int, int, bytes]) -> dict[str, Part]:
    """Rows as (topic, partition, offset, value)."""
    columns = {
        "key": [None for _ in rows],
        "value": [value for *_, value in rows],
        "topic": [topic for topic, *_ in rows],
        "partition": [partition for _, partition, *_ in rows],
        "offset": [offset for _, _, offset, _ in rows],
        "timestamp": [1000 + offset for _, _, offset, _ in rows],
    }
    return {part.split: part for part in decoder(pa.RecordBatch.from_pydict(columns))}


def test_unreadable_records_go_where_the_source_says() -> None:
    row = ("in", 0, 5, b"{broken")
    [(_, dead)] = decode(KafkaDecoder(SCHEMA, dead_letters=True), row)["in-0"].rejected[
        DEAD_LETTERS
    ]
    assert (dead.value, dead.topic, dead.partition, dead.offset) == (b"{broken", "in", 0, 5)
    assert dead.reason.startswith("not JSON")
    with pytest.raises(OperatorError, match="in-0 offset 5: not JSON"):
        decode(KafkaDecoder(SCHEMA, dead_letters=None), row)


def test_unreadable_records_leave_those_around_them_where_they_were() -> None:
    rows = [
        ("in", 1, 5, b'{"n": 1}'),
        ("in", 0, 8, b"{broken"),
        ("in", 1, 6, b"{broken"),
        ("other", 1, 3, b'{"n": 2}'),
        ("in", 1, 7, b'{"n": 3}'),
        ("in", 1, 8, b"{broken, too"),
    ]
    parts = decode(KafkaDecoder(SCHEMA, dead_letters=True), *rows)
    assert [ts for ts, _ in parts["in-1"].elements] == [1005, 1007]
    assert [dead.offset for _, dead in parts["in-1"].rejected[DEAD_LETTERS]] == [6, 8]
    assert [dead.offset for _, dead in parts["in-0"].rejected[DEAD_LETTERS]] == [8]
    assert [ts for ts, _ in parts["other-1"].elements] == [1003]
    assert parts["in-1"].arrived.tolist() == [1005, 1006, 1007, 1008]


def test_text_is_read_at_once_and_one_by_one_with_the_same_result() -> None:
    decoder = KafkaDecoder(SimpleStringSchema(), dead_letters=True)
    rows = [("in", 0, n, text.encode()) for n, text in enumerate(["a", "", "\u20ac", "\U0001f600"])]
    expected = [(1000, "a"), (1001, ""), (1002, "\u20ac"), (1003, "\U0001f600")]
    assert decode(decoder, *rows)["in-0"].elements == expected
    part = decode(decoder, *rows, ("in", 0, 4, b"\xff"))["in-0"]
    assert part.elements == expected
    assert [dead.offset for _, dead in part.rejected[DEAD_LETTERS]] == [4]


def test_the_dead_letters_transactions_have_the_timeout_that_is_given() -> None:
    to = OnDeserializationError.dead_letter
    builder = KafkaSource.builder().set_bootstrap_servers("broker:9092").set_topics("in")
    builder.set_value_only_deserializer(SCHEMA).set_group_id("mine")
    for action, timeout in ((to("dead"), 900_000), (to("dead", 60_000), 60_000)):
        sink = dead_letter_sink(builder.on_deserialization_error(action).build())
        assert sink.transaction_timeout_ms == timeout


def dead_letter_source(**change: str) -> KafkaSource:
    builder = (
        KafkaSource.builder()
        .set_bootstrap_servers("broker:9092")
        .set_value_only_deserializer(SCHEMA)
        .on_deserialization_error(OnDeserializationError.dead_letter("dead"))
        .set_properties(
            {
                "max.poll.records": "5",
                "client.id": "me",
                "sasl.mechanism": "PLAIN",
                "sasl.jaas.config": 'x.PlainLoginModule required username="a" password="b";',
            }
        )
    )
    for name, value in change.items():
        getattr(builder, name)(value)
    return builder.build()


def dead_letter_sink(source: KafkaSource) -> KafkaSink:
    env = StreamExecutionEnvironment.get_execution_environment()
    env.from_source(source, WatermarkStrategy.no_watermarks(), "in").print()
    [sink] = [s for s in env.compile("test").sinks.values() if isinstance(s, KafkaSink)]
    return sink


def test_dead_letters_get_the_sources_client_options_only() -> None:
    sink = dead_letter_sink(dead_letter_source(set_topics="in", set_group_id="flights"))
    assert sink.properties == {
        "client.id": "me",
        "sasl.mechanism": "PLAIN",
        "sasl.username": "a",
        "sasl.password": "b",
    }


def test_without_a_platform_the_group_id_names_the_transactions() -> None:
    named = dead_letter_source(set_topic_pattern="in-.*", set_group_id="flights of *")
    prefix = dead_letter_sink(named).transactional_id_prefix
    assert prefix == "flights_of__-dead-letters"
    SinkSettings("dead", "broker:9092", "dead", DeliveryGuarantee.EXACTLY_ONCE, prefix)
    with pytest.raises(ValueError, match="set_group_id, unique to the job"):
        dead_letter_sink(dead_letter_source(set_topics="in"))


def test_on_the_platform_the_job_names_the_transactions(monkeypatch: pytest.MonkeyPatch) -> None:
    with context.laptop("test", 1) as run:
        monkeypatch.setattr(context, "_current", run)
        pattern = dead_letter_sink(dead_letter_source(set_topic_pattern="in-.*"))
    assert pattern.transactional_id_prefix == f"headrace-{run.job_id}-dead-letters"
