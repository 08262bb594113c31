"""A savepoint: a directory that holds one checkpoint of a job and nothing it needs elsewhere.

    <directory>/savepoint.json   the manifest: what it is of, and every file with its checksum
    <directory>/checkpoint/      the checkpoint as a job goes on from it

It is found by its path, which may change: what in it names a place is adapted by the restore.
Whoever goes on from it verifies it first, so that a file that was damaged, cut or exchanged stops
the start, not the job days later.
"""

from __future__ import annotations

import contextlib
import hashlib
import json
import os
import shutil
import stat
from collections.abc import Callable
from dataclasses import asdict, dataclass, field, fields
from enum import StrEnum
from pathlib import Path, PurePosixPath
from typing import Any, BinaryIO
from urllib.parse import unquote, urlparse

from headrace.wire import rundir

MANIFEST = "savepoint.json"
CONTENT = "checkpoint"
#: Of the manifest and of what is in `CONTENT`; raised when an earlier Headrace cannot read it.
FORMAT = 1
#: Flink's name of the file that a path may name instead of the directory.
FLINK_MANIFEST = "_metadata"

_BLOCK = 1024 * 1024


class BadSavepoint(ValueError):
    """The savepoint is not used; nothing was started or changed. `args[0]` says what is wrong."""


class ClaimMode(StrEnum):
    """Whose the savepoint is once a job goes on from it; Flink's names."""

    #: It stays as it is; whoever made it removes it.
    NO_CLAIM = "NO_CLAIM"
    #: The job removes it when its own first checkpoint is complete.
    CLAIM = "CLAIM"


@dataclass(frozen=True, slots=True)
class SavedFile:
    """A file below the directory: its path with '/', its bytes, their hash in hex."""

    path: str
    size: int
    sha256: str


@dataclass(frozen=True, slots=True)
class Manifest:
    """What the savepoint is of."""

    savepoint_id: str
    job_id: str
    job_name: str
    #: The job's program: SHA-256 of its file, and the file's name.
    artifact_sha256: str
    entry_name: str
    #: Spark's number of the batch, and the checkpoint's as it is shown.
    batch: int
    checkpoint_id: int
    parallelism: int
    max_parallelism: int
    #: Keyed operators: uid -> level; and the form that their state is kept in.
    operators: dict[str, int] = field(default_factory=dict)
    layout: int = 0
    #: Where each source stands, as Spark's log has it.
    offsets: list[Any] = field(default_factory=list)
    #: Exactly-once sinks: name -> what the names of its transactions begin with; and the names of
    #: those that made the checkpoint's output visible.
    sinks: dict[str, str] = field(default_factory=dict)
    transactions: list[str] = field(default_factory=list)
    #: Event time was moved to its end before: there is nothing to go on with.
    drained: bool = False
    created_at: int = 0
    created_by: str = ""
    reason: str = ""
    versions: dict[str, str] = field(default_factory=dict)
    files: list[SavedFile] = field(default_factory=list)

    @property
    def size(self) -> int:
        """Bytes of all its files."""
        return sum(each.size for each in self.files)

    def to_json(self) -> bytes:
        values = {"format": FORMAT, **asdict(self)}
        return json.dumps({**values, "seal": _seal(values)}, indent=1).encode()


@dataclass(frozen=True, slots=True)
class Restore:
    """What a job begins with at its first start, or at the first of one of its versions."""

    path: str
    claim_mode: str = ClaimMode.NO_CLAIM.value
    #: Go on though state in it belongs to no operator of the program; that state is lost.
    allow_non_restored_state: bool = False
    #: A second job beside the first: its transactions have names of their own.
    beside: bool = False
    #: Directory of checkpoints that began with the same savepoint, in whose place this start goes
    #: on: of a version that did not start. Where the job has the checkpoint that the savepoint is
    #: of, it goes on from that.
    instead_of: str = ""

    @classmethod
    def of(cls, values: dict[str, Any]) -> Restore | None:
        """None for an empty dict."""
        return cls(**values) if values else None


def locate(text: str) -> Path:
    """The directory that a path or file: URL names, or whose manifest it names. Raises
    BadSavepoint."""
    parsed = urlparse(text)
    if parsed.scheme not in ("", "file") or parsed.netloc not in ("", "localhost"):
        raise BadSavepoint(f"{text!r} is no path and no file: URL of this machine's file systems")
    path = Path(unquote(parsed.path) if parsed.scheme else text)
    if not path.is_absolute():
        raise BadSavepoint(f"{text!r} is no absolute path")
    return path.parent if path.name in (MANIFEST, FLINK_MANIFEST) else path


def read(directory: Path) -> Manifest:
    """The manifest, whole and of a known format. Raises BadSavepoint."""
    try:
        values = json.loads((directory / MANIFEST).read_bytes())
    except (FileNotFoundError, NotADirectoryError):
        raise BadSavepoint(f"there is no savepoint at {directory}: it has no {MANIFEST}") from None
    except (ValueError, OSError) as error:
        raise _damaged(directory, f"{MANIFEST}: {error}") from None
    return _manifest(values, directory)


