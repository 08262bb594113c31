"""Names where PyFlink's programs also find them, and classes of files that are taken."""

from __future__ import annotations

import importlib

import pytest

from headrace.common import Encoder
from headrace.datastream.connectors.file_system import (
    DefaultRollingPolicy,
    FileCompactor,
    FileCompactStrategy,
    FileSink,
    OnCheckpointRollingPolicy,
    RollingPolicy,
)


@pytest.mark.parametrize(
    ("module", "name", "home"),
    [
        ("datastream.window", "Time", "common.time"),
        ("datastream.window", "ReduceFunction", "datastream.functions"),
        ("datastream.functions", "ValueStateDescriptor", "datastream.state"),
        ("datastream.functions", "Types", "common.typeinfo"),
        ("datastream.functions", "MetricGroup", "metrics"),
        ("datastream.state", "Time", "common.time"),
        ("datastream.data_stream", "MapFunction", "datastream.functions"),
        ("datastream.data_stream", "Row", "common.types"),
        ("datastream.data_stream", "RowTypeInfo", "common.typeinfo"),
        ("datastream.data_stream", "MergingWindowAssigner", "datastream.window"),
        ("datastream.stream_execution_environment", "WatermarkStrategy", "common"),
        ("datastream.stream_execution_environment", "Source", "datastream.connectors.base"),
        ("datastream.connectors.kafka", "Types", "common.typeinfo"),
        ("datastream.connectors.file_system", "Encoder", "common.serialization"),
    ],
)
def test_names_are_found_where_pyflink_imports_them(module: str, name: str, home: str) -> None:
    there = importlib.import_module(f"headrace.{module}")
    assert getattr(there, name) is getattr(importlib.import_module(f"headrace.{home}"), name)


def test_other_names_are_not_found() -> None:
    window = importlib.import_module("headrace.datastream.window")
    with pytest.raises(AttributeError, match=r"module 'headrace\.datastream\.window' has no"):
        window.Windows  # noqa: B018


def test_compaction_is_taken() -> None:
    strategy = FileCompactStrategy.builder().enable_compaction_on_checkpoint(3).build()
    sink = (
        FileSink.for_row_format("/out", Encoder.simple_string_encoder())
        .enable_compact(strategy, FileCompactor.concat_file_compactor(b"\n"))
        .build()
    )
    assert isinstance(sink, FileSink)
    with pytest.raises(ValueError, match="a number of checkpoints or a size"):
        FileCompactStrategy.builder().set_num_compact_threads(2).build()


def test_rolling_policies_have_their_classes() -> None:
    assert isinstance(RollingPolicy.default_rolling_policy(), DefaultRollingPolicy)
    assert isinstance(RollingPolicy.on_checkpoint_rolling_policy(), OnCheckpointRollingPolicy)
