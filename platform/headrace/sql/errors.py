"""What is wrong with a script."""

from __future__ import annotations

import re


class SqlError(Exception):
    """The script is not run, or not further; nothing was written by the statement at fault.

    `line` counts from 1; 0: of no line in particular."""

    def __init__(self, message: str, line: int = 0) -> None:
        super().__init__(f"line {line}: {message}" if line else message)
        self.line = line


def reason(error: Exception) -> str:
    """Spark's words without the plan that follows them, and without its line."""
    text = str(error).split(";\n", 1)[0].split("\n\nJVM stacktrace", 1)[0].strip()
    first = text.splitlines()[0] if text else type(error).__name__
    return re.sub(r";? line \d+,? pos \d+$", "", first)  # of its own text, not of the script's
