"""What is wrong with a script."""

from __future__ import annotations


class SqlError(Exception):
    """The script is not run, or not further; nothing was written by the statement at fault.

    `line` counts from 1; 0: of no line in particular."""

    def __init__(self, message: str, line: int = 0) -> None:
        super().__init__(f"line {line}: {message}" if line else message)
        self.line = line
