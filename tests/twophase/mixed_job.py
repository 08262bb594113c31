"""A job with a sink of every kind behind one source, run by a real driver.

mixed_job.py <input topic> <output topic> <letters topic> <base path> <jdbc url> <table> <spool>

Numbers that are text in the input go to a topic, to Parquet files, to a table, to the sink of the
documentation and to the standard output; what is no number goes to another topic by a side output.
"""

from __future__ import annotations

import os
import sys
from collections.abc import Iterator

from spool import Spool  # type: ignore[import-not-found]

from headrace.common import SimpleStringSchema, Types, WatermarkStrategy
from headrace.datastream import OutputTag, ProcessFunction, StreamExecutionEnvironment
from headrace.datastream.connectors import DeliveryGuarantee
from headrace.datastream.connectors.file_system import BucketAssigner, FileSink
from headrace.datastream.connectors.jdbc import JdbcConnectionOptions, JdbcSink
from headrace.datastream.connectors.kafka import (
    KafkaOffsetsInitializer,
    KafkaRecordSerializationSchema,
    KafkaSink,
    KafkaSource,
)
from headrace.datastream.formats.parquet import ParquetBulkWriters

ROW = Types.ROW_NAMED(["number"], [Types.LONG()])
LETTERS = OutputTag("letters", Types.STRING())


class Numbers(ProcessFunction):
    def process_element(self, value: str, ctx: ProcessFunction.Context) -> Iterator[object]:
        if value.isdigit():
            yield value
        else:
            yield LETTERS, value


def topic(servers: str, name: str, prefix: str) -> KafkaSink:
    return (
        KafkaSink.builder()
        .set_bootstrap_servers(servers)
        .set_record_serializer(
            KafkaRecordSerializationSchema.builder()
            .set_topic(name)
            .set_value_serialization_schema(SimpleStringSchema())
            .build()
        )
        .set_delivery_guarantee(DeliveryGuarantee.EXACTLY_ONCE)
        .set_transactional_id_prefix(prefix)
        .build()
    )


def main() -> None:
    source_topic, out, letters, base_path, url, table, spool = sys.argv[1:]
    servers = os.environ["KAFKA_BOOTSTRAP_SERVERS"]
    env = StreamExecutionEnvironment.get_execution_environment()
    env.enable_checkpointing(200)
    source = (
        KafkaSource.builder()
        .set_bootstrap_servers(servers)
        .set_topics(source_topic)
        .set_starting_offsets(KafkaOffsetsInitializer.earliest())
        .set_value_only_deserializer(SimpleStringSchema())
        .build()
    )
    read = env.from_source(source, WatermarkStrategy.no_watermarks(), "numbers")
    numbers = read.process(Numbers(), Types.STRING())
    rows = numbers.map(lambda text: (int(text),), ROW)
    parquet = ParquetBulkWriters.for_row_type(ROW)
    connection = (
        JdbcConnectionOptions.JdbcConnectionOptionsBuilder()
        .with_url(url)
        .with_user_name("writer")
        .with_password(os.environ["TABLE_PASSWORD"])
        .build()
    )
    numbers.sink_to(topic(servers, out, out))
    numbers.get_side_output(LETTERS).sink_to(topic(servers, letters, out))
    numbers.sink_to(Spool(spool))
    numbers.print("number")
    rows.sink_to(
        FileSink.for_bulk_format(base_path, parquet)
        .with_bucket_assigner(BucketAssigner.base_path_bucket_assigner())
        .build()
    )
    rows.add_sink(JdbcSink.exactly_once_sink(f"INSERT INTO {table} VALUES (?)", ROW, connection))
    env.execute("mixed")


if __name__ == "__main__":
    main()
