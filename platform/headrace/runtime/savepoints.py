"""Savepoints are taken from a job's checkpoint, between two of its batches, and become the
checkpoint of a job that goes on from them.

A savepoint is taken in two steps, so that the job does not wait for the copy. Between two batches
the files that belong to the newest one get a second name (hard links, milliseconds): Spark may
remove old files while they are copied. Then they are copied, hashed and made durable under a hidden
name, which is changed at the end: who sees a savepoint sees all of it.
"""

from __future__ import annotations

import contextlib
import json
import os
import secrets
import shutil
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from importlib.metadata import version
from pathlib import Path
from typing import Any

from headrace.connectors.twophase import files
from headrace.connectors.twophase.manifest import ManifestStore
from headrace.connectors.twophase.ownership import JOB, OwnerStore
from headrace.runtime import checkpoint_files, state_identity
from headrace.runtime.spark_offsets import SparkOffsets
from headrace.wire import rundir, savepoint
from headrace.wire.commands import SavepointOptions
from headrace.wire.savepoint import BadSavepoint, ClaimMode, Manifest, Restore, SavedFile

#: In the checkpoint's own folder, so that links to its files are possible.
_LINKS = "savepoint-links-"
#: In a checkpoint: which savepoint it began with.
RESTORED = Path("headrace") / "restored.json"


class Superseded(Exception):
    """Another version has gone on from the savepoint, and readers see what it wrote; nothing was
    started. `args[0]` says so."""


class SavepointFailed(Exception):
    """No savepoint was made, and the job is as it was. `args[0]` says why."""


@dataclass(frozen=True, slots=True)
class Origin:
    """The job that a savepoint is taken of."""

    job_id: str
    job_name: str
    entry: Path
    checkpoint_dir: Path
    #: Exactly-once sinks: name -> what the names of its transactions begin with.
    sinks: dict[str, str]


