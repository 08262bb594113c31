"""Files found and read by Python."""

from __future__ import annotations

import hashlib
import json
import os
import time
from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path
from typing import Any
from urllib.parse import unquote, urlparse

from headrace.datastream.connectors.file_source import FileFormat
from headrace.datastream.connectors.python_source import PythonSource, SourceContext

#: Files in one micro-batch.
MOST = 500


class FileReading(PythonSource):
    """Positions count files in the order in which they were found. Which they are is kept beside
    the checkpoint, so that a position means the same file after a restart."""

    def __init__(
        self, paths: tuple[str, ...], format_: FileFormat, discovery_interval: int | None
    ) -> None:
        self._paths = tuple(map(_local, paths))
        self._format = format_
        self._interval = discovery_interval
        self.bounded = discovery_interval is None
        self.produced_type = format_.produced_type
        #: When new files were looked for.
        self._looked: float | None = None

    def open(self, context: SourceContext) -> None:
        """Raises FileNotFoundError for a path that does not exist."""
        for path in self._paths:
            if not Path(path).exists():
                raise FileNotFoundError(f"the file source's path {path} does not exist")
        name = hashlib.sha256("\0".join(self._paths).encode()).hexdigest()[:16]
        self._index = _Index(context.state_dir / f"files-{name}.jsonl")

    def start(self) -> int:
        return 0

    def latest(self, position: int) -> int:
        if self._is_due():
            self._looked = time.monotonic()
            self._index.add(_found(self._paths))
        return min(len(self._index.files), position + MOST)

    def _is_due(self) -> bool:
        if self._interval is None:
            return not self._index.files and self._looked is None
        return self._looked is None or time.monotonic() - self._looked >= self._interval / 1000

    def pieces(self, start: int, end: int) -> Sequence[str]:
        return self._index.files[start:end]

    def read(self, piece: str) -> Iterator[Any]:
        return self._format.read(piece)


class _Index:
    """An append-only file of the paths found, a line each."""

    def __init__(self, path: Path) -> None:
        self._path = path
        lines = path.read_text().splitlines() if path.exists() else []
        self.files: list[str] = [json.loads(line) for line in lines]

    def add(self, paths: Iterable[str]) -> None:
        known = set(self.files)
        new = [path for path in paths if path not in known]
        if new:
            with self._path.open("a") as file:
                file.writelines(f"{json.dumps(path)}\n" for path in new)
                file.flush()
                os.fsync(file.fileno())
            self.files += new


def _found(paths: Iterable[str]) -> Iterator[str]:
    for path in paths:
        if not Path(path).is_dir():
            yield path
            continue
        for folder, folders, names in os.walk(path):
            folders[:] = sorted(name for name in folders if _is_visible(name))
            yield from (f"{folder}/{name}" for name in sorted(names) if _is_visible(name))


def _is_visible(name: str) -> bool:
    return not name.startswith((".", "_"))


def _local(path: str) -> str:
    """Raises NotImplementedError for files elsewhere."""
    if "://" in path and not path.startswith("file:"):
        raise NotImplementedError(f"{path}: other file systems are read as text only")
    return str(Path(unquote(urlparse(path).path) if path.startswith("file:") else path).absolute())
