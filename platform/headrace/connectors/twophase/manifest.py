"""Manifests: which transactions make up a batch, written before the first of them is committed.

    <checkpoint_dir>/headrace/manifests/00000000000000000012-0.json
    <checkpoint_dir>/headrace/manifests/00000000000000000012-0.done

A manifest is the decision to commit. It is created exclusively: whoever creates it is the one
that commits the batch. A batch that is run again to write what was missing gets another manifest
with the next number. The `.done` file says that every transaction of it was confirmed, and lists
those whose names may be used again. It is durable before any of them is: whoever finds a manifest
without it ends its transactions once more, which must not hit later ones of the same name.
"""

from __future__ import annotations

import contextlib
import json
import time
from collections.abc import Iterable
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Any

from headrace.connectors.twophase import files
from headrace.connectors.twophase.messages import Prepared

DIRECTORY = Path("headrace") / "manifests"
FORMAT = 2
#: Manifests of format 1 knew Kafka only: these were fields of a transaction of their own.
_FORMAT_1_HANDLE = ("transactional_id", "producer_id", "producer_epoch")
#: Batches whose manifests are kept: one is needed, the others are for people who look into it.
KEPT_BATCHES = 10
#: Newest batches whose names are used again: a task that wrote nothing for longer opens anew.
REUSED_BATCHES = 3


@dataclass(frozen=True, slots=True)
class Manifest:
    batch_id: int
    number: int
    #: Of the driver that wrote it.
    epoch: int
    prepared: list[Prepared]
    #: Every sink of the job then, whatever its guarantee.
    sinks: list[str] = field(default_factory=list)
    #: Per transactional sink, the place that keeps the outcomes of its transactions.
    ledgers: dict[str, str] = field(default_factory=dict)
    created_at: int = field(default_factory=lambda: int(time.time() * 1000))
    #: The job runtime's own notes on the batch.
    extra: dict[str, Any] = field(default_factory=dict)

    @property
    def stem(self) -> str:
        return f"{self.batch_id:020d}-{self.number}"

    def to_json(self) -> bytes:
        return json.dumps({"format": FORMAT, **asdict(self)}, indent=1, default=str).encode()

    @classmethod
    def from_json(cls, data: bytes) -> Manifest:
        values = json.loads(data)
        format_ = values.pop("format", None)
        if format_ == 1:
            _upgrade(values)
        elif format_ != FORMAT:
            raise ValueError(f"not a manifest of format {FORMAT}")
        values["prepared"] = [Prepared(**each) for each in values["prepared"]]
        return cls(**values)


def _upgrade(values: dict[str, Any]) -> None:
    values["ledgers"] = values.pop("marker_topics", {})
    for each in values["prepared"]:
        each["handle"] = {name: each.pop(name) for name in _FORMAT_1_HANDLE}


class ManifestStore:
    """The manifests of one job. Any number of processes may use it at once."""

    def __init__(self, checkpoint_dir: Path) -> None:
        self.directory = checkpoint_dir / DIRECTORY

    def create(self, manifest: Manifest) -> None:
        """Durable when it returns. Raises FileExistsError when the batch has this one already."""
        files.create_exclusively(self._path(manifest), manifest.to_json())
        self._done(manifest).unlink(missing_ok=True)  # of one that somebody removed

    def mark_done(self, manifest: Manifest, reusable: Iterable[str] = ()) -> None:
        """Every transaction of it is committed; the handles' names that `reusable` lists may be
        given to new ones. Durable when it returns."""
        note = {"epoch": manifest.epoch, "reusable": sorted(reusable)}
        with contextlib.suppress(FileExistsError):
            files.create_exclusively(self._done(manifest), json.dumps(note).encode())

    def is_done(self, manifest: Manifest) -> bool:
        """A file that an earlier manifest of the same batch left says nothing of this one."""
        with contextlib.suppress(FileNotFoundError):
            data = self._done(manifest).read_bytes()
            return not data or json.loads(data)["epoch"] == manifest.epoch  # empty: written earlier
        return False

    def reusable(self, epoch: int) -> dict[int, frozenset[str]]:
        """Per batch what `mark_done` was given, of the newest ones that `epoch` committed."""
        found: dict[int, frozenset[str]] = {}
        for path in sorted(self.directory.glob("[0-9]*-*.done"))[-REUSED_BATCHES:]:
            with contextlib.suppress(FileNotFoundError, ValueError):
                note = json.loads(path.read_bytes())  # empty files: of earlier versions
                if note["epoch"] == epoch:
                    found[_batch_of(path)] = frozenset(note["reusable"])
        return found

    def read(self, batch_id: int, number: int) -> Manifest | None:
        path = self.directory / f"{batch_id:020d}-{number}.json"
        return _read(path) if path.exists() else None

    def newest_name(self) -> tuple[int, int] | None:
        """Batch and number of the newest manifest, without reading it."""
        names = [each.stem.split("-") for each in self.directory.glob("[0-9]*-*.json")]
        return max(((int(batch), int(number)) for batch, number in names), default=None)

    def newest_batch(self) -> list[Manifest]:
        """Manifests of the newest batch that has any, in order of their numbers."""
        paths = sorted(self.directory.glob("[0-9]*-*.json"))
        if not paths:
            return []
        batch = _batch_of(paths[-1])
        found = [_read(path) for path in paths if _batch_of(path) == batch]
        return sorted(found, key=lambda manifest: manifest.number)

    def has_output(self) -> bool:
        """Whether a batch was decided whose transactions readers see, or will."""
        return any(_read(path).prepared for path in self.directory.glob("[0-9]*-*.json"))

    def prune(self) -> None:
        """Remove all but the newest KEPT_BATCHES batches."""
        paths = sorted(self.directory.glob("[0-9]*-*.*"))
        batches = sorted({_batch_of(path) for path in paths})
        for path in paths:
            if _batch_of(path) in batches[:-KEPT_BATCHES]:
                path.unlink(missing_ok=True)

    def _path(self, manifest: Manifest) -> Path:
        return self.directory / f"{manifest.stem}.json"

    def _done(self, manifest: Manifest) -> Path:
        return self.directory / f"{manifest.stem}.done"


def _batch_of(path: Path) -> int:
    return int(path.name.partition("-")[0])


def _read(path: Path) -> Manifest:
    try:
        return Manifest.from_json(path.read_bytes())
    except (ValueError, KeyError, TypeError) as error:
        raise ValueError(
            f"{path} is damaged: {error}. Without it nobody knows which transactions of the batch "
            "to commit, so the job does not start; restore the file or an earlier savepoint."
        ) from error
