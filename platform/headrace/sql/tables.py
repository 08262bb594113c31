"""CREATE TABLE: columns, watermark, key and options."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

from headrace.sql import types
from headrace.sql.errors import SqlError
from headrace.sql.tokens import Piece


@dataclass(frozen=True)
class Column:
    """Exactly one of: a physical column (`kind` alone), a computed one (`expression`), one of the
    connector's (`metadata`, its name there)."""

    name: str
    #: Spark's DDL; "" of a computed column.
    kind: str = ""
    expression: Piece | None = None
    metadata: str = ""
    #: Metadata that can be read and is not written.
    virtual: bool = False
    not_null: bool = False
    #: As written, for what depends on it: TIMESTAMP and TIMESTAMP_LTZ.
    written: str = ""

    @property
    def physical(self) -> bool:
        return self.expression is None and not self.metadata

    @property
    def stored(self) -> bool:
        """An INSERT gives it a value."""
        return self.expression is None and not self.virtual


@dataclass(frozen=True)
class Watermark:
    column: str
    #: Seconds that rows may be late.
    delay: float


@dataclass(frozen=True)
class Table:
    name: str
    columns: list[Column]
    options: dict[str, str]
    watermark: Watermark | None = None
    primary_key: list[str] = field(default_factory=list)
    partitioned_by: list[str] = field(default_factory=list)
    line: int = 0

    @property
    def connector(self) -> str:
        return self.options.get("connector", "")

    def column(self, name: str) -> Column | None:
        return next((each for each in self.columns if each.name == name), None)


def parse(piece: Piece, at: int) -> Table:
    """From the table's name on. Raises SqlError."""
    from headrace.sql.statements import qualified

    name, at = qualified(piece, at)
    found: dict[str, Any] = {"columns": [], "watermark": None, "primary_key": []}
    if piece.word(at) == "(":
        end = piece.closing(at)
        for each in piece[at + 1 : end].split():
            _element(each, found, name)
        at = end + 1
    partitioned: list[str] = []
    while at < len(piece):
        at = _clause(piece, at, name, found, partitioned)
    if not found["columns"]:
        raise SqlError(f"table {name} has no columns", piece.line)
    table = Table(
        name,
        found["columns"],
        found.get("options", {}),
        found["watermark"],
        found["primary_key"],
        partitioned,
        piece.line,
    )
    _check(table)
    return table


def _clause(piece: Piece, at: int, name: str, found: dict[str, Any], partitioned: list[str]) -> int:
    word = piece.word(at)
    if word == "COMMENT":
        return at + 2
    if word in ("LIKE", "AS", "DISTRIBUTED"):
        raise SqlError(f"CREATE TABLE {name} … {word} is not known; write its columns", piece.line)
    begin = at + 2 if piece.words("PARTITIONED", "BY", at=at) else at + 1
    if word not in ("WITH", "PARTITIONED") or piece.word(begin) != "(":
        raise SqlError(f"CREATE TABLE {name}: {piece.tokens[at].text!r} is not expected here",
                       piece.line_of(at))  # fmt: skip
    end = piece.closing(begin)
    inside = piece[begin + 1 : end]
    if word == "WITH":
        found["options"] = _options(inside, name)
    else:
        partitioned += [each.name(0, "a column") for each in inside.split()]
    return end + 1


def _options(piece: Piece, name: str) -> dict[str, str]:
    options: dict[str, str] = {}
    for each in piece.split():
        if not len(each):
            continue
        written = len(each) == 3 and each.is_text(0) and each.word(1) == "=" and each.is_text(2)
        if not written:
            raise SqlError(f"table {name}: options are 'key' = 'value'", each.line or piece.line)
        options[str(each.tokens[0].text)] = str(each.tokens[2].text)
    return options


def _element(piece: Piece, found: dict[str, Any], name: str) -> None:
    if piece.words("WATERMARK", "FOR"):
        found["watermark"] = _watermark(piece, name)
    elif piece.words("PRIMARY", "KEY") or piece.word(0) == "CONSTRAINT":
        at = next((n for n in range(len(piece)) if piece.word(n) == "("), len(piece))
        inside = piece[at + 1 : piece.closing(at)] if at < len(piece) else piece[:0]
        found["primary_key"] = [each.name(0, "a column") for each in inside.split()]
    else:
        found["columns"].append(_column(piece, found))


def _column(piece: Piece, found: dict[str, Any]) -> Column:
    name = piece.name(0, "a column's name")
    if piece.word(1) == "AS":
        return Column(name, expression=_without_comment(piece[2:]))
    end = _end_of_type(piece)
    kind = types.spark(piece[1:end])
    rest = piece[end:]
    metadata, virtual, not_null, at = "", False, False, 0
    while at < len(rest):
        word = rest.word(at)
        if word == "METADATA":
            metadata = name
            if rest.word(at + 1) == "FROM":
                metadata = str(rest.tokens[at + 2].text)
                at += 2
        elif word == "VIRTUAL":
            virtual = True
        elif rest.words("NOT", "NULL", at=at):
            not_null = True
            at += 1
        elif rest.words("PRIMARY", "KEY", at=at):
            found["primary_key"] = [name]
            at += 1
        elif word == "COMMENT":
            at += 1
        at += 1
    written = piece[1:end].source().upper()
    return Column(name, kind, None, metadata, virtual, not_null, written)


_AFTER_TYPE = ("NOT", "NULL", "METADATA", "VIRTUAL", "COMMENT", "PRIMARY", "CONSTRAINT")


def _end_of_type(piece: Piece) -> int:
    depth = 0
    for n in range(1, len(piece)):
        depth += {"(": 1, "<": 1, ")": -1, ">": -1}.get(piece.word(n), 0)
        if depth == 0 and piece.word(n) in _AFTER_TYPE:
            return n
    return len(piece)


def _without_comment(piece: Piece) -> Piece:
    if len(piece) > 2 and piece.word(len(piece) - 2) == "COMMENT":
        return piece[: len(piece) - 2]
    return piece


def _watermark(piece: Piece, name: str) -> Watermark:
    """`WATERMARK FOR ts AS ts`, or minus an interval, as Spark has them."""
    column = piece.name(2, "the watermark's column")
    rest = piece[4:]
    if len(rest) == 1 and rest.tokens[0].text == column:
        return Watermark(column, 0.0)
    is_difference = len(rest) > 3 and rest.tokens[0].text == column and rest.word(1) == "-"
    if not is_difference or rest.word(2) != "INTERVAL":
        raise SqlError(
            f"table {name}: a watermark is its column, or that minus an interval: "
            f"WATERMARK FOR {column} AS {column} - INTERVAL '5' SECOND",
            piece.line,
        )
    return Watermark(column, types.interval_seconds(rest[2:]))


def _check(table: Table) -> None:
    names = [each.name for each in table.columns]
    twice = {name for name in names if names.count(name) > 1}
    if twice:
        raise SqlError(f"table {table.name} has {', '.join(sorted(twice))} twice", table.line)
    marked = [table.watermark.column] if table.watermark else []
    for name in [*table.primary_key, *table.partitioned_by, *marked]:
        if name not in names:
            raise SqlError(f"table {table.name} has no column {name}", table.line)
    if not table.connector:
        raise SqlError(f"table {table.name} has no 'connector' among its options", table.line)
