"""What a Kafka source is told, and the arithmetic of its offsets."""

from __future__ import annotations

import re
from typing import Any

import pytest

from headrace.common import SimpleStringSchema
from headrace.datastream.connectors.kafka import (
    KafkaOffsetResetStrategy,
    KafkaOffsetsInitializer,
    KafkaRecordSerializationSchema,
    KafkaSink,
    KafkaSource,
    KafkaSourceBuilder,
    KafkaTopicPartition,
)
from headrace.runtime import kafka_losses, kafka_topics, progress
from headrace.runtime.kafka_kept import reached, up_to
from headrace.runtime.kafka_losses import Loss

AT = KafkaOffsetsInitializer
FIRST = KafkaTopicPartition("in", 0)


def source(**properties: str) -> KafkaSourceBuilder:
    return (
        KafkaSource.builder()
        .set_bootstrap_servers("broker:9092")
        .set_value_only_deserializer(SimpleStringSchema())
        .set_properties({name.replace("_", "."): value for name, value in properties.items()})
    )


def test_a_source_is_as_pyflinks_where_nothing_is_said() -> None:
    built = source().set_topics("in").build()
    assert (built.start, built.stop, built.bounded) == (AT.earliest(), None, False)
    assert not built.reading.commit_on_checkpoint  # there is no group
    assert built.reading.auto_commit_ms is None
    assert built.reading.discover
    assert built.reading.fail_on_data_loss
    assert AT.committed_offsets().reset is KafkaOffsetResetStrategy.NONE
    assert AT.offsets({FIRST: 3}).reset is KafkaOffsetResetStrategy.EARLIEST


def test_properties_that_steer_the_source_do_not_reach_the_clients() -> None:
    built = source(
        group_id="mine",
        commit_offsets_on_checkpoint="false",
        enable_auto_commit="TRUE",
        auto_commit_interval_ms="100",
        partition_discovery_interval_ms="-1",
        failOnDataLoss="false",
        auto_offset_reset="latest",
        key_deserializer="org.example.Any",
        fetch_max_bytes="1000",
    )
    built = built.set_topics("in").build()
    assert built.group_id == "mine"
    assert built.properties == {"fetch.max.bytes": "1000"}
    reading = built.reading
    assert (reading.commit_on_checkpoint, reading.auto_commit_ms) == (False, 100)
    assert (reading.discover, reading.fail_on_data_loss) == (False, False)
    assert source().set_topics("in").set_group_id("mine").build().reading.commit_on_checkpoint


def test_flinks_client_id_prefix_names_the_clients() -> None:
    assert source(client_id_prefix="me").set_topics("in").build().properties == {"client.id": "me"}
    both = source(client_id_prefix="me", client_id="you").set_topics("in").build()
    assert both.properties == {"client.id": "you"}


@pytest.mark.parametrize(
    ("properties", "complaint"),
    [
        ({"commit_offsets_on_checkpoint": "true"}, "call set_group_id"),
        ({"enable_auto_commit": "true"}, "enable.auto.commit commits offsets for a group"),
        ({"failOnDataLoss": "maybe"}, "failOnDataLoss is 'maybe'; it is true or false"),
        ({"partition_discovery_interval_ms": "5 min"}, "it is a number of milliseconds"),
        (
            {"group_id": "g", "enable_auto_commit": "true", "auto_commit_interval_ms": "-5"},
            "auto.commit.interval.ms is -5",
        ),
    ],
)
def test_properties_that_make_no_sense_are_refused(
    properties: dict[str, str], complaint: str
) -> None:
    with pytest.raises(ValueError, match=complaint):
        source(**properties).set_topics("in").build()


@pytest.mark.parametrize(
    ("build", "complaint"),
    [
        (lambda s: s, "set_topics, set_topic_pattern or set_partitions"),
        (lambda s: s.set_topics(), "set_topics, set_topic_pattern or set_partitions"),
        (lambda s: s.set_topics("a").set_topic_pattern("b"), "set_topic_pattern contradicts"),
        (lambda s: s.set_partitions({FIRST}).set_topics("in"), "contradicts set_partitions"),
        (lambda s: s.set_topic_pattern("("), "topic pattern"),
        (lambda s: s.set_topics(" "), "a topic of a KafkaSource is empty"),
        (lambda s: s.set_bounded(AT.latest()).set_unbounded(AT.latest()), "contradicts set_bound"),
        (lambda s: s.set_bounded(AT.earliest()), "would read nothing"),
        (lambda s: s.set_topics("in").set_bounded(AT.committed_offsets()), "call set_group_id"),
        (
            lambda s: s.set_topics("in").set_starting_offsets(AT.committed_offsets()),
            "call set_group_id",
        ),
        (
            lambda s: s.set_topics("other").set_starting_offsets(AT.offsets({FIRST: 1})),
            "names in-0, which the source does not read",
        ),
        (
            lambda s: s.set_partitions({KafkaTopicPartition("in", 1)}).set_bounded(
                AT.offsets({FIRST: 1})
            ),
            "names in-0, which the source does not read",
        ),
    ],
)
def test_calls_that_contradict_each_other_are_refused(build: Any, complaint: str) -> None:
    with pytest.raises(ValueError, match=complaint):
        build(source()).build()


