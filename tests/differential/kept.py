"""Results of earlier runs: those of PyFlink need not be made again, as nothing here changes them.

They are in PyFlink's environment, and go with it."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterable, Iterator
from dataclasses import asdict
from pathlib import Path

from tests.differential import environment
from tests.differential.programs import Run
from tests.differential.sides import Result

FOLDER = environment.HERE / "results"


class Kept:
    """Of one side; a result is of a program's text and of how it was run."""

    def __init__(self, side: str, folder: Path = FOLDER) -> None:
        self._folder = folder / side

    def get(self, run: Run) -> Result | None:
        path = self._path(run)
        if not path.exists():
            return None
        kept = json.loads(path.read_text())
        return Result(tuple(kept["lines"]), kept["error"])

    def keep(self, runs: Iterable[Run], results: Iterable[Result]) -> Iterator[Result]:
        """The results, kept as they come."""
        for run, result in zip(runs, results, strict=True):
            self._folder.mkdir(parents=True, exist_ok=True)
            self._path(run).write_text(json.dumps(asdict(result)))
            yield result

    def _path(self, run: Run) -> Path:
        text = f"{run.path.read_text()}\n{run.pace} {run.parallelism}"
        digest = hashlib.sha256(text.encode()).hexdigest()[:16]
        return self._folder / f"{run.program}-{run.pace}-{run.parallelism}-{digest}.json"
