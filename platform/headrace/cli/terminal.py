"""What people read goes to stderr, results go to stdout."""

from __future__ import annotations

import json
import sys
import time
from collections.abc import Mapping
from typing import Any


class Terminal:
    """One line of progress is kept up to date on a terminal; elsewhere it is a line now and then.

    With `--json` the results are one JSON document."""

    PROGRESS_SECONDS = 30.0

    def __init__(self, as_json: bool = False) -> None:
        self.as_json = as_json
        self._live = sys.stderr.isatty()
        self._shown = 0
        self._told = time.monotonic()

    def say(self, line: str) -> None:
        """Something happened."""
        self._wipe()
        print(line, file=sys.stderr, flush=True)

    def progress(self, line: str) -> None:
        """How far it is."""
        if self._live:
            self._wipe()
            print(line[:120], end="", file=sys.stderr, flush=True)
            self._shown = len(line[:120])
        elif time.monotonic() - self._told > self.PROGRESS_SECONDS:
            self._told = time.monotonic()
            print(line, file=sys.stderr, flush=True)

    def result(self, text: str, values: Mapping[str, Any]) -> None:
        """What the command was for, in words or as JSON."""
        self._wipe()
        print(json.dumps(values, indent=2) if self.as_json else text, flush=True)

    def line(self, text: str) -> None:
        """A further line of a result in words; nothing with `--json`."""
        if not self.as_json:
            self._wipe()
            print(text, flush=True)

    def _wipe(self) -> None:
        if self._shown:
            print("\r" + " " * self._shown + "\r", end="", file=sys.stderr, flush=True)
            self._shown = 0
