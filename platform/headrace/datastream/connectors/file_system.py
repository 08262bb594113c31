"""Files as a source and a sink; PyFlink's `pyflink.datastream.connectors.file_system`."""

from headrace.connectors.files.buckets import BucketAssigner
from headrace.datastream.borrowed import borrowed
from headrace.datastream.connectors.file_compaction import FileCompactor, FileCompactStrategy
from headrace.datastream.connectors.file_sink import (
    DefaultRollingPolicy,
    FileSink,
    OnCheckpointRollingPolicy,
    OutputFileConfig,
    RollingPolicy,
    StreamingFileSink,
)
from headrace.datastream.connectors.file_source import (
    BulkFormat,
    FileEnumeratorProvider,
    FileSource,
    FileSourceBuilder,
    FileSplitAssignerProvider,
    StreamFormat,
)

__getattr__ = borrowed(
    __name__, "headrace.datastream.connectors.base", "headrace.datastream.functions"
)

__all__ = [
    "BucketAssigner",
    "BulkFormat",
    "DefaultRollingPolicy",
    "FileCompactStrategy",
    "FileCompactor",
    "FileEnumeratorProvider",
    "FileSink",
    "FileSource",
    "FileSourceBuilder",
    "FileSplitAssignerProvider",
    "OnCheckpointRollingPolicy",
    "OutputFileConfig",
    "RollingPolicy",
    "StreamFormat",
    "StreamingFileSink",
]
