"""The programs that are measured, as PyFlink's users write them."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass
from typing import Any

from headrace.common import Duration, TimestampAssigner, WatermarkStrategy
from headrace.common.serialization import SimpleStringSchema
from headrace.common.time import Time
from headrace.datastream import (
    AggregateFunction,
    DataStream,
    DeliveryGuarantee,
    ProcessWindowFunction,
    StreamExecutionEnvironment,
    TumblingEventTimeWindows,
)
from headrace.datastream.connectors.kafka import (
    KafkaOffsetsInitializer,
    KafkaRecordSerializationSchema,
    KafkaSink,
    KafkaSource,
)


class Ends:
    """What a program reads and writes."""

    def __init__(self, servers: str, topics: list[str], target: str) -> None:
        self.servers = servers
        self.topics = topics
        self.target = target

    def read(self, env: StreamExecutionEnvironment, number: int = 0) -> DataStream:
        return env.from_source(
            self._source(number), WatermarkStrategy.no_watermarks(), f"in-{number}"
        )

    def read_timed(self, env: StreamExecutionEnvironment, number: int = 0) -> DataStream:
        strategy = WatermarkStrategy.for_bounded_out_of_orderness(Duration.of_seconds(1))
        timed = strategy.with_timestamp_assigner(EventTime())
        return env.from_source(self._source(number), timed, f"in-{number}")

    def write(self, stream: DataStream) -> None:
        """Exactly-once to Kafka."""
        serializer = KafkaRecordSerializationSchema.builder().set_topic(self.target)
        sink = (
            KafkaSink.builder()
            .set_bootstrap_servers(self.servers)
            .set_record_serializer(
                serializer.set_value_serialization_schema(SimpleStringSchema()).build()
            )
            .set_delivery_guarantee(DeliveryGuarantee.EXACTLY_ONCE)
            .set_transactional_id_prefix(self.target)
            .build()
        )
        stream.sink_to(sink)

    def _source(self, number: int) -> KafkaSource:
        return (
            KafkaSource.builder()
            .set_bootstrap_servers(self.servers)
            .set_topics(self.topics[number])
            .set_starting_offsets(KafkaOffsetsInitializer.earliest())
            .set_bounded(KafkaOffsetsInitializer.latest())
            .set_value_only_deserializer(SimpleStringSchema())
            .build()
        )


class EventTime(TimestampAssigner):
    def extract_timestamp(self, value: str, record_timestamp: int) -> int:
        return int(value[8:21])


class Count(AggregateFunction):
    def create_accumulator(self) -> int:
        return 0

    def add(self, value: str, accumulator: int) -> int:
        return accumulator + 1

    def get_result(self, accumulator: int) -> int:
        return accumulator

    def merge(self, acc_a: int, acc_b: int) -> int:
        return acc_a + acc_b


class Length(ProcessWindowFunction[Any, Any, Any, Any]):
    def process(self, key: str, context: Any, elements: Iterable[str]) -> Iterable[Any]:
        yield key, context.window().end, len(list(elements))


def key_of(line: str) -> str:
    return line[:7]


def pair(line: str) -> tuple[str, int]:
    return line[:7], 1


def added(one: tuple[str, int], two: tuple[str, int]) -> tuple[str, int]:
    return one[0], one[1] + two[1]


def nothing(value: Any) -> bool:
    return False


def discard(stream: DataStream) -> None:
    """As Flink's DiscardingSink: results are made, and go nowhere."""
    stream.filter(nothing).print()


def map_(env: StreamExecutionEnvironment, ends: Ends) -> None:
    discard(ends.read(env).map(pair))


def keyed_count(env: StreamExecutionEnvironment, ends: Ends) -> None:
    discard(ends.read(env).map(pair).key_by(lambda each: each[0]).reduce(added))


def window_aggregate(env: StreamExecutionEnvironment, ends: Ends) -> None:
    windows = TumblingEventTimeWindows.of(Time.seconds(10))
    discard(ends.read_timed(env).key_by(key_of).window(windows).aggregate(Count()))


def window_process(env: StreamExecutionEnvironment, ends: Ends) -> None:
    windows = TumblingEventTimeWindows.of(Time.seconds(10))
    discard(ends.read_timed(env).key_by(key_of).window(windows).process(Length()))


def join(env: StreamExecutionEnvironment, ends: Ends) -> None:
    one, two = ends.read_timed(env, 0), ends.read_timed(env, 1)
    windows = TumblingEventTimeWindows.of(Time.seconds(10))
    joined = one.join(two).where(key_of).equal_to(key_of).window(windows)
    discard(joined.apply(lambda left, right: (left[:7], right[8:21])))


def kafka_to_kafka(env: StreamExecutionEnvironment, ends: Ends) -> None:
    ends.write(ends.read(env).map(str.upper))


@dataclass(frozen=True)
class Subject:
    """A program and the keys of what it reads. `goal`: microseconds of CPU per record."""

    name: str
    #: None: the count is Spark's own.
    build: Callable[[StreamExecutionEnvironment, Ends], None] | None
    keys: int = 1_000
    inputs: int = 1
    goal: float | None = None


SUBJECTS = [
    Subject("map", map_, goal=10),
    Subject("Spark's own count, in the JVM", None, goal=6),
    Subject("keyed count", keyed_count, goal=12),
    Subject("window, aggregate", window_aggregate, goal=15),
    Subject("window, process function", window_process),
    Subject("join of two streams", join, keys=5_000, inputs=2),
    Subject("Kafka to Kafka, exactly-once", kafka_to_kafka),
    Subject("keyed count, one hot key", keyed_count, keys=1),
    Subject("keyed count, a million keys", keyed_count, keys=1_000_000),
]
#: Each record has a key of its own.
MANY_KEYS = Subject("keyed count, 5 million keys", keyed_count, keys=5_000_000)
