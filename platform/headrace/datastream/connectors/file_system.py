"""Files as a source and a sink; PyFlink's `pyflink.datastream.connectors.file_system`."""

from headrace.connectors.files.buckets import BucketAssigner
from headrace.datastream.connectors.file_sink import (
    BulkFormatBuilder,
    FileSink,
    OutputFileConfig,
    RollingPolicy,
    RowFormatBuilder,
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
    "BulkFormatBuilder",
    "FileEnumeratorProvider",
    "FileSink",
    "FileSource",
    "FileSourceBuilder",
    "FileSplitAssignerProvider",
    "OutputFileConfig",
    "RollingPolicy",
    "RowFormatBuilder",
    "StreamFormat",
]
