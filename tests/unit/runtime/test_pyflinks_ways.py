"""What PyFlink does in its own way: older classes, names in packages, odd results."""

from __future__ import annotations

from datetime import timedelta
from pathlib import Path
from typing import Any

import pytest
from pyarrow import orc

from headrace.common import (
    AssignerWithPeriodicWatermarksWrapper,
    Configuration,
    Encoder,
    RestartStrategies,
    Row,
    SimpleStringSchema,
    Types,
)
from headrace.common.serialization import RowFieldExtractorSchema
from headrace.common.typeinfo import RowTypeInfo, TupleTypeInfo, TypeMismatch
from headrace.datastream import (
    DeliveryGuarantee,
    ExternalizedCheckpointCleanup,
    ExternalizedCheckpointRetention,
    FileSystemCheckpointStorage,
    StreamExecutionEnvironment,
    TimeCharacteristic,
)
from headrace.datastream.connectors.file_system import (
    BucketAssigner,
    FileSink,
    StreamingFileSink,
)
from headrace.datastream.connectors.kafka import (
    FlinkFixedPartitioner,
    FlinkKafkaConsumer,
    FlinkKafkaProducer,
    KafkaOffsetResetStrategy,
    KafkaOffsetsInitializer,
    Semantic,
)
from headrace.datastream.formats.csv import CsvSchema
from headrace.datastream.formats.orc import OrcBulkWriters

SERVERS = {"bootstrap.servers": "kafka:9092"}
IN_PROCESS = Configuration({"headrace.executor": "in-process", "parallelism.default": "1"})


def consumer(**properties: str) -> FlinkKafkaConsumer:
    given = {name.replace("_", "."): value for name, value in properties.items()}
    return FlinkKafkaConsumer("orders", SimpleStringSchema(), SERVERS | given)


def test_a_kafka_consumer_is_a_kafka_source() -> None:
    source = consumer(group_id="g", fetch_min_bytes="1").source()
    assert source.topics == ("orders",)
    assert (source.bootstrap_servers, source.group_id) == ("kafka:9092", "g")
    assert source.properties == {"fetch.min.bytes": "1"}
    assert consumer().get_produced_type() == Types.STRING()
    several = FlinkKafkaConsumer(["a", "b"], SimpleStringSchema(), SERVERS)
    assert several.source().topics == ("a", "b")


@pytest.mark.parametrize(
    ("given", "start"),
    [
        (consumer(), KafkaOffsetsInitializer.latest()),
        (consumer(auto_offset_reset="earliest"), KafkaOffsetsInitializer.earliest()),
        (
            consumer(group_id="g", auto_offset_reset="earliest"),
            KafkaOffsetsInitializer.committed_offsets(KafkaOffsetResetStrategy.EARLIEST),
        ),
        (consumer(group_id="g").set_start_from_earliest(), KafkaOffsetsInitializer.earliest()),
        (consumer().set_start_from_timestamp(5), KafkaOffsetsInitializer.timestamp(5)),
        (
            consumer(group_id="g").set_start_from_latest().set_start_from_group_offsets(),
            KafkaOffsetsInitializer.committed_offsets(KafkaOffsetResetStrategy.LATEST),
        ),
    ],
)
def test_a_kafka_consumer_starts_where_flinks_does(
    given: FlinkKafkaConsumer, start: KafkaOffsetsInitializer
) -> None:
    assert given.source().start == start


def test_a_kafka_consumer_commits_offsets_or_not() -> None:
    assert consumer(group_id="g").source().reading.commit_on_checkpoint
    quiet = consumer(group_id="g").set_commit_offsets_on_checkpoints(False)
    assert not quiet.source().reading.commit_on_checkpoint
    with pytest.raises(ValueError, match=r"auto\.offset\.reset"):
        consumer(auto_offset_reset="somewhere")


def test_a_kafka_producer_is_a_kafka_sink() -> None:
    config = SERVERS | {"transaction.timeout.ms": "60000", "linger.ms": "5"}
    producer = FlinkKafkaProducer(
        "out", SimpleStringSchema(), config, semantic=Semantic.EXACTLY_ONCE
    )
    sink = producer.set_flush_on_checkpoint(True).sink()
    assert (sink.fixed_topic, sink.bootstrap_servers) == ("out", "kafka:9092")
    assert sink.guarantee is DeliveryGuarantee.EXACTLY_ONCE
    assert sink.transactional_id_prefix == "FlinkKafkaProducer-out"
    assert (sink.transaction_timeout_ms, sink.properties) == (60_000, {"linger.ms": "5"})
    assert sink.serializer.record(7, "a") == {"value": b"a"}
    stamped = producer.set_write_timestamp_to_kafka(True).sink()
    assert stamped.serializer.record(7, "a") == {"value": b"a", "timestamp": 7}
    assert sink.partitioner == FlinkFixedPartitioner()
    assert producer.set_log_failures_only(True) is producer


def test_both_stand_in_a_graph() -> None:
    env = StreamExecutionEnvironment.get_execution_environment(IN_PROCESS)
    lines = env.add_source(consumer(), "Orders")
    lines.add_sink(FlinkKafkaProducer("out", SimpleStringSchema(), SERVERS))
    assert "Source: Orders -> Sink: Writer" in str(env.generate_stream_graph())