class Held:
    """A batch whose files cannot go away."""

    def __init__(self, origin: Origin, batch: int, links: Path) -> None:
        self.origin = origin
        self.batch = batch
        self._links = links

    @classmethod
    def hold(cls, origin: Origin, batch: int) -> Held | None:
        """`batch` is the one that the runtime's own files are of; None when it is no longer the
        newest that was completed. Raises IncompleteCheckpoint, OSError."""
        offsets = SparkOffsets(origin.checkpoint_dir / checkpoint_files.SPARK)
        links = origin.checkpoint_dir / f".{_LINKS}{secrets.token_hex(4)}"
        held = cls(origin, batch, links)
        try:
            for path in checkpoint_files.of_runtime(origin.checkpoint_dir):
                _keep(path, links / path.relative_to(origin.checkpoint_dir))
            if offsets.completed != batch:
                held.release()
                return None
            for path in checkpoint_files.of_spark(origin.checkpoint_dir, batch):
                _link(path, links / path.relative_to(origin.checkpoint_dir))
        except FileNotFoundError as error:
            held.release()
            raise checkpoint_files.IncompleteCheckpoint(str(error)) from error
        except BaseException:
            held.release()
            raise
        return held

    def release(self) -> None:
        shutil.rmtree(self._links, ignore_errors=True)

    def save(
        self, wish: SavepointOptions, given_up: Callable[[], str] = lambda: ""
    ) -> tuple[Path, Manifest]:
        """Copy the files; the savepoint's directory. `given_up`: why it is not wanted any more,
        asked all the time. Raises SavepointFailed; nothing of it is left then."""

        def going_on() -> None:
            if why := given_up():
                raise SavepointFailed(why)

        directory = Path(wish.directory)
        final = directory / wish.name
        try:
            if final.exists():
                raise SavepointFailed(f"{final} exists already")
            with _made(
                savepoint.partial(directory, self.origin.job_id, wish.savepoint_id)
            ) as hidden:
                hidden.chmod(0o700)
                self._name_place(final / savepoint.CONTENT)
                manifest = self._manifest(wish, list(self._copied(hidden, going_on)))
                savepoint.write_manifest(hidden, manifest)
                files.sync_tree(hidden)
                going_on()
                hidden.rename(final)
            files.sync_directory(directory)
        except OSError as error:
            raise SavepointFailed(
                f"the savepoint could not be written to {final}: {error}; nothing of it is left"
            ) from error
        return final, manifest

    def _name_place(self, checkpoint_dir: Path) -> None:
        """So that the state in the savepoint can be read, the files that name places name this."""
        for path in self._links.glob(f"{checkpoint_files.SPARK}/state/*/_metadata/**/*"):
            if path.is_file():
                content = path.read_bytes()
                path.unlink()  # a link to the job's own
                name = path.relative_to(self._links).as_posix()
                path.write_bytes(checkpoint_files.moved(name, content, checkpoint_dir))

    def _copied(self, directory: Path, going_on: Callable[[], None]) -> Iterator[SavedFile]:
        for source in sorted(path for path in self._links.rglob("*") if path.is_file()):
            name = source.relative_to(self._links)
            copy = directory / savepoint.CONTENT / name
            size, digest = savepoint.copy_hashed(source, copy, going_on)
            yield SavedFile(f"{savepoint.CONTENT}/{name.as_posix()}", size, digest)

    def _manifest(self, wish: SavepointOptions, saved: list[SavedFile]) -> Manifest:
        origin = self.origin
        program = json.loads((self._links / "headrace" / "program.json").read_bytes())
        offsets = SparkOffsets(self._links / checkpoint_files.SPARK)
        return Manifest(
            savepoint_id=wish.savepoint_id,
            job_id=origin.job_id,
            job_name=origin.job_name,
            artifact_sha256=savepoint.file_hash(origin.entry) if origin.entry.is_file() else "",
            entry_name=origin.entry.name,
            batch=self.batch,
            checkpoint_id=self.batch + 1,
            parallelism=program["parallelism"],
            max_parallelism=program["max_parallelism"],
            operators=program["operators"],
            layout=program.get("layout", state_identity.LAYOUT),
            offsets=offsets.ends(self.batch),
            sinks=origin.sinks,
            transactions=_transactions(origin.checkpoint_dir, self.batch),
            drained=wish.drain,
            created_at=int(time.time() * 1000),
            created_by=wish.by,
            reason=wish.reason,
            versions={"pyspark": version("pyspark")},
            files=saved,
        )


def remove_links(checkpoint_dir: Path) -> None:
    """What a driver has left that died while it saved."""
    for links in checkpoint_dir.glob(f".{_LINKS}*"):
        shutil.rmtree(links, ignore_errors=True)


def restore(wish: Restore, checkpoint_dir: Path) -> Manifest | None:
    """Make the savepoint the job's checkpoint, at its first start only: None when it was done
    before, or when the job goes on from its own. Every file is verified. Raises BadSavepoint,
    Superseded, and OSError where the disk is full; `checkpoint_dir` is there whole or not at all.
    """
    own = any(checkpoint_dir.iterdir() if checkpoint_dir.exists() else ())
    if wish.instead_of:
        _replace(Path(wish.instead_of))
        if own:
            OwnerStore(checkpoint_dir).forget_recovered()
            return None
    if (checkpoint_dir / RESTORED).exists():
        return None
    if own:
        raise BadSavepoint(
            f"the job has a checkpoint of its own at {checkpoint_dir}; a savepoint is for a job's "
            "first start. Submit it as a new job"
        )
    directory = savepoint.locate(wish.path)
    manifest = savepoint.verify(directory)
    if manifest.drained:
        raise BadSavepoint(
            f"the savepoint at {directory} was taken when its job was drained: its windows and "
            "timers have fired, and event time is at its end, so whatever came would be late. "
            "Take one without drain to go on from"
        )
    with _made(_partial(checkpoint_dir, secrets.token_hex(4))) as hidden:
        for each in manifest.files:
            name = each.path.removeprefix(f"{savepoint.CONTENT}/")
            savepoint.copy_verified(directory / each.path, hidden / name, each)
            _adapt(hidden / name, name, checkpoint_dir)
        if wish.beside:
            name_anew(hidden)
        note = {"path": str(directory), "savepoint_id": manifest.savepoint_id}
        note["claim_mode"] = ClaimMode(wish.claim_mode).value
        rundir.write_atomically(hidden / RESTORED, json.dumps(note).encode())
        files.sync_tree(hidden)
        if checkpoint_dir.exists():
            checkpoint_dir.rmdir()
        hidden.rename(checkpoint_dir)
    for left in checkpoint_dir.parent.glob(_partial(checkpoint_dir, "?" * 8).name):
        shutil.rmtree(left, ignore_errors=True)  # of drivers that died, or come too late
    files.sync_directory(checkpoint_dir.parent)
    return manifest


