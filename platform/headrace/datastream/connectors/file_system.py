"""Files as a source and a sink; PyFlink's `pyflink.datastream.connectors.file_system`."""

from __future__ import annotations

from dataclasses import dataclass

from headrace.connectors.files.buckets import BucketAssigner
from headrace.datastream.connectors.base import Source
from headrace.datastream.connectors.file_sink import (
    BulkFormatBuilder,
    FileSink,
    OutputFileConfig,
    RollingPolicy,
    RowFormatBuilder,
)

__all__ = [
    "BucketAssigner",
    "BulkFormatBuilder",
    "FileSink",
    "FileSource",
    "FileSourceBuilder",
    "OutputFileConfig",
    "RollingPolicy",
    "RowFormatBuilder",
    "StreamFormat",
]


@dataclass(frozen=True)
class StreamFormat:
    """How a file's bytes become records."""

    charset: str

    @staticmethod
    def text_line_format(charset_name: str = "UTF-8") -> StreamFormat:
        """One record a line, without its end."""
        if charset_name.upper() not in ("UTF-8", "UTF8"):
            raise NotImplementedError(f"text files are read as UTF-8, not {charset_name}")
        return StreamFormat(charset_name)


@dataclass(frozen=True)
class FileSource(Source):
    """The lines of files: read once to their end, in no order between files."""

    paths: tuple[str, ...]

    @staticmethod
    def for_record_stream_format(stream_format: StreamFormat, *paths: str) -> FileSourceBuilder:
        return FileSourceBuilder(paths)

    @property
    def described(self) -> str:
        return f"file:{','.join(self.paths)}"


class FileSourceBuilder:
    def __init__(self, paths: tuple[str, ...]) -> None:
        self._paths = paths

    def process_static_file_set(self) -> FileSourceBuilder:
        return self

    def build(self) -> FileSource:
        if not self._paths:
            raise ValueError("a FileSource needs at least one path")
        return FileSource(self._paths)
