"""Reads "<key> <second>" and writes "<key> <n-th record of the key>" for each record, and per key
and hour "<key> hour <records>" when the hour is over. A program that is run by a driver."""

from __future__ import annotations

import argparse
import os
from collections.abc import Iterable
from typing import Any

from headrace.common import Time, TimestampAssigner, Types, WatermarkStrategy
from headrace.common.serialization import SimpleStringSchema
from headrace.datastream import KeyedProcessFunction, RuntimeContext, StreamExecutionEnvironment
from headrace.datastream.connectors.kafka import (
    DeliveryGuarantee,
    KafkaOffsetsInitializer,
    KafkaRecordSerializationSchema,
    KafkaSink,
    KafkaSource,
)
from headrace.datastream.state import ValueStateDescriptor
from headrace.datastream.window import TumblingEventTimeWindows


class Second(TimestampAssigner):
    def extract_timestamp(self, value: str, record_timestamp: int) -> int:
        return int(value.split()[1]) * 1000


class Count(KeyedProcessFunction):
    def open(self, runtime_context: RuntimeContext) -> None:
        self.count = runtime_context.get_state(ValueStateDescriptor("count", Types.INT()))

    def process_element(self, value: Any, ctx: KeyedProcessFunction.Context) -> Iterable[str]:
        count = (self.count.value() or 0) + 1
        self.count.update(count)
        yield f"{value.split()[0]} {count}"


def main() -> None:
    parser = argparse.ArgumentParser()
    parser.add_argument("--input", required=True)
    parser.add_argument("--output", required=True)
    parser.add_argument("--more", action="store_true", help="a later version: one more operator")
    options = parser.parse_args()
    servers = os.environ["KAFKA_BOOTSTRAP_SERVERS"]
    env = StreamExecutionEnvironment.get_execution_environment()
    env.set_max_parallelism(8).enable_checkpointing(200)
    source = (
        KafkaSource.builder()
        .set_bootstrap_servers(servers)
        .set_topics(options.input)
        .set_starting_offsets(KafkaOffsetsInitializer.earliest())
        .set_value_only_deserializer(SimpleStringSchema())
        .build()
    )
    marks = WatermarkStrategy.for_monotonous_timestamps().with_timestamp_assigner(Second())
    keyed = env.from_source(source, marks, "input").key_by(lambda line: line.split()[0])
    results = keyed.process(Count(), Types.STRING()).uid("count")
    hours = (
        keyed.map(lambda line: (line.split()[0], 1))
        .key_by(lambda pair: pair[0])
        .window(TumblingEventTimeWindows.of(Time.hours(1)))
        .reduce(lambda a, b: (a[0], a[1] + b[1]))
        .uid("hours")
        .map(lambda pair: f"{pair[0]} hour {pair[1]}", Types.STRING())
    )
    results = results.union(hours)
    if options.more:
        again = keyed.process(Count(), Types.STRING()).uid("again")
        results = results.union(again.map(lambda line: f"again {line}", Types.STRING()))
    value = (
        KafkaRecordSerializationSchema.builder()
        .set_topic(options.output)
        .set_value_serialization_schema(SimpleStringSchema())
        .build()
    )
    results.sink_to(
        KafkaSink.builder()
        .set_bootstrap_servers(servers)
        .set_record_serializer(value)
        .set_delivery_guarantee(DeliveryGuarantee.EXACTLY_ONCE)
        .set_transactional_id_prefix(f"savepoints-{options.input}")
        .build()
    )
    env.execute("savepoint-job")


if __name__ == "__main__":
    main()
