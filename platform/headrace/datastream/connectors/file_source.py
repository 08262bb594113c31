"""Files as a source: which, in which format, and whether new ones are waited for."""

from __future__ import annotations

import abc
import bz2
import gzip
import lzma
from collections.abc import Iterator
from dataclasses import dataclass, replace
from typing import IO, Any, cast

from headrace.common.time import Duration
from headrace.common.typeinfo import TypeInformation, Types
from headrace.datastream.connectors.base import Source
from headrace.datastream.connectors.python_source import PythonSource

_COMPRESSED: dict[str, Any] = {
    ".gz": gzip.open,
    ".gzip": gzip.open,
    ".bz2": bz2.open,
    ".xz": lzma.open,
}


def open_binary(path: str) -> IO[bytes]:
    """The bytes of a file, decompressed if its name says so (.gz, .bz2, .xz)."""
    for suffix, opening in _COMPRESSED.items():
        if path.endswith(suffix):
            return cast(IO[bytes], opening(path, "rb"))
    return open(path, "rb")  # noqa: PTH123 - as the others


class FileFormat(abc.ABC):
    """How a file's bytes become records. Picklable."""

    produced_type: TypeInformation | None = None

    @abc.abstractmethod
    def read(self, path: str) -> Iterator[Any]:
        """The records of a file, the same in the same order each time."""


class StreamFormat(FileFormat):
    """Formats that are read record by record."""

    @staticmethod
    def text_line_format(charset_name: str = "UTF-8") -> StreamFormat:
        """One record a line, without its end."""
        "".encode(charset_name)
        return TextLineFormat(charset_name)


class BulkFormat(FileFormat):
    """Formats that are read many records at a time."""


@dataclass(frozen=True)
class TextLineFormat(StreamFormat):
    charset: str = "UTF-8"
    produced_type = Types.STRING()

    def read(self, path: str) -> Iterator[str]:
        import io

        with open_binary(path) as file:
            for line in io.TextIOWrapper(file, encoding=self.charset, errors="replace"):
                yield line.rstrip("\n")


@dataclass(frozen=True)
class FileSource(Source):
    """The records of files, each file once. Files of folders within folders belong to it; those
    whose names begin with `.` or `_` do not. A file is read as it is when it is found: put files
    that are written elsewhere into place by renaming them."""

    paths: tuple[str, ...]
    format: FileFormat = TextLineFormat()
    #: Milliseconds between two looks for new files; None: the files that are there at the start.
    discovery_interval: int | None = None

    @staticmethod
    def for_record_stream_format(stream_format: StreamFormat, *paths: str) -> FileSourceBuilder:
        return FileSourceBuilder(FileSource(paths, stream_format))

    @staticmethod
    def for_bulk_file_format(bulk_format: BulkFormat, *paths: str) -> FileSourceBuilder:
        return FileSourceBuilder(FileSource(paths, bulk_format))

    @property
    def bounded(self) -> bool:
        return self.discovery_interval is None

    @property
    def produced_type(self) -> TypeInformation | None:
        return self.format.produced_type

    @property
    def described(self) -> str:
        return f"file:{','.join(self.paths)}"

    def reading(self) -> PythonSource:
        """The files as a Python source."""
        from headrace.datastream.connectors.file_reading import FileReading

        return FileReading(self.paths, self.format, self.discovery_interval)


class FileSourceBuilder:
    def __init__(self, source: FileSource) -> None:
        self._source = source

    def monitor_continuously(self, discovery_interval: Duration) -> FileSourceBuilder:
        """Unbounded: new files are looked for again and again."""
        if discovery_interval.to_millis() <= 0:
            raise ValueError("the discovery interval must be longer than nothing")
        self._source = replace(self._source, discovery_interval=discovery_interval.to_millis())
        return self

    def process_static_file_set(self) -> FileSourceBuilder:
        """Bounded, as it is without a word."""
        self._source = replace(self._source, discovery_interval=None)
        return self

    def set_file_enumerator(self, file_enumerator: FileEnumeratorProvider) -> FileSourceBuilder:
        """A file is read by one task whichever is given."""
        return self

    def set_split_assigner(self, split_assigner: FileSplitAssignerProvider) -> FileSourceBuilder:
        return self

    def build(self) -> FileSource:
        if not self._source.paths:
            raise ValueError("a FileSource needs at least one path")
        return self._source


@dataclass(frozen=True)
class FileEnumeratorProvider:
    name: str

    @staticmethod
    def default_splittable_file_enumerator() -> FileEnumeratorProvider:
        return FileEnumeratorProvider("splittable")

    @staticmethod
    def default_non_splittable_file_enumerator() -> FileEnumeratorProvider:
        return FileEnumeratorProvider("non-splittable")


@dataclass(frozen=True)
class FileSplitAssignerProvider:
    name: str

    @staticmethod
    def locality_aware_split_assigner() -> FileSplitAssignerProvider:
        return FileSplitAssignerProvider("locality-aware")
