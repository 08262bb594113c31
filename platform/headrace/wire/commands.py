"""What the control plane asks of a running driver: one file per command in the run directory.

The driver picks commands up between micro-batches, in order of their names, and answers each
with a `CommandDone` event of the same `command_id`.
"""

from __future__ import annotations

import json
import time
from collections.abc import Iterator
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Any, Literal

from headrace.wire import rundir

#: `unreadable` is what a damaged file is read as; no driver carries it out.
Verb = Literal["cancel", "suspend", "savepoint", "checkpoint", "unreadable"]


@dataclass(frozen=True, slots=True)
class Command:
    """`cancel` ends the job; `suspend` ends the attempt between two batches, to be continued;
    `savepoint` takes one, with `options` as of `SavepointOptions`, and may end the job with it;
    `checkpoint` has a batch run at once, as of `CheckpointOptions`, and is answered when that is
    committed, with its `checkpoint_id`."""

    command_id: str
    verb: Verb
    options: dict[str, Any] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class SavepointOptions:
    """`name` is the new directory's within `directory`. `then`: how the job ends with it,
    "finished" or "canceled"; "": it runs on. `drain`: all windows and timers fire before."""

    savepoint_id: str
    directory: str
    name: str
    by: str = ""
    reason: str = ""
    then: Literal["", "finished", "canceled"] = ""
    drain: bool = False
    timeout_ms: int = 600_000


@dataclass(frozen=True, slots=True)
class CheckpointOptions:
    timeout_ms: int = 600_000


def send(run_dir: Path, command: Command) -> None:
    """Put a command down; a second send of the same id replaces the first."""
    name = f"{int(time.time() * 1000):015d}-{command.command_id}.json"
    for old in (run_dir / rundir.COMMANDS).glob(f"*-{command.command_id}.json"):
        name = old.name
    rundir.write_atomically(run_dir / rundir.COMMANDS / name, json.dumps(asdict(command)).encode())


def pending(run_dir: Path) -> Iterator[tuple[Path, Command]]:
    """Commands not carried out yet, oldest first, each with the file to remove when done."""
    for path in sorted((run_dir / rundir.COMMANDS).glob("*.json")):
        yield path, _read(path)


def _read(path: Path) -> Command:
    """An unreadable file becomes a command that no driver knows, to be answered with an error."""
    try:
        values = json.loads(path.read_text())
        return Command(values["command_id"], values["verb"], values.get("options", {}))
    except (ValueError, KeyError, TypeError, AttributeError):
        return Command(path.stem.partition("-")[2], "unreadable")
