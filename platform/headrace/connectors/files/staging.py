"""Where the files of a transaction are until it is committed, and how they become visible.

    <base>/.headrace/<root>/ledger                 which staging this is
    <base>/.headrace/<root>/claim                  which job uses it
    <base>/.headrace/<root>/<name>/0 1 2 ...       a transaction, open or prepared
    <base>/.headrace/<root>/<name>.commit/         being committed: its files are moved one by one
    <base>/.headrace/<root>/<name>.abort/          being aborted
    <base>/.headrace/<root>/<name>.done/           committed; kept until a later batch is

Renaming the folder of a transaction decides between commit and abort: it happens once, whoever
tries. So a transaction is published in the end or never, and each state can be told from a look
at the folder, also after the published files were moved away by their readers.
"""

from __future__ import annotations

import contextlib
import json
import secrets
import shutil
from collections.abc import Iterable
from pathlib import Path

from headrace.connectors.twophase import errors, names
from headrace.connectors.twophase.files import (
    create_exclusively,
    make_directory,
    replace_at_once,
    sync_directory,
)

HIDDEN = ".headrace"
LEDGER = "ledger"
CLAIM = "claim"
COMMIT, ABORT, DONE = ".commit", ".abort", ".done"


class Staging:
    """The transactions of one sink. Any number of processes may use it at once."""

    def __init__(self, base: Path, root: str) -> None:
        self._base = base
        self._root = root
        self.directory = base / HIDDEN / root

    def prepare(self) -> None:
        """Make it, if it is not there, and remove what aborts that died left."""
        make_directory(self.directory)
        with contextlib.suppress(FileExistsError):
            name = json.dumps({"ledger": secrets.token_hex(8)}).encode()
            create_exclusively(self.directory / LEDGER, name)
        for each in self.directory.glob(f"*{ABORT}"):
            shutil.rmtree(each, ignore_errors=True)

    def ledger(self) -> str:
        """Name of this staging; another one has another name."""
        return str(json.loads((self.directory / LEDGER).read_bytes())["ledger"])

    def begin(self, name: str) -> Path:
        """The empty folder of a transaction. Raises `WriteFailed` where the base path is not the
        driver's."""
        folder = self.directory / name
        try:
            folder.mkdir()
        except FileNotFoundError:
            raise errors.WriteFailed(
                f"{self.directory} is not here: tasks and driver have to share {self._base}"
            ) from None
        return folder

    def sync(self, name: str) -> None:
        """Make the transaction's file names durable; the files were synced by who wrote them."""
        sync_directory(self.directory / name)
        sync_directory(self.directory)

    def publish(self, name: str, files: Iterable[tuple[str, str]], ledger: str) -> None:
        """Move every (hidden name, path below the base) to where readers see it. Durable when it
        returns. Raises `TransactionLost`, `OutcomeUnknown`, `CommitRefused`, OSError."""
        claimed = self.directory / f"{name}{COMMIT}"
        if not self._claim(name, claimed, ledger):
            return
        folders = {self._publish_one(claimed / hidden, self._base / path) for hidden, path in files}
        for folder in folders:
            sync_directory(folder)
        with contextlib.suppress(FileNotFoundError):
            claimed.rename(self.directory / f"{name}{DONE}")

    def abort(self, name: str) -> None:
        """Nothing of the transaction will be published; one that is being published is left."""
        doomed = self.directory / f"{name}{ABORT}"
        with contextlib.suppress(FileNotFoundError):
            (self.directory / name).rename(doomed)
        shutil.rmtree(doomed, ignore_errors=True)

    def open_names(self) -> list[str]:
        """Transactions that nobody has begun to publish or abort."""
        if not self.directory.is_dir():
            return []
        found = (each.name for each in self.directory.iterdir())
        return [each for each in found if names.parse(self._root, each)]

    def forget_before(self, batch_id: int) -> None:
        """Committed transactions of earlier batches: nobody will ask about them again."""
        for each in self.directory.glob(f"*{DONE}"):
            parsed = names.parse(self._root, each.name.removesuffix(DONE))
            if parsed is not None and parsed.batch_id < batch_id:
                shutil.rmtree(each, ignore_errors=True)

    def _claim(self, name: str, claimed: Path, ledger: str) -> bool:
        """Decide for the commit; False if there is nothing left to do."""
        try:
            (self.directory / name).rename(claimed)
            return True
        except FileNotFoundError:
            if (self.directory / f"{name}{DONE}").exists():
                return False
            if claimed.exists():
                return True  # a commit died on its way
            if not self.directory.exists() or self.ledger() != ledger:
                raise errors.OutcomeUnknown(
                    f"{name}: {self.directory} is not the one it was prepared in"
                ) from None
            raise errors.TransactionLost(f"{name} in {self.directory}") from None

    def _publish_one(self, hidden: Path, target: Path) -> Path:
        """The folder of the file that is now visible."""
        if not hidden.exists():
            return target.parent  # moved before
        if target.exists() and hidden.exists():
            raise errors.CommitRefused(f"{target} exists already, and is not of this transaction")
        self._make_folder(target.parent)
        with contextlib.suppress(FileNotFoundError):  # another process was faster
            hidden.rename(target)
        return target.parent

    def _make_folder(self, folder: Path) -> None:
        if not folder.is_dir():
            self._make_folder(folder.parent)
            folder.mkdir(exist_ok=True)
            sync_directory(folder.parent)


class ClaimFile:
    """Contract: `twophase.sink.ClaimPlace`."""

    def __init__(self, staging: Staging) -> None:
        self._path = staging.directory / CLAIM

    @property
    def described(self) -> str:
        return f"file {self._path}"

    def read(self) -> str | None:
        with contextlib.suppress(FileNotFoundError):
            return self._path.read_text("utf-8")
        return None

    def write(self, claim: str) -> None:
        replace_at_once(self._path, claim.encode())
