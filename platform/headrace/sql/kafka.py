"""Connectors `kafka` and `upsert-kafka`, by Flink's options."""

from __future__ import annotations

import os
from collections.abc import Callable
from dataclasses import dataclass

from pyspark.sql import Column as SparkColumn
from pyspark.sql import DataFrame, SparkSession
from pyspark.sql import functions as F

from headrace.connectors.kafka.datasource import FORMAT, KafkaSink
from headrace.sql import formats, startpositions
from headrace.sql.options import Options
from headrace.sql.tables import Column, Table

#: Flink's metadata of a record, and Spark's column of it.
_METADATA: dict[str, Callable[[], SparkColumn]] = {
    "topic": lambda: F.col("topic"),
    "partition": lambda: F.col("partition"),
    "offset": lambda: F.col("offset"),
    "timestamp": lambda: F.col("timestamp"),
    "timestamp-type": lambda: F.element_at(
        F.create_map(F.lit(0), F.lit("CreateTime"), F.lit(1), F.lit("LogAppendTime")),
        F.col("timestampType"),
    ),
    "headers": lambda: F.map_from_entries(F.col("headers")),
}
_RAW = ("STRING", "BINARY")
_BOUNDS = ("unbounded", "latest-offset")
_GUARANTEES = ("exactly-once", "at-least-once", "none")
_SINK_ONLY = ("sink.delivery-guarantee", "sink.transactional-id-prefix", "sink.partitioner")


@dataclass(frozen=True)
class _Layout:
    """Which columns are of the key, and which of the value."""

    key: formats.Format | None
    value: formats.Format
    key_columns: list[Column]
    value_columns: list[Column]
    prefix: str


def bounded(table: Table) -> bool:
    return table.options.get("scan.bounded.mode", "unbounded") != "unbounded"


def source(spark: SparkSession, table: Table, *, batch: bool = False) -> DataFrame:
    """A stream, or with `batch` what there is now, of the table's physical and metadata columns.
    Raises SqlError."""
    options = Options(table)
    if table.connector != "kafka":
        raise options.wrong(
            "'upsert-kafka' cannot be read here: a stream of changes has no like in Spark; read "
            "the topic as 'kafka'"
        )
    servers = _servers(options)
    reading = {"kafka.bootstrap.servers": servers, "includeHeaders": "true"}
    reading |= _topics(options)
    options.one_of("scan.bounded.mode", _BOUNDS, "unbounded")
    properties = options.prefixed("properties.")
    start = startpositions.of(options, properties)
    options.ignore(*_SINK_ONLY, "scan.topic-partition-discovery.interval", "sink.parallelism")
    reading |= {f"kafka.{key}": value for key, value in _of_spark(properties).items()}
    layout = _layout(options, table)
    options.done()
    reading["startingOffsets"] = startpositions.read(start, options, properties, reading)
    reader = spark.read if batch else spark.readStream
    if batch and reading["startingOffsets"] == "latest":
        raise options.wrong("'latest-offset' of a topic that is read to its end is nothing")
    frame = reader.format("kafka").options(**reading).load()
    return _columns(frame, table, layout, options)


def _of_spark(properties: dict[str, str]) -> dict[str, str]:
    """Spark keeps offsets itself and refuses to be told otherwise."""
    own = ("group.id", "auto.offset.reset", "enable.auto.commit")
    return {key: value for key, value in properties.items() if key not in own}


def _columns(frame: DataFrame, table: Table, layout: _Layout, options: Options) -> DataFrame:
    metadata = [each for each in table.columns if each.metadata]
    for each in metadata:
        if each.metadata not in _METADATA:
            known = ", ".join(_METADATA)
            raise options.wrong(f"a record has no metadata '{each.metadata}'; it has {known}")
    own = [_METADATA[each.metadata]().cast(each.kind).alias(each.name) for each in metadata]
    value, fields = formats.read(F.col("value"), layout.value, layout.value_columns, "__value")
    stages, whole = [F.col("*"), value], formats.readable(layout.value, "__value", "value")
    if layout.key is not None:
        bare = [_unprefixed(each, layout.prefix) for each in layout.key_columns]
        key, found = formats.read(F.col("key"), layout.key, bare, "__key")
        stages.append(key)
        whole += f" AND {formats.readable(layout.key, '__key', 'key')}"
        of_value = {each.name for each in layout.value_columns}
        fields += [
            column.alias(each.name)
            for each, column in zip(layout.key_columns, found, strict=True)
            if each.name not in of_value
        ]
    frame = frame.where("value IS NOT NULL").select(*stages)  # without value: a deletion
    return frame.where(whole).select(*fields, *own)


def _unprefixed(column: Column, prefix: str) -> Column:
    name = column.name.removeprefix(prefix)
    return Column(name, column.kind, not_null=column.not_null, written=column.written)