@pytest.mark.parametrize(
    "call",
    [
        lambda: source().set_topics(["in"]),  # type: ignore[arg-type]
        lambda: source().set_partitions({"in": 0}),  # type: ignore[arg-type]
        lambda: source().set_starting_offsets("earliest"),  # type: ignore[arg-type]
        lambda: source().set_bounded(0),  # type: ignore[arg-type]
        lambda: source().set_property("fetch.max.bytes", 1),  # type: ignore[arg-type]
        lambda: source().set_value_only_deserializer(SimpleStringSchema),  # type: ignore[arg-type]
        lambda: source().on_deserialization_error("drop"),  # type: ignore[arg-type]
        lambda: AT.timestamp("2026"),  # type: ignore[arg-type]
        lambda: AT.committed_offsets("NONE"),  # type: ignore[arg-type]
        lambda: AT.offsets({"in": 1}),  # type: ignore[dict-item]
        lambda: KafkaTopicPartition(0, "in"),  # type: ignore[arg-type]
    ],
)
def test_values_of_a_wrong_type_are_refused_at_once(call: Any) -> None:
    with pytest.raises(TypeError):
        call()


def test_numbers_that_cannot_be_are_refused_at_once() -> None:
    for call in (
        lambda: AT.timestamp(-1),
        lambda: AT.offsets({FIRST: -1}),
        lambda: KafkaTopicPartition("in", -1),
    ):
        with pytest.raises(ValueError):
            call()


def test_a_pattern_means_whole_names_and_no_internal_topic() -> None:
    pattern = re.compile(kafka_topics.java_pattern("in|.*s"))
    for name, wanted in {
        "in": True,
        "letters": True,
        "in-2": False,
        "main": False,
        "__consumer_offsets": False,
        "__headrace_commits": False,
    }.items():
        assert (pattern.search(name) is not None) is wanted, name


def test_losses_are_told_apart() -> None:
    positions = {"in": {"0": 5, "1": 5, "2": 5}, "new": {"0": 5}, "gone": {"0": 5}}
    earliest = {"in": {"0": 5, "1": 8, "2": 0}, "new": {"0": 0}}
    latest = {"in": {"0": 5, "1": 9, "2": 4}, "new": {"0": 9}}
    known = {"in": "A", "new": "B", "gone": "C"}
    losses = kafka_losses.find(positions, earliest, latest, known, {"in": "A", "new": "D"})
    assert losses == [
        Loss("in", "1", 5, 8),
        Loss("in", "2", 5, 0, replaced=True),  # it ends before where it was read to
        Loss("new", "0", 5, 0, replaced=True),
        Loss("gone", "0", 5, None),
    ]
    assert [loss.count for loss in losses] == [3, 0, 0, 0]
    assert kafka_losses.moved(positions, losses) == {
        "in": {"0": 5, "1": 8, "2": 0},
        "new": {"0": 0},
    }
    planned = {"in": {"0": 6, "1": 9, "2": 7}}  # a batch's end: not before its new start
    assert kafka_losses.moved(planned, losses[:2]) == {"in": {"0": 6, "1": 9, "2": 0}}
    error = kafka_losses.DataLost("kafka:in", losses)
    assert "in-1 offsets 5 to 7 were deleted" in str(error)
    assert "gone-0 was deleted" in str(error)
    assert not error.restartable


def test_an_end_is_reached_when_every_partition_is_there() -> None:
    ends = {"in": {"0": 5, "1": 0}}
    assert reached(ends, {"in": {"0": 5}})
    assert reached(ends, {"in": {"0": 7, "1": 3}, "other": {"0": 1}})
    assert not reached(ends, {"in": {"0": 4, "1": 3}})
    assert up_to(ends, {"in": {"0": 7, "1": 3, "2": 9}}) == {"in": {"0": 5, "1": 0, "2": 9}}
    assert up_to(None, {"in": {"0": 7}}) == {"in": {"0": 7}}


def test_lag_is_of_what_is_still_to_be_read() -> None:
    def kafka(end: Any, latest: Any) -> dict[str, Any]:
        return {
            "description": "KafkaV2[Subscribe[in]]",
            "endOffset": end,
            "latestOffset": latest,
        }

    found = {
        "sources": [
            kafka({"in": {"0": 4}}, {"in": {"0": 9, "1": 2}}),  # 1 was discovered just now
            {"description": "headrace-control", "endOffset": {"position": 1}},
            kafka({"in": {"0": 7}}, {"in": {"0": 9}}),  # another source, which ends at 8
            kafka(None, None),  # has not read yet
        ]
    }
    ends = [None, {"in": {"0": 8}}, None]
    assert progress.lag(found, ends) == {"in": {"0": 5, "1": 2}}
    assert progress.offsets(found, ends) == {"in": {"0": 4}}
    ended = {"sources": [kafka({"in": {"0": 9}}, {"in": {"0": 20}})]}
    assert progress.lag(ended, ends[1:2]) == {"in": {"0": 0}}
    assert progress.offsets(ended, ends[1:2]) == {"in": {"0": 8}}


def test_bootstrap_servers_may_be_a_property() -> None:
    source = (
        KafkaSource.builder()
        .set_topics("in")
        .set_value_only_deserializer(SimpleStringSchema())
        .set_properties({"bootstrap.servers": "one:9092", "group.id": "readers"})
        .build()
    )
    assert (source.bootstrap_servers, source.group_id) == ("one:9092", "readers")
    assert "bootstrap.servers" not in source.properties
    values = KafkaRecordSerializationSchema.builder().set_topic("out")
    sink = (
        KafkaSink.builder()
        .set_property("bootstrap.servers", "two:9092")
        .set_record_serializer(values.set_value_serialization_schema(SimpleStringSchema()).build())
        .build()
    )
    assert (sink.bootstrap_servers, sink.properties) == ("two:9092", {})
