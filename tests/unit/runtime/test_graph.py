"""What the API builds and what is refused before anything starts."""

from __future__ import annotations

import json

import pytest

from headrace.common import SimpleStringSchema, Types
from headrace.datastream import DataStream, DeliveryGuarantee, StreamExecutionEnvironment
from headrace.datastream.connectors.kafka import (
    KafkaRecordSerializationSchema,
    KafkaSink,
    KafkaSource,
)
from headrace.runtime.keys import encode, key_group
from headrace.runtime.transformations import GraphError


def word_count(env: StreamExecutionEnvironment) -> DataStream:
    words = env.from_collection(["a", "b"], Types.STRING())
    return words.map(lambda w: (w, 1)).key_by(lambda w: w[0]).sum(1)


def test_the_plan_has_flinks_form() -> None:
    env = StreamExecutionEnvironment.get_execution_environment().set_parallelism(3)
    word_count(env).name("Count").uid("count").print()
    nodes = json.loads(env.get_execution_plan())["nodes"]
    assert [(n["id"], n["type"], n["pact"]) for n in nodes] == [
        (1, "Source: Collection Source", "Data Source"),
        (2, "Map", "Operator"),
        (3, "Count", "Operator"),
        (4, "Sink: Print to Std. Out", "Data Sink"),
    ]
    assert nodes[2]["predecessors"] == [{"id": 2, "ship_strategy": "HASH", "side": "first"}]
    assert nodes[2]["uid"] == "count"
    assert {n["parallelism"] for n in nodes} == {3}


def test_numbers_and_uids_are_the_same_each_time() -> None:
    def plan() -> str:
        env = StreamExecutionEnvironment.get_execution_environment()
        word_count(env).print()
        return env.get_execution_plan()

    assert plan() == plan()


def test_a_job_without_a_sink_is_refused() -> None:
    env = StreamExecutionEnvironment.get_execution_environment()
    word_count(env)
    with pytest.raises(GraphError, match="no sink"):
        env.get_execution_plan()


def test_a_uid_given_twice_is_refused() -> None:
    env = StreamExecutionEnvironment.get_execution_environment()
    word_count(env).uid("x").map(str).uid("x").print()
    with pytest.raises(GraphError, match="'x' is given to both"):
        env.get_execution_plan()


def test_kafka_builders_say_what_is_missing(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("KAFKA_BOOTSTRAP_SERVERS", raising=False)
    with pytest.raises(ValueError, match="set_topics, set_topic_pattern or set_partitions"):
        KafkaSource.builder().build()
    source = KafkaSource.builder().set_topics("t")
    with pytest.raises(ValueError, match="set_value_only_deserializer"):
        source.build()
    with pytest.raises(ValueError, match="needs bootstrap servers"):
        source.set_value_only_deserializer(SimpleStringSchema()).build()
    records = KafkaRecordSerializationSchema.builder().set_topic("t")
    serializer = records.set_value_serialization_schema(SimpleStringSchema()).build()
    sink = KafkaSink.builder().set_record_serializer(serializer)
    with pytest.raises(ValueError, match="set_transactional_id_prefix"):
        sink.set_delivery_guarantee(DeliveryGuarantee.EXACTLY_ONCE).build()
    with pytest.raises(ValueError, match="set by the sink itself"):
        sink.set_property("transactional.id", "mine")


def test_equal_keys_have_equal_bytes_whatever_their_identity() -> None:
    word = "".join(["wo", "rd"])
    assert encode((word, word)) == encode(("word", "word"))
    assert encode(("a", "bc")) != encode(("ab", "c"))
    assert len({encode(k) for k in (1, 1.0, True, "1", b"1", None)}) == 6


def test_keys_are_spread_over_all_groups() -> None:
    counts = [0] * 128
    for number in range(128_00):
        counts[key_group(number, 128)] += 1
    assert min(counts) > 50
    assert max(counts) < 200
