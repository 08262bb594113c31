"""JDBC's SQL, with `?` for each value, in the two ways that PostgreSQL takes many rows."""

from __future__ import annotations

import re
from dataclasses import dataclass

from headrace.connectors.twophase import errors

#: Strings, quoted names, comments and dollar quotes are passed over; what is left may be a `?`.
_PIECES = re.compile(
    r"""'(?:[^']|'')*'|"(?:[^"]|"")*"|--[^\n]*|/\*.*?\*/|(\$\w*\$).*?\1|\?|%""", re.DOTALL
)
_NAME = r"""(?:[A-Za-z_][\w$]*|"(?:[^"]|"")+")"""
_PLAIN_INSERT = re.compile(
    rf"""\s*INSERT\s+INTO\s+(?P<table>{_NAME}(?:\.{_NAME})?)\s*
    (?:\((?P<columns>\s*{_NAME}(?:\s*,\s*{_NAME})*\s*)\))?\s*
    VALUES\s*\((?P<values>\s*\?(?:\s*,\s*\?)*\s*)\)\s*;?\s*""",
    re.IGNORECASE | re.VERBOSE,
)


@dataclass(frozen=True)
class Statement:
    """`sql` has psycopg's placeholders. `copy` does the same as COPY, if it is a plain INSERT."""

    sql: str
    parameters: int
    copy: str | None

    @classmethod
    def parse(cls, sql: str) -> Statement:
        """Raises `InvalidSettings` for a statement without parameters."""
        count = 0

        def piece(match: re.Match[str]) -> str:
            nonlocal count
            if match[0] == "?":
                count += 1
                return "%s"
            return match[0].replace("%", "%%")

        translated = _PIECES.sub(piece, sql)
        if not count:
            raise errors.InvalidSettings("the statement of a database sink has no ? for a value")
        return cls(translated, count, _copy(sql))


def _copy(sql: str) -> str | None:
    match = _PLAIN_INSERT.fullmatch(sql)
    if match is None:
        return None
    columns = f" ({match['columns'].strip()})" if match["columns"] else ""
    return f"COPY {match['table']}{columns} FROM STDIN"
