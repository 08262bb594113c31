"""The options and columns of the stand-alone sink."""

from __future__ import annotations

import pickle
from datetime import UTC, datetime
from pathlib import Path

import pyarrow as pa
import pytest
from pyspark.sql.types import (
    ArrayType,
    BinaryType,
    DataType,
    IntegerType,
    LongType,
    StringType,
    StructField,
    StructType,
    TimestampType,
)

from headrace.connectors.kafka import datasource, errors, rows
from headrace.connectors.kafka.settings import DeliveryGuarantee
from headrace.connectors.twophase import query

HEADERS = ArrayType(
    StructType([StructField("key", StringType()), StructField("value", BinaryType())])
)
OPTIONS = {
    "kafka.bootstrap.servers": "broker:9092",
    "kafka.linger.ms": "3",
    "topic": "out",
    "transactionalIdPrefix": "query",
    "checkpointLocation": "file:///data/checkpoint",
}


def schema(**columns: DataType) -> StructType:
    return StructType([StructField(name, kind) for name, kind in columns.items()])


def test_exactly_once_is_what_one_gets() -> None:
    settings = datasource.sink_settings(OPTIONS)
    assert settings.guarantee is DeliveryGuarantee.EXACTLY_ONCE
    assert settings.bootstrap_servers == "broker:9092"
    assert settings.options == {"linger.ms": "3"}
    assert (settings.name, settings.topic) == ("sink", "out")
    assert query.checkpoint_directory(OPTIONS) == Path("/data/checkpoint")


@pytest.mark.parametrize(
    ("change", "complaint"),
    [
        ({"transactionalIdPrefix": ""}, "needs a transactional id prefix"),
        ({"deliveryGuarantee": "perhaps"}, "'perhaps', not none, at-least-once, exactly-once"),
        ({"transactionTimeoutMs": "soon"}, "'soon', not a number"),
        ({"kafka.bootstrap.servers": ""}, "no bootstrap servers"),
    ],
)
def test_options_that_mean_nothing(change: dict[str, str], complaint: str) -> None:
    with pytest.raises(errors.InvalidSettings, match=complaint):
        datasource.sink_settings({**OPTIONS, **change})


@pytest.mark.parametrize("location", ["", "hdfs://namenode/checkpoint"])
def test_a_checkpoint_that_the_driver_cannot_reach(location: str) -> None:
    with pytest.raises(errors.InvalidSettings, match="checkpointLocation"):
        query.checkpoint_directory({**OPTIONS, "checkpointLocation": location})


def test_flinks_way_to_write_a_guarantee_is_understood() -> None:
    settings = datasource.sink_settings({**OPTIONS, "deliveryGuarantee": "AT_LEAST_ONCE"})
    assert settings.guarantee is DeliveryGuarantee.AT_LEAST_ONCE


@pytest.mark.parametrize(
    ("columns", "complaint"),
    [
        ({"key": StringType()}, "no column 'value'"),
        ({"value": LongType()}, "'value' is bigint; it must be binary or string"),
        ({"value": StringType(), "offset": LongType()}, "'offset' is none of"),
    ],
)
def test_columns_that_kafka_cannot_take(columns: dict[str, DataType], complaint: str) -> None:
    with pytest.raises(errors.InvalidSettings, match=complaint):
        rows.columns(schema(**columns), "out")


def test_some_topic_is_needed() -> None:
    with pytest.raises(errors.InvalidSettings, match="topic"):
        rows.columns(schema(value=StringType()), None)
    assert rows.columns(schema(topic=StringType(), value=StringType()), None) == ["topic", "value"]


def test_every_column_in_any_order() -> None:
    names = rows.columns(
        schema(
            headers=HEADERS,
            value=StringType(),
            timestamp=TimestampType(),
            partition=IntegerType(),
            topic=StringType(),
            key=BinaryType(),
        ),
        None,
    )
    departed = datetime(2013, 1, 1, 5, 15, 0, 250_000, tzinfo=UTC)
    header_type = pa.list_(pa.struct([("key", pa.string()), ("value", pa.binary())]))
    batch = pa.record_batch(
        [
            pa.array(
                [[{"key": "a", "value": b"1"}, {"key": "b", "value": None}], None], header_type
            ),
            pa.array(["v", None]),
            pa.array([departed, None], pa.timestamp("us", tz="UTC")),
            pa.array([3, None], pa.int32()),
            pa.array(["left", None]),
            pa.array([b"k", None]),
        ],
        names=names,
    )
    assert rows.records(batch, names) == [
        {
            "headers": [("a", b"1"), ("b", None)],
            "value": "v",
            "timestamp": 1_357_017_300_250,
            "partition": 3,
            "topic": "left",
            "key": b"k",
        },
        {"value": None, "key": None},
    ]


def test_one_that_was_pickled_is_for_commits_only() -> None:
    sink = datasource.KafkaSink({**OPTIONS, "deliveryGuarantee": "none"})
    again = pickle.loads(pickle.dumps(sink))
    assert again.options == sink.options
    # It must not take the job over: that would shut out the producers of the running batch.
    writer = again.streamWriter(schema(value=StringType()), False)
    assert writer._resume.epoch == 0
