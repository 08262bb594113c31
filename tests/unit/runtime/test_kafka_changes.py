"""What a Kafka source makes of a changed program, and of topics that go while it runs."""

from __future__ import annotations

import json
import threading
from pathlib import Path
from typing import Any

import pytest

from headrace.common import SimpleStringSchema, WatermarkStrategy
from headrace.connectors.kafka import sign_in
from headrace.connectors.kafka.errors import ClusterUnreachable, InvalidSettings
from headrace.datastream import StreamExecutionEnvironment
from headrace.datastream.connectors.kafka import (
    KafkaOffsetsInitializer,
    KafkaSource,
    KafkaSourceBuilder,
    KafkaTopicPartition,
)
from headrace.runtime import ingest, kafka_topics, spark_offsets, state_identity
from headrace.runtime.errors import JobFailed, UnknownTopic
from headrace.runtime.kafka_brokers import Brokers
from headrace.runtime.kafka_losses import DataLost
from headrace.runtime.kafka_sources import KafkaSources
from headrace.runtime.program import Program
from headrace.runtime.spark_offsets import SparkOffsets
from tests.unit.runtime.kafka_checkpoints import Checkpoint, Cluster, first_start

LATEST = KafkaOffsetsInitializer.latest()


@pytest.fixture
def cluster(monkeypatch: pytest.MonkeyPatch) -> Cluster:
    made = Cluster({"a": [(0, 9)], "b": [(0, 9)]})
    monkeypatch.setattr(Brokers, "of", staticmethod(lambda source: made))
    monkeypatch.setattr(kafka_topics, "QUESTION_SECONDS", 0.0)
    return made


def source(**properties: str) -> KafkaSourceBuilder:
    return (
        KafkaSource.builder()
        .set_bootstrap_servers("broker:9092")
        .set_value_only_deserializer(SimpleStringSchema())
        .set_properties({name.replace("_", "."): value for name, value in properties.items()})
    )


def going_on(builder: KafkaSourceBuilder) -> KafkaSource:
    return builder.set_property("failOnDataLoss", "false").build()


def fixed() -> KafkaSourceBuilder:
    """A source that discovers nothing."""
    return source(partition_discovery_interval_ms="-1")


def partitions(*of_a: int) -> KafkaSourceBuilder:
    return source().set_partitions({KafkaTopicPartition("a", n) for n in of_a})


def program(*sources: KafkaSourceBuilder) -> Program:
    env = StreamExecutionEnvironment.get_execution_environment()
    strategy: WatermarkStrategy[Any] = WatermarkStrategy.no_watermarks()
    for builder in sources:
        env.from_source(builder.build(), strategy, "source").print()
    return env.compile("test")


# --- sources change places


@pytest.mark.parametrize(
    ("later", "problem"),
    [
        (["b", "a"], "topic a was read by source 1, now by 2"),
        (["c", "a"], "topic a was read by source 1, now by 2"),
        (["a b", "c"], "topic b was read by source 2, now by 1"),
        (["a", "b c"], None),
        (["c", "b"], None),
        (["a b", "b"], None),
    ],
)
def test_a_topic_does_not_change_its_source(
    tmp_path: Path, later: list[str], problem: str | None
) -> None:
    kept = tmp_path / "program.json"
    state_identity.keep_or_compare(
        program(source().set_topics("a"), source().set_topics("b")), kept
    )
    changed = program(*(source().set_topics(*topics.split()) for topics in later))
    if problem is None:
        state_identity.compare(changed, kept)
        return
    before = kept.read_text()
    with pytest.raises(JobFailed, match=problem) as refused:
        state_identity.keep_or_compare(changed, kept)
    assert not refused.value.restartable
    assert kept.read_text() == before


def test_sources_are_compared_with_the_program_before(tmp_path: Path) -> None:
    kept = tmp_path / "program.json"
    for topics in (["a", "b"], ["a", "c"]):
        state_identity.keep_or_compare(
            program(*(source().set_topics(topic) for topic in topics)), kept
        )
    with pytest.raises(JobFailed, match="topic c was read by source 2, now by 1"):
        state_identity.compare(program(source().set_topics("c"), source().set_topics("a")), kept)
    # b is read no more: it may come again, at another source
    state_identity.compare(program(source().set_topics("a", "b"), source().set_topics("c")), kept)


