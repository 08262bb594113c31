"""Files as a source and a sink; PyFlink's `pyflink.datastream.connectors.file_system`."""

from headrace.connectors.files.buckets import BucketAssigner
from headrace.datastream.connectors.file_sink import (
    FileSink,
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

__all__ = [
    "BucketAssigner",
    "BulkFormat",
    "FileEnumeratorProvider",
    "FileSink",
    "FileSource",
    "FileSourceBuilder",
    "FileSplitAssignerProvider",
    "OutputFileConfig",
    "RollingPolicy",
    "StreamFormat",
    "StreamingFileSink",
]
