"""PyFlink's `pyflink.common`: types, time, serialization, configuration."""

from __future__ import annotations

import importlib
from typing import Any

from headrace.common.completable_future import CompletableFuture
from headrace.common.config_options import ConfigOption, ConfigOptions
from headrace.common.configuration import Configuration
from headrace.common.execution_config import ExecutionConfig
from headrace.common.input_dependency_constraint import InputDependencyConstraint
from headrace.common.job_client import JobClient
from headrace.common.job_execution_result import JobExecutionResult
from headrace.common.job_id import JobID
from headrace.common.job_status import JobStatus
from headrace.common.restart_strategy import RestartStrategies, RestartStrategyConfiguration
from headrace.common.serialization import (
    ByteArraySchema,
    DeserializationSchema,
    Encoder,
    SerializationSchema,
    SimpleStringSchema,
)
from headrace.common.serializer import TypeSerializer
from headrace.common.time import Duration, Instant, Time
from headrace.common.typeinfo import TypeInformation, Types
from headrace.common.types import Row, RowKind
from headrace.common.watermark_strategy import (
    AssignerWithPeriodicWatermarksWrapper,
    TimestampAssigner,
    WatermarkStrategy,
)

__all__ = [
    "AssignerWithPeriodicWatermarksWrapper",
    "ByteArraySchema",
    "CompletableFuture",
    "ConfigOption",
    "ConfigOptions",
    "Configuration",
    "DeserializationSchema",
    "Duration",
    "Encoder",
    "ExecutionConfig",
    "InputDependencyConstraint",
    "Instant",
    "JobClient",
    "JobExecutionResult",
    "JobID",
    "JobStatus",
    "RestartStrategies",
    "RestartStrategyConfiguration",
    "Row",
    "RowKind",
    "SerializationSchema",
    "SimpleStringSchema",
    "Time",
    "TimestampAssigner",
    "TypeInformation",
    "TypeSerializer",
    "Types",
    "WatermarkStrategy",
]

#: Of `headrace.datastream.formats`, which needs this package: imported when first asked for.
FORMATS = {
    "AvroRowDeserializationSchema": "avro",
    "AvroRowSerializationSchema": "avro",
    "CsvRowDeserializationSchema": "csv",
    "CsvRowSerializationSchema": "csv",
    "JsonRowDeserializationSchema": "json",
    "JsonRowSerializationSchema": "json",
}


def __getattr__(name: str) -> Any:
    if name not in FORMATS:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    module = importlib.import_module(f"headrace.datastream.formats.{FORMATS[name]}")
    return getattr(module, name)