# --- ends


@pytest.mark.parametrize(
    ("first", "later", "problem"),
    [
        (source().set_topics("a").set_bounded(LATEST), source().set_topics("a"), "taken away"),
        (source().set_topics("a"), source().set_topics("a").set_bounded(LATEST), "gives it an end"),
        (
            source().set_topics("a").set_bounded(LATEST),
            source().set_topics("b").set_bounded(LATEST),
            "its ends are those of topic a, and the program now reads topic b",
        ),
        (
            source().set_topic_pattern("a").set_bounded(LATEST),
            source().set_topic_pattern("a|b").set_bounded(LATEST),
            "the program now reads pattern a|b",
        ),
        (
            partitions(0).set_bounded(LATEST),
            source().set_topics("a").set_bounded(LATEST),
            "its ends are those of partition a-0",
        ),
    ],
)
def test_ends_are_of_the_program_as_it_was(
    cluster: Cluster,
    tmp_path: Path,
    first: KafkaSourceBuilder,
    later: KafkaSourceBuilder,
    problem: str,
) -> None:
    checkpoint = first_start(tmp_path, first.build())
    checkpoint.completed(0, {"a": {"0": 4}})
    checkpoint.open(first.build())
    with pytest.raises(JobFailed) as refused:
        checkpoint.open(later.build())
    assert problem in str(refused.value)
    assert "submit the program as a new job" in str(refused.value)
    assert not refused.value.restartable
    assert checkpoint.open(first.build()).position == {"a": {"0": 4}}


def test_no_source_is_moved_when_another_is_refused(cluster: Cluster, tmp_path: Path) -> None:
    def sources(*builders: KafkaSourceBuilder) -> KafkaSources:
        spark = SparkOffsets(tmp_path / "spark")
        return KafkaSources(program(*builders), tmp_path, spark, checkpointing=False)

    sources(source().set_topics("a", "b"), source().set_topics("b"))
    Checkpoint(tmp_path, {}).completed(0, {"a": {"0": 4}, "b": {"0": 5}}, {"b": {"0": 6}})
    log = tmp_path / "spark/offsets/0"
    before = log.read_text()
    with pytest.raises(JobFailed, match="gives it an end"):
        sources(source().set_topics("a"), source().set_topics("b").set_bounded(LATEST))
    assert log.read_text() == before
    changed = sources(source().set_topics("a"), source().set_topics("b"))
    assert [kafka.position for kafka in changed.inputs.values()] == [
        {"a": {"0": 4}},
        {"b": {"0": 6}},
    ]


def test_the_kind_of_an_end_may_change(cluster: Cluster, tmp_path: Path) -> None:
    checkpoint = first_start(tmp_path, source().set_topics("a").set_bounded(LATEST).build())
    checkpoint.completed(0, {"a": {"0": 4}})
    opened = checkpoint.open(source().set_topics("a").set_unbounded(LATEST).build())
    assert opened.kept.ends == {"a": {"0": 9}}


@pytest.mark.parametrize(
    ("builder", "positions", "deleted", "remaining"),
    [
        (source().set_topics("a", "b"), {"a": {"0": 9}, "b": {"0": 4}}, "b", {"a": [0]}),
        (source().set_topics("a", "b"), {"a": {"0": 4}, "b": {"0": 4}}, "b", {"a": [0]}),
        (partitions(0), {"a": {"0": 4}}, "a", {}),
    ],
)
def test_what_is_left_of_a_bounded_source_is_read_to_its_end(
    cluster: Cluster,
    tmp_path: Path,
    builder: KafkaSourceBuilder,
    positions: Any,
    deleted: str,
    remaining: Any,
) -> None:
    builder = builder.set_bounded(LATEST)
    checkpoint = first_start(tmp_path, builder.build())
    checkpoint.completed(0, positions)
    running = checkpoint.open(going_on(builder))
    del cluster.logs[deleted]
    running.go_on(running.losses())
    for opened in (running, checkpoint.open(going_on(builder))):
        assert json.loads(opened.options()["assign"]) == remaining
        assert opened.has_more() is (positions["a"]["0"] < 9 and "a" in remaining)
        assert opened.ended is not opened.has_more()


# --- topics come and go