def sink(table: Table, name: str) -> tuple[str, dict[str, str], Callable[[DataFrame], DataFrame]]:
    """Spark's format, its options, and what makes records of rows. Raises SqlError."""
    options = Options(table)
    writing = {"kafka.bootstrap.servers": _servers(options), "topic": options.need("topic")}
    if ";" in writing["topic"]:
        raise options.wrong("one topic is written to; give one")
    guarantee = options.one_of("sink.delivery-guarantee", _GUARANTEES, "at-least-once")
    prefix = options.take("sink.transactional-id-prefix")
    partitioner = options.take("sink.partitioner", "default")
    properties = options.prefixed("properties.")
    options.ignore_prefixed("scan.")
    options.ignore("sink.parallelism")
    layout = _layout(options, table)
    options.done()
    writing |= {f"kafka.{key}": each for key, each in _of_spark(properties).items()}
    if table.connector == "upsert-kafka":
        _check_upsert(table, guarantee, partitioner, options)
        return "kafka", writing, lambda rows: _records(rows, table, layout)
    writing |= {"deliveryGuarantee": guarantee, "partitioner": partitioner, "sinkName": name}
    timeout = writing.pop("kafka.transaction.timeout.ms", "")
    if timeout:
        writing["transactionTimeoutMs"] = timeout
    if prefix:
        writing["transactionalIdPrefix"] = prefix
    elif guarantee == "exactly-once":
        raise options.wrong(
            "'sink.delivery-guarantee' = 'exactly-once' needs 'sink.transactional-id-prefix', "
            "unique to this INSERT in its Kafka cluster and the same at each start"
        )
    return FORMAT, writing, lambda rows: _records(rows, table, layout)


def _check_upsert(table: Table, guarantee: str, partitioner: str, options: Options) -> None:
    """Spark lets sinks written in Python only append, so this one is Spark's own."""
    if not table.primary_key:
        raise options.wrong("'upsert-kafka' needs a PRIMARY KEY … NOT ENFORCED")
    if guarantee == "exactly-once":
        raise options.wrong(
            "'upsert-kafka' is at-least-once here: after a failure the newest row of a key may "
            "come a second time, which is the same row for who reads the newest of each key"
        )
    if partitioner != "default":
        raise options.wrong("'upsert-kafka' partitions by key: 'sink.partitioner' = 'default'")


def register(spark: SparkSession) -> None:
    from headrace.runtime import data_sources

    data_sources.register(spark, KafkaSink)


def _records(rows: DataFrame, table: Table, layout: _Layout) -> DataFrame:
    columns = []
    if layout.key is not None:
        columns.append(formats.write(layout.key, layout.key_columns, layout.prefix).alias("key"))
    columns.append(formats.write(layout.value, layout.value_columns).alias("value"))
    for each in table.columns:
        if each.metadata == "timestamp" and not each.virtual:
            columns.append(F.col(f"`{each.name}`").cast("timestamp").alias("timestamp"))
    return rows.select(*columns)


def _servers(options: Options) -> str:
    own = options.take("properties.bootstrap.servers")
    return own or os.environ.get("KAFKA_BOOTSTRAP_SERVERS", "127.0.0.1:9092")


def _topics(options: Options) -> dict[str, str]:
    topic, pattern = options.take("topic"), options.take("topic-pattern")
    if bool(topic) == bool(pattern):
        raise options.wrong("give either 'topic' or 'topic-pattern'")
    return {"subscribePattern": pattern} if pattern else {"subscribe": topic.replace(";", ",")}


def _layout(options: Options, table: Table) -> _Layout:
    physical = [each for each in table.columns if each.physical]
    prefix = options.take("key.fields-prefix")
    named = [each for each in options.take("key.fields").split(";") if each]
    if table.connector == "upsert-kafka":
        named = table.primary_key
    include = options.one_of("value.fields-include", ("ALL", "EXCEPT_KEY"), "ALL")
    keyed = "key.format" in table.options
    key = formats.of(options, "key.") if keyed else None
    if bool(named) != keyed:
        raise options.wrong("'key.format' and 'key.fields' (or the PRIMARY KEY) go together")
    missing = [name for name in named if table.column(name) is None]
    if missing:
        raise options.wrong(f"'key.fields': there is no column {missing[0]}")
    value = formats.of(options, "value." if "value.format" in table.options else "")
    keys = [each for each in physical if each.name in named]
    values = [each for each in physical if include == "ALL" or each.name not in named]
    if prefix and include == "ALL":
        raise options.wrong("'key.fields-prefix' goes with 'value.fields-include' = 'EXCEPT_KEY'")
    for found, columns in ((key, keys), (value, values)):
        if found is not None and found.kind == "raw" and len(columns) != 1:
            raise options.wrong("format 'raw' is for one column")
        if found is not None and found.kind == "raw" and columns[0].kind not in _RAW:
            raise options.wrong(
                f"format 'raw' of {columns[0].written}: in Flink these are a number's bytes; "
                "STRING and BYTES can be raw here"
            )
    return _Layout(key, value, keys, values, prefix)
