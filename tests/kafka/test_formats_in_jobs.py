"""What a job writes to a real broker in each format: bytes, keys, times and topics of its records;
and what PyFlink's older producer writes."""

from __future__ import annotations

import importlib.util
import json
import uuid
from typing import Any

from confluent_kafka import Consumer, KafkaError, Message, TopicPartition

from headrace.common import (
    ByteArraySchema,
    Row,
    SerializationSchema,
    TimestampAssigner,
    Types,
    WatermarkStrategy,
)
from headrace.common.serialization import RowFieldExtractorSchema
from headrace.datastream.connectors.kafka import (
    DeliveryGuarantee,
    FlinkKafkaProducer,
    KafkaRecordSerializationSchema,
    KafkaSink,
    KafkaTopicSelector,
)
from headrace.datastream.formats.avro import AvroRowSerializationSchema
from headrace.datastream.formats.csv import CsvRowSerializationSchema
from headrace.datastream.formats.json import JsonRowSerializationSchema
from tests.spark import programs
from workers.embedded.kafka import ensure_topics

WORDS = Types.ROW([Types.INT(), Types.STRING()])
ROWS = [(1, "hi"), (2, "hello"), (3, "hi"), (4, "hello, you"), (5, None)]
BYTES = Types.PRIMITIVE_ARRAY(Types.BYTE())
AVRO = json.dumps(
    {
        "type": "record",
        "name": "Word",
        "fields": [{"name": "f0", "type": "int"}, {"name": "f1", "type": ["null", "string"]}],
    }
)
HAS_AVRO = importlib.util.find_spec("fastavro") is not None
#: Event time of the first record; they are 4 seconds apart.
T0 = 1_770_000_000_000


class EventTime(TimestampAssigner):
    def extract_timestamp(self, value: Any, record_timestamp: int) -> int:
        return T0 + int(value[0] - 1) * 4000


class ByParity(KafkaTopicSelector):
    def __init__(self, name: str) -> None:
        self.name = name

    def apply(self, data: Any) -> str:
        return f"{self.name}.{'odd' if data[0] % 2 else 'even'}"


class Topics:
    """Topics of one test, with two partitions each."""

    def __init__(self, servers: str) -> None:
        self.servers, self.name = servers, f"jobs-{uuid.uuid4().hex[:8]}"
        kinds = ("csv", "json", "avro", "bytes", "odd", "even", "pairs")
        names = {f"{self.name}.{kind}": 2 for kind in kinds}
        ensure_topics(servers, names, {"retention.ms": "-1"})  # event times are long ago

    def sink(self, to: Any, values: SerializationSchema, **more: Any) -> KafkaSink:
        records = KafkaRecordSerializationSchema.builder().set_value_serialization_schema(values)
        if isinstance(to, str):
            records.set_topic(f"{self.name}.{to}")
        else:
            records.set_topic_selector(to)
        if "key" in more:
            records.set_key_serialization_schema(more["key"])
        sink = KafkaSink.builder().set_bootstrap_servers(self.servers)
        sink.set_record_serializer(records.build())
        sink.set_property("group.id", "as in PyFlink's examples").set_property("linger.ms", "1")
        if "guarantee" in more:
            sink.set_delivery_guarantee(more["guarantee"])
            sink.set_transactional_id_prefix(self.name)
        return sink.build()

    def records(self, of: str) -> list[Message]:
        """All there are now, in the order of their values."""
        settings = {"group.id": "looking-on", "enable.partition.eof": True}
        consumer = Consumer({"bootstrap.servers": self.servers, **settings})
        try:
            consumer.assign([TopicPartition(f"{self.name}.{of}", at, 0) for at in (0, 1)])
            found: list[Message] = []
            ended = set()
            while len(ended) < 2:
                for message in consumer.consume(100, 0.2):
                    if message.error() is None:
                        found.append(message)
                    else:
                        assert message.error().code() == KafkaError._PARTITION_EOF
                        ended.add(message.partition())
            return sorted(found, key=lambda message: message.value() or b"")
        finally:
            consumer.close()


def test_records_are_as_flink_writes_them(kafka: str) -> None:
    topics = Topics(kafka)
    write(topics)
    check_records(topics)


def write(topics: Topics) -> None:
    env = programs.environment("in-process")
    words = env.from_collection(ROWS, WORDS)
    servers = {"bootstrap.servers": topics.servers, "group.id": "as in PyFlink's examples"}
    lines = CsvRowSerializationSchema.Builder(WORDS).build()
    words.add_sink(FlinkKafkaProducer(f"{topics.name}.csv", lines, servers))
    objects = JsonRowSerializationSchema.builder().with_type_info(WORDS).build()
    once = DeliveryGuarantee.EXACTLY_ONCE
    words.sink_to(topics.sink("json", objects, guarantee=once))
    if HAS_AVRO:
        words.sink_to(topics.sink("avro", AvroRowSerializationSchema(avro_schema_string=AVRO)))
    ids = words.filter(lambda row: row[0] < 4)
    ids.map(lambda row: json.dumps({"id": row[0]}, separators=(",", ":")).encode(), BYTES).sink_to(
        topics.sink("bytes", ByteArraySchema(), guarantee=DeliveryGuarantee.AT_LEAST_ONCE)
    )
    pairs = words.map(
        lambda row: Row(row[1] and row[1].encode(), b"%d" % row[0]), Types.ROW([BYTES, BYTES])
    )
    pairs.sink_to(topics.sink("pairs", RowFieldExtractorSchema(1), key=RowFieldExtractorSchema(0)))
    timed = WatermarkStrategy.for_monotonous_timestamps().with_timestamp_assigner(EventTime())
    words.assign_timestamps_and_watermarks(timed).sink_to(
        topics.sink(ByParity(topics.name), objects)
    )
    env.execute("write")


def check_records(topics: Topics) -> None:
    lines = topics.records("csv")
    assert [line.value() for line in lines] == [
        b"1,hi\n",
        b"2,hello\n",
        b"3,hi\n",
        b'4,"hello, you"\n',
        b"5,\n",
    ]
    assert len({line.partition() for line in lines}) == 1  # of a subtask, as Flink's producer does
    assert topics.records("json")[4].value() == b'{"f0":5,"f1":null}'
    pairs = topics.records("pairs")
    keys = [b"hi", b"hello", b"hi", b"hello, you", None]
    assert [(pair.value(), pair.key()) for pair in pairs] == [
        (b"%d" % at, key) for at, key in enumerate(keys, 1)
    ]
    assert pairs[0].partition() == pairs[2].partition()  # their keys are equal
    for of, ids in (("odd", (1, 3, 5)), ("even", (2, 4))):
        stamped = [json.loads(record.value() or b"")["f0"] for record in topics.records(of)]
        assert stamped == list(ids)
        assert [record.timestamp()[1] for record in topics.records(of)] == [
            T0 + (each - 1) * 4000 for each in ids
        ]