def test_without_discovery_the_program_says_what_is_read(cluster: Cluster, tmp_path: Path) -> None:
    cluster.logs["c"] = [(0, 9)]
    checkpoint = first_start(tmp_path, fixed().set_topics("a", "b").build())
    checkpoint.completed(0, {"a": {"0": 4}, "b": {"0": 5}})
    cluster.logs["b"].append((0, 3))  # not discovered
    opened = checkpoint.open(fixed().set_topics("b", "c").build())
    assert opened.position == {"b": {"0": 5}, "c": {"0": 0}}
    assert json.loads(opened.options()["assign"]) == {"b": [0], "c": [0]}
    assert opened.ended_splits == ["a-0"]
    again = checkpoint.open(fixed().set_topics("b", "c").build())
    assert again.position == opened.position


def test_without_discovery_a_deleted_topic_of_a_pattern_is_read_no_more(
    cluster: Cluster, tmp_path: Path
) -> None:
    builder = fixed().set_topic_pattern("a|b")
    checkpoint = first_start(tmp_path, builder.build())
    checkpoint.completed(0, {"a": {"0": 4}, "b": {"0": 5}})
    running = checkpoint.open(going_on(builder))
    del cluster.logs["a"]
    running.go_on(running.losses())
    assert json.loads(running.options()["assign"]) == {"b": [0]}
    assert running.ended_splits == ["a-0"]
    restored = checkpoint.open(builder.build())
    assert json.loads(restored.options()["assign"]) == {"b": [0]}
    assert restored.ended_splits == ["a-0"]


def test_partitions_named_in_addition_are_no_loss(cluster: Cluster, tmp_path: Path) -> None:
    cluster.logs["a"] = [(0, 9), (6, 9), (7, 9)]
    checkpoint = first_start(tmp_path, partitions(0).build())
    checkpoint.completed(0, {"a": {"0": 4}})
    opened = checkpoint.open(partitions(0, 1).build())
    assert opened.position == {"a": {"0": 4, "1": 6}}
    assert json.loads(opened.options()["assign"]) == {"a": [0, 1]}
    assert checkpoint.open(source().set_topics("a").build()).position == {
        "a": {"0": 4, "1": 6, "2": 7}
    }


def test_records_deleted_from_a_discovered_partition_are_a_loss(
    cluster: Cluster, tmp_path: Path
) -> None:
    checkpoint = first_start(tmp_path, source().set_topics("a").build())
    checkpoint.completed(0, {"a": {"0": 4}})
    cluster.logs["a"].append((6, 9))
    with pytest.raises(DataLost, match="a-1 offsets 0 to 5 were deleted"):
        checkpoint.open(source().set_topics("a").build())


def test_a_changed_pattern_leaves_what_it_does_not_match(cluster: Cluster, tmp_path: Path) -> None:
    cluster.logs["c"] = [(3, 9)]
    checkpoint = first_start(tmp_path, source().set_topic_pattern("a|b").build())
    checkpoint.completed(0, {"a": {"0": 4}, "b": {"0": 5}})
    checkpoint.planned(1, {"a": {"0": 6}, "b": {"0": 6}})
    opened = checkpoint.open(source().set_topic_pattern("b|c").build())
    assert opened.position == {"b": {"0": 5}, "c": {"0": 3}}
    assert opened.ended_splits == ["a-0"]
    planned = (tmp_path / "spark/offsets/1").read_text().splitlines()[2]
    assert json.loads(planned) == {"b": {"0": 6}, "c": {"0": 3}}
    assert checkpoint.open(source().set_topic_pattern("c").build()).position == {"c": {"0": 3}}


def test_a_misspelt_topic_costs_nothing(cluster: Cluster, tmp_path: Path) -> None:
    checkpoint = first_start(tmp_path, source().set_topics("a", "b").build())
    checkpoint.completed(0, {"a": {"0": 4}, "b": {"0": 5}})
    with pytest.raises(UnknownTopic, match="topic 'bb' does not exist"):
        checkpoint.open(source().set_topics("a", "bb").build())
    opened = checkpoint.open(source().set_topics("a", "b").build())
    assert opened.position == {"a": {"0": 4}, "b": {"0": 5}}


