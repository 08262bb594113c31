"""Jobs between topics of a real broker: formats, records' keys and times, and PyFlink's older
classes. One job writes, one reads."""

from __future__ import annotations

import importlib.util
import json
import uuid
from collections import defaultdict
from collections.abc import Iterable
from typing import Any

import pytest
from confluent_kafka import Consumer, KafkaError, Message, TopicPartition

from headrace.common import (
    ByteArraySchema,
    Row,
    SerializationSchema,
    Time,
    TimestampAssigner,
    Types,
    WatermarkStrategy,
)
from headrace.common.serialization import RowFieldExtractorSchema
from headrace.datastream import (
    DataStream,
    ProcessFunction,
    ProcessWindowFunction,
    StreamExecutionEnvironment,
)
from headrace.datastream.connectors.kafka import (
    DeliveryGuarantee,
    FlinkKafkaConsumer,
    FlinkKafkaProducer,
    KafkaOffsetResetStrategy,
    KafkaOffsetsInitializer,
    KafkaRecordSerializationSchema,
    KafkaSink,
    KafkaSource,
    KafkaTopicPartition,
    KafkaTopicSelector,
)
from headrace.datastream.formats.avro import (
    AvroRowDeserializationSchema,
    AvroRowSerializationSchema,
)
from headrace.datastream.formats.csv import CsvRowDeserializationSchema, CsvRowSerializationSchema
from headrace.datastream.formats.json import (
    JsonRowDeserializationSchema,
    JsonRowSerializationSchema,
)
from headrace.datastream.window import TumblingEventTimeWindows
from tests.spark import programs
from tests.spark.conftest import on_spark
from workers.embedded.kafka import ensure_topics

__all__ = ["on_spark"]

AT = KafkaOffsetsInitializer
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
#: How many values the job gives that reads.
COUNT = 5 + 5 + 3 + 3 + 2 + (5 if HAS_AVRO else 0)


class EventTime(TimestampAssigner):
    def extract_timestamp(self, value: Any, record_timestamp: int) -> int:
        return T0 + int(value[0] - 1) * 4000


class ByParity(KafkaTopicSelector):
    def __init__(self, name: str) -> None:
        self.name = name

    def apply(self, data: Any) -> str:
        return f"{self.name}.{'odd' if data[0] % 2 else 'even'}"


class Count(ProcessWindowFunction[Any, Any, Any, Any]):
    def process(self, key: Any, context: Any, elements: Iterable[Any]) -> Iterable[Any]:
        yield (context.window().start - T0, len(list(elements)))


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

    def source(self, of: str, values: Any) -> Any:
        properties = {"bootstrap.servers": self.servers, "group.id": self.name}
        source = KafkaSource.builder().set_topics(f"{self.name}.{of}").set_properties(properties)
        return source.set_value_only_deserializer(values).set_bounded(AT.latest())

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


@pytest.mark.timeout(1500)
@pytest.mark.usefixtures("on_spark")
def test_what_is_written_in_each_format_is_read(kafka: str) -> None:
    topics = Topics(kafka)
    write(topics, "spark")
    check_records(topics)
    read = collect(topics)
    rows = [Row(*row) for row in ROWS]
    assert read["csv"] == [*rows[:4], Row(5, "")]
    assert read["json"] == rows
    assert read.get("avro", rows) == rows
    assert read["bytes"] == [b'{"id":1}', b'{"id":2}', b'{"id":3}']
    assert read["from"] == [(3, T0 + 8000), (4, T0 + 12000), (5, T0 + 16000)]
    assert read["times"] == [(0, 2), (10_000, 1)]


def test_one_process_writes_the_same(kafka: str) -> None:
    topics = Topics(kafka)
    write(topics, "in-process")
    check_records(topics)


def write(topics: Topics, executor: str) -> None:
    env = programs.environment(executor)
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


def collect(topics: Topics) -> dict[str, list[Any]]:
    """The values of each stream of one job, in order. One source does not end: the job is stopped
    when all are there."""
    streams = read(programs.environment("spark"), topics)
    named = [programs.Named.of(stream, name) for name, stream in streams.items()]
    found: defaultdict[str, list[Any]] = defaultdict(list)
    values: Any = named[0].union(*named[1:]).execute_and_collect(limit=COUNT)
    for name, value in values:
        found[name].append(value)
    return {name: sorted(some, key=repr) for name, some in found.items()}


def read(env: StreamExecutionEnvironment, topics: Topics) -> dict[str, DataStream]:
    objects = JsonRowDeserializationSchema.builder().type_info(WORDS).build()
    parts = [KafkaTopicPartition(f"{topics.name}.json", at) for at in (0, 1)]
    timed = topics.source("odd", objects)
    sources = {
        "json": topics.source("json", objects).set_starting_offsets(
            AT.offsets(dict.fromkeys(parts, 0))
        ),
        "bytes": topics.source("bytes", ByteArraySchema()),
    }
    if HAS_AVRO:
        records = AvroRowDeserializationSchema(avro_schema_string=AVRO)
        start = AT.committed_offsets(KafkaOffsetResetStrategy.EARLIEST)
        sources["avro"] = topics.source("avro", records).set_starting_offsets(start)
    later = KafkaSource.builder().set_topic_pattern(f"{topics.name}[.](odd|even)")
    later.set_bootstrap_servers(topics.servers).set_value_only_deserializer(objects)
    later.set_starting_offsets(AT.timestamp(T0 + 8000)).set_bounded(AT.latest())
    lines = CsvRowDeserializationSchema.Builder(WORDS).build()
    consumer = FlinkKafkaConsumer(
        f"{topics.name}.csv", lines, {"bootstrap.servers": topics.servers, "group.id": topics.name}
    )
    ascending = WatermarkStrategy.for_monotonous_timestamps()
    windows = (
        env.from_source(timed.build(), ascending, "timed")
        .key_by(lambda row: 0, Types.INT())
        .window(TumblingEventTimeWindows.of(Time.seconds(10)))
        .process(Count())
    )
    return {
        **{
            name: env.from_source(source.build(), programs.NONE, name)
            for name, source in sources.items()
        },
        "csv": env.add_source(consumer.set_start_from_earliest(), "csv"),
        "from": env.from_source(later.build(), programs.NONE, "from").process(Stamp()),
        "times": windows,
    }


class Stamp(ProcessFunction):
    """What a value is stamped with: the time of its record."""

    def process_element(self, value: Any, ctx: Any) -> Iterable[Any]:
        yield (value[0], ctx.timestamp())
