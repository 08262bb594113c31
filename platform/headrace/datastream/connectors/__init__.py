"""PyFlink's `pyflink.datastream.connectors`. The connectors' classes are here, too, and imported
when they are first asked for: their modules need this package."""

from __future__ import annotations

import importlib
from typing import Any

from headrace.datastream.connectors.base import DeliveryGuarantee, Sink, Source

__all__ = ["DeliveryGuarantee", "Sink", "Source"]

_MODULES = {
    "file_system": (
        "BucketAssigner",
        "FileEnumeratorProvider",
        "FileSink",
        "FileSource",
        "FileSourceBuilder",
        "FileSplitAssignerProvider",
        "OutputFileConfig",
        "RollingPolicy",
        "StreamFormat",
        "StreamingFileSink",
    ),
    "jdbc": ("JdbcConnectionOptions", "JdbcExecutionOptions", "JdbcSink"),
    "kafka": ("FlinkKafkaConsumer", "FlinkKafkaProducer", "KafkaSource", "Semantic"),
    "number_seq": ("NumberSequenceSource",),
}
_HOME = {name: module for module, names in _MODULES.items() for name in names}


def __getattr__(name: str) -> Any:
    if name not in _HOME:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    return getattr(importlib.import_module(f"{__name__}.{_HOME[name]}"), name)