def test_a_streaming_file_sink_is_a_file_sink(tmp_path: Path) -> None:
    env = StreamExecutionEnvironment.get_execution_environment(IN_PROCESS)
    in_place = BucketAssigner.base_path_bucket_assigner()
    sink = (
        StreamingFileSink.for_row_format(str(tmp_path), Encoder.simple_string_encoder())
        .with_bucket_assigner(in_place)
        .build()
    )
    env.from_elements("a", "b", type_info=Types.STRING()).add_sink(sink)
    env.execute()
    assert "".join(path.read_text() for path in tmp_path.glob("part-*")) == "a\nb\n"


def test_rows_become_orc(tmp_path: Path) -> None:
    kind = Types.ROW_NAMED(["id", "tags"], [Types.LONG(), Types.LIST(Types.STRING())])
    env = StreamExecutionEnvironment.get_execution_environment(IN_PROCESS)
    sink = FileSink.for_bulk_format(str(tmp_path), OrcBulkWriters.for_row_type(kind))
    rows = [Row(id=1, tags=["a"]), Row(id=None, tags=None)]
    env.from_collection(rows, kind).sink_to(
        sink.with_bucket_assigner(BucketAssigner.base_path_bucket_assigner()).build()
    )
    env.execute()
    [part] = tmp_path.glob("part-*.orc")
    assert orc.read_table(part).to_pylist() == [
        {"id": 1, "tags": ["a"]},
        {"id": None, "tags": None},
    ]
    with pytest.raises(NotImplementedError, match="properties"):
        OrcBulkWriters.for_row_type(kind, Configuration({"orc.compress": "ZSTD"}))


def test_a_field_of_a_row_is_bytes_of_a_record() -> None:
    key = RowFieldExtractorSchema(1)
    assert key.serialize(Row(b"a", b"b")) == b"b"
    assert key.serialize((b"a", None)) is None
    values: list[Any] = [Row(b"a"), Row(b"a", "b"), b"ab"]
    for value in values:
        with pytest.raises(TypeMismatch):
            key.serialize(value)
    with pytest.raises(ValueError, match="non-negative, not -1"):
        RowFieldExtractorSchema(-1)


def test_types_take_lists_and_rows_may_go_without_names() -> None:
    kinds = [Types.INT(), Types.STRING()]
    assert RowTypeInfo(kinds) == Types.ROW(kinds)  # type: ignore[arg-type]
    assert RowTypeInfo(kinds, ["a", "b"]) == Types.ROW_NAMED(["a", "b"], kinds)  # type: ignore[arg-type]
    assert hash(TupleTypeInfo(kinds)) == hash(Types.TUPLE(kinds))  # type: ignore[arg-type]


def test_settings_are_copied_and_delays_may_be_timedeltas() -> None:
    first = Configuration({"a": "1"})
    copy = Configuration(first)
    copy.set_string("a", "2")
    assert first.get_string("a", "") == "1"
    strategy = RestartStrategies.fixed_delay_restart(3, timedelta(seconds=2))
    assert isinstance(strategy, RestartStrategies.FixedDelayRestartStrategyConfiguration)
    assert strategy.get_delay_between_attempts_interval() == timedelta(seconds=2)
    assert strategy.to_dict()["restart-strategy.fixed-delay.delay"] == "2000 ms"


def test_what_is_javas_says_so() -> None:
    with pytest.raises(NotImplementedError, match="for_generator"):
        AssignerWithPeriodicWatermarksWrapper(None)
    with pytest.raises(NotImplementedError, match="separator"):
        CsvSchema.builder().disable_array_element_separator()


def test_a_time_characteristic_is_taken() -> None:
    env = StreamExecutionEnvironment.get_execution_environment()
    assert env.get_stream_time_characteristic() is TimeCharacteristic.EventTime
    env.set_stream_time_characteristic(TimeCharacteristic.ProcessingTime)
    assert env.get_stream_time_characteristic() is TimeCharacteristic.ProcessingTime
    with pytest.raises(NotImplementedError, match="for_ingestion_time"):
        env.set_stream_time_characteristic(TimeCharacteristic.IngestionTime)


def test_packages_give_the_classes_of_their_modules() -> None:
    from headrace.common import JsonRowDeserializationSchema
    from headrace.common.serialization import JsonRowDeserializationSchema as Older
    from headrace.datastream.connectors import FileSink as Given
    from headrace.datastream.formats.json import JsonRowDeserializationSchema as Json

    assert Given is FileSink
    assert JsonRowDeserializationSchema is Older is Json


def test_a_keyed_stream_collects_rows_of_key_and_value() -> None:
    env = StreamExecutionEnvironment.get_execution_environment(IN_PROCESS)
    words = env.from_elements("a", "bb").key_by(len)
    assert list(words.execute_and_collect()) == [Row(f0=1, f1="a"), Row(f0=2, f1="bb")]


def test_what_version_1_says_of_checkpoints_is_kept() -> None:
    checkpoints = StreamExecutionEnvironment.get_execution_environment().get_checkpoint_config()
    checkpoints.enable_externalized_checkpoints(
        ExternalizedCheckpointCleanup.RETAIN_ON_CANCELLATION
    )
    kept = checkpoints.get_externalized_checkpoint_retention()
    assert kept is ExternalizedCheckpointRetention.RETAIN_ON_CANCELLATION
    storage = checkpoints.set_checkpoint_storage_dir("file:///c").get_checkpoint_storage()
    assert isinstance(storage, FileSystemCheckpointStorage)
    assert storage.get_checkpoint_path() == "file:///c"
