"""Which INSERTs of a script, of those that are no streams, were done by earlier attempts.

They have no checkpoint: a job that starts again would write their rows once more.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Mapping

from headrace.runtime.context import RunContext
from headrace.sql.statements import Insert
from headrace.wire import rundir


class Done:
    """Beside the job's checkpoints; of a script that nobody launched nothing is kept."""

    def __init__(self, context: RunContext | None) -> None:
        folder = context.checkpoint_dir / "headrace" if context is not None else None
        self._path = folder / "inserts.json" if folder is not None else None
        kept = self._path is not None and self._path.exists()
        self._known: list[str] = json.loads(self._path.read_text()) if kept and self._path else []

    def __contains__(self, identity: str) -> bool:
        return identity in self._known

    def add(self, identity: str) -> None:
        self._known.append(identity)
        if self._path is not None:
            self._path.parent.mkdir(parents=True, exist_ok=True)
            rundir.write_atomically(self._path, json.dumps(self._known).encode())


def identity(name: str, insert: Insert, options: Mapping[str, str]) -> str:
    """Of an INSERT and its table as they are written: one that has been changed is another, and is
    done."""
    said = json.dumps([insert.columns, insert.query.source(), sorted(options.items())])
    return f"{name} {hashlib.sha256(said.encode()).hexdigest()}"