def test_a_broker_that_has_just_come_up_is_asked_again(cluster: Cluster, tmp_path: Path) -> None:
    built = source().set_topics("a").build()
    checkpoint = first_start(tmp_path, built)
    checkpoint.completed(0, {"a": {"0": 4}})
    cluster.forgetful = 3
    with pytest.raises(UnknownTopic):  # at a job's first start the program is wrong
        first_start(tmp_path / "new", built)
    opened = checkpoint.open(built)
    assert cluster.forgetful == 0
    assert opened.position == {"a": {"0": 4}}


def test_a_split_that_was_discovered_can_end() -> None:
    env = StreamExecutionEnvironment.get_execution_environment()
    strategy = WatermarkStrategy.for_monotonous_timestamps()
    for topic in "ab":
        built = source().set_topics(topic).build()
        stream = env.from_source(built, strategy, topic)
        stream.key_by(lambda v: v).reduce(lambda x, y: x).print()
    compiled = env.compile("test")
    [a, b] = compiled.sources
    compiled.give_splits(a, ["a-0"])
    compiled.give_splits(b, ["b-0"])
    told = ingest.ended_splits(compiled, [f"{a}:a-1"])
    assert len(told) == 2  # the strategy's generator, and that of the source itself
    assert all(split.endswith(f"/{a}:a-1") for split in told)


# --- what goes wrong on the way


def test_a_planned_batch_is_changed_before_its_start(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A driver that dies in between finds the start as it was, and does all of it again."""
    written: list[str] = []

    def dying(path: Path, text: str) -> None:
        written.append(path.name)
        raise OSError("no space left on device")

    for completed in (7, 8, 9):
        checkpoint = Checkpoint(tmp_path / str(completed), {})
        checkpoint.completed(completed, {"a": {"0": 3}})
        checkpoint.planned(completed + 1, {"a": {"0": 6}})
        monkeypatch.setattr(spark_offsets, "_write", dying)
        with pytest.raises(OSError, match="no space"):
            checkpoint.offsets.move(0, lambda offsets: {"a": {"0": 8}})
    assert written == ["8", "9", "10"]


def test_a_planned_batch_does_not_end_behind_the_log(cluster: Cluster, tmp_path: Path) -> None:
    builder = source().set_topics("a")
    checkpoint = first_start(tmp_path, builder.build())
    checkpoint.completed(0, {"a": {"0": 4}})
    checkpoint.planned(1, {"a": {"0": 12}})
    with pytest.raises(DataLost, match=r"a-0 was cut off at offset 9.*offsets up to 11, which"):
        checkpoint.open(builder.build())
    opened = checkpoint.open(going_on(builder))
    assert opened.lost == 3
    assert (opened.position, opened.spark.planned_end(0)) == ({"a": {"0": 4}}, {"a": {"0": 9}})
    assert checkpoint.open(builder.build()).losses() == []


def test_a_source_that_is_not_let_in_says_so(
    cluster: Cluster, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def silent() -> None:
        raise JobFailed("Kafka at broker:9092 does not answer")

    def refusing(who: str, servers: str, options: Any, patience: float) -> None:
        assert options["sasl.username"] == "me"
        raise InvalidSettings(f"{who}: {servers} does not let it in: wrong password")

    def away(who: str, servers: str, options: Any, patience: float) -> None:
        raise ClusterUnreachable(servers)

    monkeypatch.setattr(cluster, "topics", silent)
    secure = {"security_protocol": "SASL_PLAINTEXT", "sasl_mechanism": "PLAIN"}
    secure |= {"sasl_username": "me", "sasl_password": "hush"}
    built = source(**secure).set_topics("a").build()
    monkeypatch.setattr(sign_in, "check_client", refusing)
    with pytest.raises(JobFailed, match="source 'kafka:a': broker:9092 does not let") as refused:
        first_start(tmp_path, built)
    assert not refused.value.restartable
    monkeypatch.setattr(sign_in, "check_client", away)
    with pytest.raises(JobFailed, match="does not answer") as unreachable:
        first_start(tmp_path, built)
    assert unreachable.value.restartable


def test_the_watch_ends_with_the_job(cluster: Cluster, tmp_path: Path) -> None:
    sources = KafkaSources(
        program(source().set_topics("a")), tmp_path, SparkOffsets(tmp_path), checkpointing=False
    )
    sources.watch()
    sources.close()
    assert "kafka-topics" not in {thread.name for thread in threading.enumerate()}
