"""A savepoint's own words, and how two savepoints differ. Reads manifests; no database."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from dashboard import formats
from headrace.wire import savepoint
from headrace.wire.savepoint import BadSavepoint, Manifest
from jobs.models import Savepoint

#: Files up to so many bytes in all are read when a savepoint is verified from a page.
READ_BYTES = 512 << 20
#: Values that a comparison lists.
ROWS = 400


@dataclass(frozen=True, slots=True)
class Row:
    """One property of two savepoints."""

    name: str
    first: str
    second: str

    @property
    def differs(self) -> bool:
        return self.first != self.second


def manifest(row: Savepoint) -> Manifest | None:
    """None where it cannot be read: it is not complete, gone, or on another machine."""
    try:
        return savepoint.read(Path(row.path))
    except (BadSavepoint, OSError):
        return None


def verified(row: Savepoint) -> str:
    """What was found right. Raises BadSavepoint with what is wrong first."""
    whole = row.size <= READ_BYTES
    found = savepoint.verify(Path(row.path), content=whole)
    count = f"{len(found.files)} files, {formats.size(found.size)}"
    if whole:
        return f"All of it is as it was written: {count}, every checksum right."
    return (
        f"All files are there with their sizes: {count}. Their content is read only up to "
        f"{formats.size(READ_BYTES)} here; a job that begins with it verifies every byte."
    )


def compared(first: Savepoint, second: Savepoint) -> list[Row]:
    """Property by property; of the manifests only where both can be read."""
    both = (first, second)
    rows = [Row(name, *(_text(getattr(each, field)) for each in both)) for name, field in _FIELDS]
    one, other = manifest(first), manifest(second)
    if one is not None and other is not None:
        flat = [_flat(_inner(each)) for each in (one, other)]
        names = list(dict.fromkeys((*flat[0], *flat[1])))
        rows += [Row(name, *(each.get(name, formats.NOTHING) for each in flat)) for name in names]
    return rows[:ROWS]


_FIELDS = (
    *(("Version", "version"), ("Checkpoint", "checkpoint_id"), ("Program", "artifact_sha256")),
    *(("Parallelism", "parallelism"), ("Bytes", "size"), ("Files", "files")),
    *(("Completed", "completed_at"), ("Asked for by", "requested_by_name"), ("Reason", "reason")),
)


def _inner(found: Manifest) -> dict[str, Any]:
    return {
        "Max parallelism": found.max_parallelism,
        "Drained": found.drained,
        "State layout": found.layout,
        "Operator level": found.operators,
        "Sink prefix": found.sinks,
        "Offset": found.offsets,
        "Version of": found.versions,
    }


def _flat(value: Any, name: str = "") -> dict[str, str]:
    """Nested dicts and lists as `a · b` -> text."""
    if isinstance(value, Mapping):
        pairs = list(value.items())
    elif isinstance(value, list):
        pairs = [(str(n), each) for n, each in enumerate(value)]
    else:
        return {name: _text(value)}
    found: dict[str, str] = {}
    for key, each in pairs:
        found |= _flat(each, f"{name} · {key}" if name else str(key))
    return found


def _text(value: Any) -> str:
    if value is None or value == "":
        return formats.NOTHING
    if isinstance(value, bool):
        return "yes" if value else "no"
    if isinstance(value, int):
        return f"{value:,}"
    return formats.exact(value) if hasattr(value, "strftime") else str(value)
