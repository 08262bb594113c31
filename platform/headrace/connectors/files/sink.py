"""The file sink's hooks.

Each micro-batch and partition is a transaction: its files are written below a hidden folder of the
base path and renamed into place when the batch is committed. A name is
`<prefix>-<checkpoint and sink>-<batch>-<partition>-<n><suffix>`: the same however often the batch
is run. The base path has to be on a file system that driver and tasks share and that renames
atomically (a local or network file system, not an object store).
"""

from __future__ import annotations

import copy
import zlib
from dataclasses import dataclass, field
from pathlib import Path, PurePosixPath
from typing import Any, Self, TypedDict
from urllib.parse import urlparse

from headrace.connectors.files.buckets import BucketAssigner
from headrace.connectors.files.formats import Format, PartWriter
from headrace.connectors.files.staging import ClaimFile, Staging
from headrace.connectors.twophase import errors, names
from headrace.connectors.twophase.sink import (
    InvokeContext,
    TransactionContext,
    TwoPhaseCommitSink,
)


class FileTransaction(TypedDict):
    """What manifests keep."""

    root: str
    name: str
    #: The staging that it was prepared in.
    ledger: str
    #: Hidden name and path below the base, of each file.
    files: list[tuple[str, str]]


@dataclass
class _Writing:
    """Open files of the transaction of a task, by bucket."""

    folder: Path
    stem: str
    open: dict[str, PartWriter] = field(default_factory=dict)


class FilesSink(TwoPhaseCommitSink[Any, FileTransaction]):
    """Files of one format below a base path. Raises ValueError for a path it cannot write to."""

    def __init__(
        self,
        base_path: str,
        format: Format,
        buckets: BucketAssigner,
        *,
        part_size: int | None = None,
        prefix: str = "part",
        suffix: str | None = None,
    ) -> None:
        """`part_size`: a file that has got as many bytes is closed, and another one begun."""
        self.base = _local(base_path)
        self._format = format
        self._buckets = buckets
        self._part_size = part_size
        self._prefix = prefix
        self._suffix = format.suffix if suffix is None else suffix
        self._writing: _Writing | None = None
        self._forgotten_before = -1

    @property
    def format(self) -> Format:
        """What is in its files."""
        return self._format

    def with_format(self, format: Format) -> Self:
        """The same sink with something else in its files."""
        other = copy.copy(self)
        other._format = format
        return other

    @property
    def described(self) -> str:
        return f"file:{self.base}"

    def check(self, root: str) -> None:
        try:
            Staging(self.base, root).prepare()
        except OSError as error:
            raise errors.InvalidSettings(f"cannot write below {self.base}: {error}") from None

    def claim_place(self, root: str) -> ClaimFile:
        return ClaimFile(Staging(self.base, root))

    def begin_transaction(self, context: TransactionContext) -> FileTransaction:
        staging = Staging(self.base, context.root)
        token = f"{zlib.crc32(context.root.encode()):08x}"
        stem = f"{self._prefix}-{token}-{context.batch_id}-{context.partition}"
        self._writing = _Writing(staging.begin(context.name), stem)
        return {
            "root": context.root,
            "name": context.name,
            "ledger": staging.ledger(),
            "files": [],
        }

    def invoke(self, transaction: FileTransaction, value: Any, context: InvokeContext) -> None:
        writing = self._now()
        bucket = self._buckets.get_bucket_id(value, context.timestamp())
        part = writing.open.get(bucket)
        if part is None:
            part = writing.open[bucket] = self._open(transaction, writing, bucket)
        part.write(value)
        if self._part_size is not None and part.size() >= self._part_size:
            part.close()
            del writing.open[bucket]

    def pre_commit(self, transaction: FileTransaction) -> None:
        for part in self._now().open.values():
            part.close()
        self._writing = None
        Staging(self.base, transaction["root"]).sync(transaction["name"])

    def commit(self, transaction: FileTransaction) -> None:
        staging = Staging(self.base, transaction["root"])
        staging.publish(transaction["name"], transaction["files"], transaction["ledger"])
        parsed = names.parse(transaction["root"], transaction["name"])
        if parsed is not None and parsed.batch_id > self._forgotten_before:
            self._forgotten_before = parsed.batch_id
            staging.forget_before(parsed.batch_id)

    def abort(self, transaction: FileTransaction) -> None:
        self._writing = None
        Staging(self.base, transaction["root"]).abort(transaction["name"])

    def list_transactions(self, root: str) -> list[tuple[str, FileTransaction]]:
        opened = Staging(self.base, root).open_names()
        return [(name, {"root": root, "name": name, "ledger": "", "files": []}) for name in opened]

    def _now(self) -> _Writing:
        assert self._writing is not None, "no transaction has been begun here"
        return self._writing

    def _open(self, transaction: FileTransaction, writing: _Writing, bucket: str) -> PartWriter:
        folder = PurePosixPath(bucket)
        if folder.is_absolute() or ".." in folder.parts:
            raise ValueError(f"bucket {bucket!r} is not below the base path")
        hidden = str(len(transaction["files"]))
        name = f"{writing.stem}-{hidden}{self._suffix}"
        transaction["files"].append((hidden, str(folder / name)))
        return self._format.open(writing.folder / hidden)


def _local(base_path: str) -> Path:
    parsed = urlparse(base_path)
    if parsed.scheme not in ("", "file"):
        raise ValueError(f"{base_path!r}: files are written to paths, not to {parsed.scheme}://")
    return Path(parsed.path).absolute()
