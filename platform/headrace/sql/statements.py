"""What a script says: one dataclass for each kind of statement."""

from __future__ import annotations

import dataclasses
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field

from headrace.sql import tables
from headrace.sql.errors import SqlError
from headrace.sql.tables import Table
from headrace.sql.tokens import Piece, cut


@dataclass(frozen=True)
class Set:
    """`value` None: RESET."""

    key: str
    value: str | None


@dataclass(frozen=True)
class CreateTable:
    table: Table
    if_not_exists: bool = False


@dataclass(frozen=True)
class CreateView:
    name: str
    columns: list[str]
    query: Piece
    if_not_exists: bool = False
    replace: bool = False


@dataclass(frozen=True)
class Drop:
    kind: str
    name: str
    if_exists: bool


@dataclass(frozen=True)
class Insert:
    table: str
    query: Piece
    columns: list[str] = field(default_factory=list)
    overwrite: bool = False


Statement = Set | CreateTable | CreateView | Drop | Insert

#: First words of what Flink's SQL client knows beyond, and why it is not run here.
_REFUSED = {
    "SELECT": "nobody would see its result; write INSERT INTO a table with it, for one with "
    "'connector' = 'print'",
    "WITH": "nobody would see its result; write INSERT INTO a table with it",
    "UPDATE": "streams are appended to; nothing can be updated in them",
    "DELETE": "streams are appended to; nothing can be deleted in them",
    "EXPLAIN": "a dry run of the job shows its plan",
    "SHOW": "a script runs by itself, nobody would see the answer",
    "DESCRIBE": "a script runs by itself, nobody would see the answer",
    "DESC": "a script runs by itself, nobody would see the answer",
    "USE": "there is one catalog with one database; leave it out",
    "ALTER": "tables are as their CREATE TABLE says; change that",
    "ADD": "jars are set by the platform (HEADRACE_SPARK_JARS)",
    "CALL": "there are no procedures",
}


def parse(script: str) -> list[Statement]:
    """In their order; statements of a set as if they stood alone. Raises SqlError."""
    return list(_statements(cut(script)))


def _statements(pieces: Iterator[Piece]) -> Iterator[Statement]:
    inside: Piece | None = None
    for piece in pieces:
        if piece.words("EXECUTE", "STATEMENT", "SET", "BEGIN"):
            inside, piece = piece, piece[4:]
        elif piece.words("BEGIN", "STATEMENT", "SET"):
            inside, piece = piece, piece[3:]
        if inside is not None and piece.word(0) == "END":
            inside = None
            continue
        if not len(piece):
            continue
        if inside is not None and piece.word(0) != "INSERT":
            raise SqlError("a statement set holds INSERT INTO statements only", piece.line)
        yield _statement(piece)
    if inside is not None:
        raise SqlError("the statement set has no END", inside.line)


def _statement(piece: Piece) -> Statement:
    first = piece.word(0)
    read = _READ.get(first)
    if read is not None:
        return read(piece)
    if first in _REFUSED:
        raise SqlError(f"{first} is not run here: {_REFUSED[first]}", piece.line)
    raise SqlError(f"no statement of SQL begins with {piece.tokens[0].text!r}", piece.line)


def _set(piece: Piece) -> Statement:
    """SET 'key' = 'value', and without quotes."""
    parts = list(piece[1:].split("="))
    if len(parts) != 2 or not len(parts[0]) or not len(parts[1]):
        raise SqlError("SET takes a key and a value: SET 'key' = 'value'", piece.line)
    return Set(_plain(parts[0]), _plain(parts[1]))


def _reset(piece: Piece) -> Statement:
    return Set(_plain(piece[1:]), None)


def _plain(piece: Piece) -> str:
    if len(piece) == 1 and piece.is_text(0):
        return str(piece.tokens[0].text)
    return piece.source().strip()


def _create(piece: Piece) -> Statement:
    replace = piece.words("OR", "REPLACE", at=1)
    at = 3 if replace else 1
    if piece.word(at) == "TEMPORARY":
        at += 1
    kind = piece.word(at)
    exists = piece.words("IF", "NOT", "EXISTS", at=at + 1)
    begin = at + 4 if exists else at + 1
    if kind == "TABLE":
        return CreateTable(tables.parse(piece, begin), exists)
    if kind == "VIEW":
        return dataclasses.replace(_view(piece, begin), if_not_exists=exists, replace=replace)
    raise SqlError(
        f"CREATE {kind or 'what?'} is not run here: tables and views can be created", piece.line
    )


def _view(piece: Piece, at: int) -> CreateView:
    name, at = qualified(piece, at)
    columns: list[str] = []
    if piece.word(at) == "(":
        end = piece.closing(at)
        columns = [each.name(0, "a column") for each in piece[at + 1 : end].split()]
        at = end + 1
    if piece.word(at) == "COMMENT":
        at += 2
    if piece.word(at) != "AS":
        raise SqlError(f"CREATE VIEW {name} has no AS with a query", piece.line)
    return CreateView(name, columns, _query(piece[at + 1 :], f"view {name}"))


def _drop(piece: Piece) -> Statement:
    at = 2 if piece.word(1) == "TEMPORARY" else 1
    kind = piece.word(at)
    if kind not in ("TABLE", "VIEW"):
        raise SqlError("DROP is for a TABLE or a VIEW", piece.line)
    exists = piece.words("IF", "EXISTS", at=at + 1)
    name, _ = qualified(piece, at + 3 if exists else at + 1)
    return Drop(kind, name, exists)


def _insert(piece: Piece) -> Statement:
    overwrite = piece.word(1) == "OVERWRITE"
    if not overwrite and piece.word(1) != "INTO":
        raise SqlError("INSERT goes INTO a table", piece.line)
    name, at = qualified(piece, 3 if overwrite and piece.word(2) == "INTO" else 2)
    if piece.word(at) == "PARTITION":
        raise SqlError("INSERT with PARTITION is not known; select the column instead", piece.line)
    columns: list[str] = []
    if piece.word(at) == "(" and piece.word(at + 1) not in ("SELECT", "WITH", "VALUES"):
        end = piece.closing(at)
        columns = [each.name(0, "a column") for each in piece[at + 1 : end].split()]
        at = end + 1
    return Insert(name, _query(piece[at:], f"INSERT INTO {name}"), columns, overwrite)


def _query(piece: Piece, what: str) -> Piece:
    if piece.word(0) not in ("SELECT", "WITH", "VALUES", "("):
        raise SqlError(f"{what} has no query: SELECT or VALUES", piece.line_of(0))
    return piece


def qualified(piece: Piece, at: int) -> tuple[str, int]:
    """The last part of a table's name, and what index follows it: there is one catalog."""
    name = piece.name(at, "the name of a table")
    at += 1
    while piece.word(at) == ".":
        name = piece.name(at + 1, "the name of a table")
        at += 2
    return name, at


_READ: dict[str, Callable[[Piece], Statement]] = {
    "SET": _set,
    "RESET": _reset,
    "CREATE": _create,
    "DROP": _drop,
    "INSERT": _insert,
}
