"""What a job in one process reads: its sources as Python sources."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any

from headrace.datastream.connectors.file_system import FileSource
from headrace.datastream.connectors.python_source import (
    PythonSource,
    SourceContext,
    stamped,
)
from headrace.runtime.parts import Part
from headrace.runtime.socket_lines import SocketLines
from headrace.runtime.sources import CollectionSource, SocketSource
from headrace.runtime.transformations import GraphError

#: The one split of a Python source.
SPLIT = "0"


def python_source(source: Any) -> PythonSource:
    """Raises GraphError for a source that only Spark can read."""
    if isinstance(source, PythonSource):
        return source
    if isinstance(source, CollectionSource):
        return _Collection(source.values)
    if isinstance(source, FileSource):
        return source.reading()
    if isinstance(source, SocketSource):
        return _Socket(source.host, source.port)
    raise GraphError(
        f"a {type(source).__name__} is read by Spark; a job in one process cannot. Leave the "
        "setting headrace.executor (and HEADRACE_EXECUTOR) out"
    )


class LocalReader:
    """One source and how far it was read."""

    def __init__(self, number: int, source: PythonSource, context: SourceContext) -> None:
        self.number = number
        self.ended = False
        self._source = source
        source.open(context)
        self._position = source.start()

    @property
    def bounded(self) -> bool:
        return self._source.bounded

    def next(self) -> list[Part]:
        """What came since the last call; nothing when the source has ended, or has nothing yet."""
        if self.ended:
            return []
        end = self._source.latest(self._position)
        if end == self._position:
            self.ended = self._source.bounded
            return []
        pieces = self._source.pieces(self._position, end)
        read = self._source.read
        parts = [Part.of_python(SPLIT, list(stamped(read(piece)))) for piece in pieces]
        self._position = end
        return parts

    def committed(self) -> None:
        self._source.committed(self._position)

    def close(self) -> None:
        self._source.close()


class _Collection(PythonSource):
    def __init__(self, values: tuple[Any, ...]) -> None:
        self._values = values

    def start(self) -> int:
        return 0

    def latest(self, position: int) -> int:
        return len(self._values)

    def pieces(self, start: int, end: int) -> Sequence[tuple[int, int]]:
        return [(start, end)]

    def read(self, piece: tuple[int, int]) -> Iterable[Any]:
        return self._values[slice(*piece)]


class _Socket(PythonSource):
    """Ends when the server closes the connection, as Flink's."""

    def __init__(self, host: str, port: int) -> None:
        self._lines = SocketLines(host, port)

    def start(self) -> int:
        return 0

    def latest(self, position: int) -> int:
        closed = self._lines.closed  # before the count: what came before it is all there
        count = self._lines.received(position)
        self.bounded = closed
        return count

    def pieces(self, start: int, end: int) -> Sequence[tuple[int, int]]:
        return [(start, end)]

    def read(self, piece: tuple[int, int]) -> Iterable[str]:
        return self._lines.between(*piece)

    def committed(self, position: int) -> None:
        self._lines.forget(position)
