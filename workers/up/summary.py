"""The last thing `up` prints: what runs where, and how to get in."""

from __future__ import annotations

from collections.abc import Iterable


def table(rows: Iterable[tuple[str, str, str]], indent: str = "  ") -> str:
    """Rows of three columns, aligned; empty cells stay empty."""
    rows = list(rows)
    widths = [max((len(row[column]) for row in rows), default=0) for column in range(2)]
    return "\n".join(
        f"{indent}{row[0]:<{widths[0]}}  {row[1]:<{widths[1]}}  {row[2]}".rstrip() for row in rows
    )


def address(url: str) -> str:
    """A server's URL without user and password."""
    scheme, _, rest = url.rpartition("://")
    host = rest.rpartition("@")[2]
    return f"{scheme}://{host}" if scheme else host


def boxed(lines: list[str]) -> str:
    """The lines between two rules as wide as the longest."""
    text = "\n".join(lines)
    rule = "─" * max(map(len, text.splitlines()))
    return f"{rule}\n{text}\n{rule}"
