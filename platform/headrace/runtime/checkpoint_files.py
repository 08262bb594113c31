"""Which files of a job's checkpoint belong to one completed batch: all that another place needs to
go on behind it, and nothing of later batches.

    spark/metadata              the query's own id
    spark/offsets/N, commits/N  the batch's end, and that it has run; Spark reads N - 1, too
    spark/sources/I/...         where a source began, and the log of the files it has seen
    spark/state/O/P/...         state of operator O in partition P, see `_of_store`
    spark/state/O/_metadata/v2  what state there is, as of the batches named
    spark/state/O/_stateSchema  schemas, which the metadata names by absolute paths
    headrace/...                ticks, counters, what sources have read, the program's identity

Spark's files never change once they have their names, and old ones are removed a hundred batches
later (`spark.sql.streaming.minBatchesToRetain`). Layouts of PySpark 4.2, read from its directories;
version N + 1 of a store is its state behind batch N.

What belongs to a run and not to the checkpoint is left out: the epochs of drivers, manifests of
transactions that are over, reports.
"""

from __future__ import annotations

import json
import re
import zipfile
from collections.abc import Iterable, Iterator
from pathlib import Path

from headrace.runtime.spark_offsets import SparkOffsets

SPARK = "spark"
HEADRACE = "headrace"
#: Batches of Spark's logs that a start looks into.
_LOGGED = 2
#: Of the runtime's own folder: of one run only.
_OF_A_RUN = re.compile(r"owners|manifests|reports|socket-\d+\.closed|restored\.json|stopping")
#: Names of a version of a store. RocksDB: zip and changelog; the JVM's own: snapshot and delta.
_VERSION = re.compile(r"(\d+)\.(zip|changelog|snapshot|delta)")
_FULL = ("zip", "snapshot")
_SCHEMA_PATH = re.compile(r'"[^"]*/state/(\d+/_stateSchema/[^"]*)"')


class IncompleteCheckpoint(Exception):
    """A file of the batch is not there (any more); another batch may be whole."""


def of_runtime(checkpoint_dir: Path) -> Iterator[Path]:
    """Headrace's own files. They have no numbers: between two batches they are the newest's."""
    for path in _visible(checkpoint_dir / HEADRACE):
        if not _OF_A_RUN.fullmatch(path.relative_to(checkpoint_dir / HEADRACE).parts[0]):
            yield path


def of_spark(checkpoint_dir: Path, batch: int) -> Iterator[Path]:
    """Spark's, some of which may be gone by the time they are read. Raises IncompleteCheckpoint."""
    spark = checkpoint_dir / SPARK
    offsets = SparkOffsets(spark)
    for needed in (spark / "metadata", spark / f"offsets/{batch}", spark / f"commits/{batch}"):
        if not needed.is_file():
            raise IncompleteCheckpoint(f"{needed} is missing")
    yield spark / "metadata"
    for log in ("offsets", "commits"):
        numbers = range(max(0, batch - _LOGGED + 1), batch + 1)
        yield from (path for n in numbers if (path := spark / log / str(n)).is_file())
    yield from _visible(spark / "sources")
    if offsets.has_state:
        yield from _state(spark / "state", batch, offsets.partitions(batch))


def moved(name: str, content: bytes, checkpoint_dir: Path) -> bytes:
    """The content of the file `name`, '/' within the checkpoint, as it has to be when that is at
    another place."""
    if "/_metadata/" not in name:
        return content
    home = checkpoint_dir.resolve() / SPARK / "state"
    return _SCHEMA_PATH.sub(
        lambda found: json.dumps(f"file:{home}/{found[1]}"), content.decode()
    ).encode()


def _state(state: Path, batch: int, partitions: int) -> Iterator[Path]:
    for operator in sorted(each for each in state.iterdir() if each.name.isdigit()):
        metadata = operator / "_metadata"
        for path in _visible(metadata):
            if not path.name.isdigit() or int(path.name) <= batch:
                yield path
        yield from _visible(operator / "_stateSchema")
        for partition in range(partitions):
            yield from _visible(operator / str(partition) / "_metadata")
            stores = _stores(operator / str(partition))
            if not stores:
                raise IncompleteCheckpoint(f"{operator / str(partition)} holds no state")
            for store in stores:
                yield from _of_store(store, batch + 1)


def _stores(partition: Path) -> list[Path]:
    """Directories that hold versions; more than one where an operator has several stores."""
    return sorted({path.parent for path in _visible(partition) if _VERSION.fullmatch(path.name)})


def _of_store(store: Path, version: int) -> Iterator[Path]:
    """The newest whole copy up to `version`, the changes behind it, and the tables that a copy of
    RocksDB's shares with others. `1.zip` to `9.changelog`: without a whole copy, from 1 on."""
    found: dict[int, list[Path]] = {}
    for path in _visible(store, below=False):
        if match := _VERSION.fullmatch(path.name):
            found.setdefault(int(match[1]), []).append(path)
    full = max((n for n, paths in found.items() if n <= version and _whole(paths)), default=0)
    for n in range(max(full, 1), version + 1):
        if n not in found:
            raise IncompleteCheckpoint(f"{store} has no version {n}")
        kept = [path for path in found[n] if (n == full) == (path.suffix[1:] in _FULL)]
        if not kept:
            raise IncompleteCheckpoint(f"{store} has no changes of version {n}")
        yield from kept
        if n == full:
            yield from _tables(kept)


def _whole(paths: Iterable[Path]) -> bool:
    return any(path.suffix[1:] in _FULL for path in paths)


def _tables(copies: Iterable[Path]) -> Iterator[Path]:
    for path in copies:
        if path.suffix != ".zip":
            continue
        try:
            with zipfile.ZipFile(path) as packed:
                _, _, text = packed.read("metadata").decode().partition("\n")
        except (OSError, KeyError, zipfile.BadZipFile) as error:
            raise IncompleteCheckpoint(f"{path} cannot be read: {error}") from error
        values = json.loads(text)
        for each in values.get("sstFiles") or ():
            yield path.parent / "SSTs" / each["dfsSstFileName"]
        for each in values.get("logFiles") or ():
            yield path.parent / "logs" / each["dfsLogFileName"]


def _visible(folder: Path, *, below: bool = True) -> Iterator[Path]:
    """Files without those that are being written and their checksums of Hadoop's, which are made
    anew."""
    if not folder.is_dir():
        return
    for path in sorted(folder.iterdir()):
        if path.name.startswith("."):
            continue
        if path.is_dir():
            if below:
                yield from _visible(path)
        elif path.is_file():
            yield path
