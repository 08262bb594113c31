"""Which statements were made, and how the database goes about each of them."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from typing import Any

from django.db import connection

Statement = tuple[str, Any]

_WORDS = ("SELECT", "UPDATE", "DELETE", "INSERT")


@contextmanager
def recorded() -> Iterator[list[Statement]]:
    """The statements of this thread that read or write rows, in order."""
    found: list[Statement] = []

    def note(
        execute: Callable[..., Any], sql: str, parameters: Any, many: bool, context: Any
    ) -> Any:
        if sql.startswith(_WORDS):
            found.append((sql, parameters))
        return execute(sql, parameters, many, context)

    with connection.execute_wrapper(note):
        yield found


def read_whole(statements: Iterable[Statement], tables: Iterable[str]) -> set[str]:
    """Those that go through one of the tables, or an index of it, from end to end."""
    return {sql for sql, parameters in statements if _scanned(sql, parameters) & set(tables)}


def _scanned(sql: str, parameters: Any) -> set[str]:
    """SQLite says SEARCH where it looks something up in an index, SCAN where it reads all."""
    with connection.cursor() as cursor:
        cursor.execute(f"EXPLAIN QUERY PLAN {sql}", parameters)
        steps = [row[3] for row in cursor.fetchall()]
    names = {m[1] for step in steps if (m := re.match(r"SCAN (?:TABLE )?(\w+)", step))}
    aliases = {alias: table for table, alias in re.findall(r'"(\w+)" (?:AS )?"?([UVWT]\d+)\b', sql)}
    return {aliases.get(name, name) for name in names}