def verify(directory: Path, *, content: bool = True) -> Manifest:
    """As `read`, and every file is there with its size and, if `content`, its checksum. Raises
    BadSavepoint with what is wrong first."""
    manifest = read(directory)
    for each in manifest.files:
        path = directory / each.path
        if not path.is_file():
            raise _damaged(directory, f"{each.path} is missing")
        size = path.stat().st_size
        if size != each.size:
            raise _damaged(directory, f"{each.path} has {size} bytes and should have {each.size}")
        if content and file_hash(path) != each.sha256:
            raise _damaged(directory, f"{each.path} has another content than was saved")
    return manifest


def copy_hashed(
    source: Path, target: Path, going_on: Callable[[], None] = lambda: None
) -> tuple[int, str]:
    """Copy one file durably; the size and the hash of what was read. `going_on` is called again and
    again meanwhile, and raises what ends it."""
    target.parent.mkdir(parents=True, exist_ok=True)
    digest, size = hashlib.sha256(), 0
    with source.open("rb") as reading, create_like(source, target) as writing:
        while block := reading.read(_BLOCK):
            going_on()
            digest.update(block)
            writing.write(block)
            size += len(block)
        writing.flush()
        os.fsync(writing.fileno())
    return size, digest.hexdigest()


def create_like(source: Path, target: Path) -> BinaryIO:
    """Open a new file that nobody can read who cannot read `source`: what a job signs in with can
    be in it."""
    mode = stat.S_IMODE(source.stat().st_mode)
    return os.fdopen(os.open(target, os.O_WRONLY | os.O_CREAT | os.O_EXCL, mode), "wb")


def copy_verified(source: Path, target: Path, expected: SavedFile) -> None:
    """Copy one file of a savepoint. Raises BadSavepoint when it is not what was saved."""
    if copy_hashed(source, target) != (expected.size, expected.sha256):
        raise BadSavepoint(
            f"{source} is damaged: it has another content than was saved. Nothing was started "
            "from the savepoint; restore the directory from a copy, or take another one"
        )


def partial(directory: Path, job_id: str, savepoint_id: str) -> Path:
    """Where it is while it is made; what a driver that was killed leaves."""
    return directory / f".{job_id}-{savepoint_id}.partial"


def write_manifest(directory: Path, manifest: Manifest) -> None:
    """The last file of a savepoint."""
    rundir.write_atomically(directory / MANIFEST, manifest.to_json())


def dispose(directory: Path, savepoint_id: str) -> bool:
    """Remove the savepoint; False when there is none at that place. What is no savepoint, or
    another one, is left alone: raises BadSavepoint. So is what others have put beside it, and the
    directory with that: see `left_beside`.

    The manifest goes first, so that a removal that is cut short leaves nothing to restore from;
    what it leaves, the next call removes."""
    marker = directory / f".{savepoint_id}"
    if not directory.exists():
        return False
    if (directory / MANIFEST).exists():
        found = read(directory).savepoint_id
        if found != savepoint_id:
            raise BadSavepoint(f"another savepoint, {found}, is at {directory}; it is left alone")
        marker.touch()
        (directory / MANIFEST).unlink()
    elif not marker.exists():
        raise BadSavepoint(f"{directory} is no savepoint; it is left alone")
    shutil.rmtree(directory / CONTENT, ignore_errors=True)
    if (directory / CONTENT).exists():
        shutil.rmtree(directory / CONTENT)  # again, to say what is in the way
    marker.unlink(missing_ok=True)
    with contextlib.suppress(OSError):
        directory.rmdir()
    return True


def left_beside(directory: Path) -> str:
    """The savepoint was removed: why its directory was not; empty when it was."""
    if not directory.exists():
        return ""
    return f"{directory} is left: it holds files that are not of the savepoint"


def file_hash(path: Path) -> str:
    with path.open("rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()


def _manifest(values: Any, directory: Path) -> Manifest:
    if not isinstance(values, dict) or "format" not in values or "seal" not in values:
        raise BadSavepoint(f"{directory / MANIFEST} is no manifest of a savepoint of Headrace")
    if values["format"] != FORMAT:
        raise BadSavepoint(
            f"the savepoint at {directory} has format {values['format']!r}, and this Headrace "
            f"reads format {FORMAT}: use the version that wrote it"
        )
    if values.pop("seal") != _seal(values):
        raise _damaged(directory, f"{MANIFEST} was changed after it was written")
    try:
        known = {each.name for each in fields(Manifest)}
        kept = {name: value for name, value in values.items() if name in known}
        kept["files"] = [SavedFile(**each) for each in kept["files"]]
        manifest = Manifest(**kept)
    except (TypeError, KeyError) as error:
        raise _damaged(directory, f"{MANIFEST}: {error}") from None
    for each in manifest.files:
        parts = PurePosixPath(each.path).parts
        if parts[:1] != (CONTENT,) or ".." in parts:
            raise _damaged(directory, f"{MANIFEST} names {each.path!r}, which is outside of it")
    return manifest


def _seal(values: dict[str, Any]) -> str:
    canonical = json.dumps(values, sort_keys=True, separators=(",", ":")).encode()
    return hashlib.sha256(canonical).hexdigest()


def _damaged(directory: Path, what: str) -> BadSavepoint:
    return BadSavepoint(
        f"the savepoint at {directory} is damaged: {what}. Nothing was started from it; restore "
        "the directory from a copy, or take another savepoint"
    )
