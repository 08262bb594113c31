"""Flink's names of types and intervals, as Spark's."""

from __future__ import annotations

from headrace.sql.errors import SqlError
from headrace.sql.tokens import Piece

_PLAIN = {
    **dict.fromkeys(("STRING", "VARCHAR", "CHAR"), "STRING"),
    **dict.fromkeys(("BYTES", "BINARY", "VARBINARY"), "BINARY"),
    **{name: name for name in ("BOOLEAN", "TINYINT", "SMALLINT", "BIGINT", "DOUBLE", "DATE")},
    **dict.fromkeys(("INT", "INTEGER"), "INT"),
    **dict.fromkeys(("TIMESTAMP", "TIMESTAMP_LTZ"), "TIMESTAMP"),
    "FLOAT": "FLOAT",
}
_DECIMAL = ("DECIMAL", "DEC", "NUMERIC")

_UNITS = {
    "MILLISECOND": 0.001,
    "SECOND": 1.0,
    "MINUTE": 60.0,
    "HOUR": 3600.0,
    "DAY": 86_400.0,
    "WEEK": 7 * 86_400.0,
}


def spark(piece: Piece) -> str:
    """Spark's DDL of a type. Raises SqlError for what Spark has no type for."""
    if not len(piece):
        raise SqlError("a column has no type", piece.line)
    word = piece.word(0)
    if word in ("ARRAY", "MAP", "ROW"):
        return _nested(word, piece)
    inside = piece[2:-1] if piece.word(1) == "(" else piece[:0]
    if word in _DECIMAL:
        digits = [str(each.tokens[0].text) for each in inside.split() if len(each)] or ["10", "0"]
        return f"DECIMAL({', '.join(digits)})"
    if piece.words("DOUBLE", "PRECISION"):
        return "DOUBLE"
    if word in _PLAIN:
        return _PLAIN[word]
    raise SqlError(f"{piece.source()} is no type of a column here", piece.line)


def cast(piece: Piece) -> str:
    """Of a CAST, whose VARCHAR(3) has a length: sqlglot would drop it, but not that of NVARCHAR.
    Raises SqlError."""
    kind = spark(piece)
    sized = piece.word(0) in ("VARCHAR", "CHAR") and len(piece) == 4
    return f"N{piece.word(0)}({piece.word(2)})" if sized else kind


def _nested(word: str, piece: Piece) -> str:
    if piece.word(1) not in ("<", "(") or piece.word(len(piece) - 1) not in (">", ")"):
        raise SqlError(f"{word} says of what: {word}<…>", piece.line)
    parts = list(piece[2 : len(piece) - 1].split())
    if word == "ROW":
        fields = (f"{_quoted(each.name(0, 'a field'))}: {spark(_bare(each[1:]))}" for each in parts)
        return f"STRUCT<{', '.join(fields)}>"
    return f"{word}<{', '.join(spark(_bare(each)) for each in parts)}>"


def _bare(piece: Piece) -> Piece:
    """Without NOT NULL."""
    return piece[: len(piece) - 2] if piece.words("NOT", "NULL", at=len(piece) - 2) else piece


def _quoted(name: str) -> str:
    return "`" + name.replace("`", "``") + "`"


def interval_seconds(piece: Piece) -> float:
    """Of INTERVAL '5' SECOND(S). Raises SqlError for months and years, and what is no interval."""
    unit = piece.word(2).removesuffix("S")
    is_interval = piece.word(0) == "INTERVAL" and len(piece) >= 3 and unit in _UNITS
    try:
        number = float(str(piece.tokens[1].text)) if is_interval else -1.0
    except ValueError:
        number = -1.0
    if number < 0:
        raise SqlError(
            f"{piece.source() or 'nothing'} is no interval here: INTERVAL '10' SECOND, MINUTE, "
            "HOUR, DAY",
            piece.line,
        )
    return number * _UNITS[unit]


def spark_interval(seconds: float) -> str:
    """As Spark's functions of windows take it."""
    return f"{round(seconds * 1000)} milliseconds"