def _partial(checkpoint_dir: Path, token: str) -> Path:
    """Where one driver puts it together: another, given up on its machine, may do the same."""
    return checkpoint_dir.with_name(f".{checkpoint_dir.name}-{token}.partial")


def name_anew(checkpoint_dir: Path) -> None:
    """Make it another job's: its transactions have names of their own from now on, also those
    whose prefix the program gives."""
    name = secrets.token_hex(4)
    content = json.dumps({"job": name, "suffix": f"-{name}"})
    rundir.write_atomically(checkpoint_dir / JOB, content.encode())


def claimed(checkpoint_dir: Path) -> tuple[Path, str] | None:
    """The savepoint that the job owns since it began with it, and its id; None: none."""
    with contextlib.suppress(FileNotFoundError, ValueError):
        note: dict[str, Any] = json.loads((checkpoint_dir / RESTORED).read_bytes())
        if note["claim_mode"] == ClaimMode.CLAIM:
            return Path(note["path"]), str(note["savepoint_id"])
    return None


def unclaim(checkpoint_dir: Path) -> None:
    """The savepoint is gone."""
    note = json.loads((checkpoint_dir / RESTORED).read_bytes())
    note["claim_mode"] = ClaimMode.NO_CLAIM.value
    rundir.write_atomically(checkpoint_dir / RESTORED, json.dumps(note).encode())


def _replace(other: Path) -> None:
    """Shut out what runs there or has yet to begin, also one that still copies the savepoint (its
    directory is not empty any more); then look whether it has committed. Raises Superseded."""
    owners = OwnerStore(other)
    owners.close()
    if ManifestStore(other).has_output():
        owners.open_again()
        raise Superseded(
            "a later version of the job began with the same savepoint and has committed output, "
            f"which would be written again; its checkpoints are at {other}"
        )


def _adapt(path: Path, name: str, checkpoint_dir: Path) -> None:
    """What names its own place names the new one."""
    content = path.read_bytes() if "/_metadata/" in name else b""
    if (changed := checkpoint_files.moved(name, content, checkpoint_dir)) != content:
        rundir.write_atomically(path, changed)


def _transactions(checkpoint_dir: Path, batch: int) -> list[str]:
    """Names of those that made the batch's output visible."""
    names: list[str] = []
    manifests, number = ManifestStore(checkpoint_dir), 0
    while (found := manifests.read(batch, number)) is not None:
        names += [str(each.name or each.handle) for each in found.prepared]
        number += 1
    return sorted(names)


def _keep(path: Path, copy: Path) -> None:
    """A file that is written anew under its name, as it is now."""
    copy.parent.mkdir(parents=True, exist_ok=True)
    with savepoint.create_like(path, copy) as writing:
        writing.write(path.read_bytes())


def _link(path: Path, link: Path) -> None:
    link.parent.mkdir(parents=True, exist_ok=True)
    try:
        os.link(path, link)
    except FileNotFoundError:
        raise
    except OSError:  # a file system without links
        _keep(path, link)


@contextmanager
def _made(hidden: Path) -> Iterator[Path]:
    """A hidden directory, to be renamed within the block; else it is removed. One that was left by
    a driver that died is replaced."""
    shutil.rmtree(hidden, ignore_errors=True)
    files.make_directory(hidden)
    try:
        yield hidden
    finally:
        shutil.rmtree(hidden, ignore_errors=True)
