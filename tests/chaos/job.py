"""The job of a chaos run: counts the records of each key, and writes every count to two topics.

A record is `<key> <number>`, numbers of a key go up from 0; it comes out, in both topics, as
`<key> <number> <count>`, and right is count = number + 1.

job.py <from topic> <to topic> <to topic> <prefix> <transaction timeout, ms> [<interval, ms>]
"""

from __future__ import annotations

import sys
from collections.abc import Iterator
from typing import Any

from headrace.common import SimpleStringSchema, Types, WatermarkStrategy
from headrace.common.serialization import SerializationSchema
from headrace.datastream import (
    DeliveryGuarantee,
    KeyedProcessFunction,
    OutputTag,
    RuntimeContext,
    StreamExecutionEnvironment,
)
from headrace.datastream.connectors.kafka import (
    KafkaOffsetsInitializer,
    KafkaRecordSerializationSchema,
    KafkaSink,
    KafkaSource,
)
from headrace.datastream.state import ValueStateDescriptor

SECOND = OutputTag("second", Types.STRING())


class KeyOf(SerializationSchema):
    def serialize(self, value: Any) -> bytes:
        return str(value).partition(" ")[0].encode()


class Count(KeyedProcessFunction):
    def open(self, runtime_context: RuntimeContext) -> None:
        self._seen = runtime_context.get_state(ValueStateDescriptor("seen", Types.LONG()))

    def process_element(self, value: str, ctx: KeyedProcessFunction.Context) -> Iterator[Any]:
        seen = (self._seen.value() or 0) + 1
        self._seen.update(seen)
        yield f"{value} {seen}"
        yield SECOND, f"{value} {seen}"


def sink(topic: str, prefix: str, timeout_ms: str) -> KafkaSink:
    return (
        KafkaSink.builder()
        .set_record_serializer(
            KafkaRecordSerializationSchema.builder()
            .set_topic(topic)
            .set_key_serialization_schema(KeyOf())
            .set_value_serialization_schema(SimpleStringSchema())
            .build()
        )
        .set_delivery_guarantee(DeliveryGuarantee.EXACTLY_ONCE)
        .set_transactional_id_prefix(prefix)
        .set_property("transaction.timeout.ms", timeout_ms)
        .build()
    )


def main() -> None:
    source_topic, first, second, prefix, timeout_ms, *interval = sys.argv[1:]
    env = StreamExecutionEnvironment.get_execution_environment()
    env.enable_checkpointing(int(interval[0]) if interval else 200)
    source = (
        KafkaSource.builder()
        .set_topics(source_topic)
        .set_group_id(prefix)
        .set_starting_offsets(KafkaOffsetsInitializer.earliest())
        .set_value_only_deserializer(SimpleStringSchema())
        .build()
    )
    counted = (
        env.from_source(source, WatermarkStrategy.no_watermarks(), "numbers", Types.STRING())
        .key_by(lambda line: line.partition(" ")[0], Types.STRING())
        .process(Count(), Types.STRING())
    )
    counted.sink_to(sink(first, prefix, timeout_ms))
    counted.get_side_output(SECOND).sink_to(sink(second, prefix, timeout_ms))
    env.execute("chaos")


if __name__ == "__main__":
    main()
