"""Queries of Flink's SQL as Spark's.

Most of it means the same in both. What differs is rewritten here: windowing table functions and
group windows become Spark's `window` and `session_window`, integers are divided as integers,
elements are counted from 1, and some functions have other names. What has no like is refused.
"""

from __future__ import annotations

from collections.abc import Set
from dataclasses import dataclass

from sqlglot import exp, parse_one
from sqlglot.errors import ParseError

from headrace.sql import functions, lateral, scopes, types, updates, windows
from headrace.sql.errors import SqlError
from headrace.sql.tokens import Flink, Piece, read


@dataclass(frozen=True)
class Query:
    """In Spark's words but for what depends on types (`typed`); the tables it names; whether rows
    of its result may change later (an aggregate that no window ends), and whether rows that have
    changed are filtered or joined."""

    tree: exp.Expr
    tables: list[str]
    updating: bool
    filtered: bool = False
    #: Whether it keeps rows for later: aggregates, joins.
    stateful: bool = False

    @property
    def text(self) -> str:
        return str(self.tree.sql(dialect="spark"))


def query(piece: Piece, changing: Set[str] = frozenset()) -> Query:
    """`changing`: names of views whose rows may change. Raises SqlError."""
    try:
        return _query(piece, changing)
    except SqlError as error:
        raise error if error.line else SqlError(str(error), piece.line) from None
    except RecursionError:
        raise SqlError("this query is nested too deeply", piece.line) from None


def _query(piece: Piece, changing: Set[str]) -> Query:
    tree = _parsed(rewritten(piece), piece.line)
    _refuse(tree, piece.line)
    lateral.replace(tree, piece.line)
    windows.replace(tree, piece.line)
    tables = scopes.tables(tree)
    updating = updates.updating(tree) or any(name in changing for name in tables)
    filtered = updates.filtered(tree, changing)
    _translate(tree, piece.line)
    tree.sql(dialect="spark")  # as deep as its reading
    return Query(tree, tables, updating, filtered, updates.stateful(tree))


def expression(piece: Piece) -> exp.Expr:
    """Of a computed column: a SELECT of it, without a table. Raises SqlError."""
    try:
        tree = _parsed(f"SELECT {rewritten(piece)}", piece.line)
        _translate(tree, piece.line)
    except RecursionError:
        raise SqlError("this expression is nested too deeply", piece.line) from None
    return tree


def _translate(tree: exp.Expr, line: int) -> None:
    """In place, operands first."""
    for node in reversed(list(tree.walk(bfs=False))):
        new = _translated(node, line)
        if new is not node:
            node.replace(new)


def _parsed(text: str, line: int) -> exp.Expr:
    try:
        tree = parse_one(text, dialect=Flink)
    except ParseError as error:
        found = error.errors[0] if error.errors else {}
        near = str(found.get("highlight") or "").strip()
        at = line + int(found.get("line") or 1) - 1
        what = found.get("description") or str(error)
        raise SqlError(f"this query cannot be read: {what} (near {near!r})", at) from None
    if not isinstance(tree, exp.Query | exp.Values):
        raise SqlError("this is no query", line)
    return tree


# --- the text ------------------------------------------------------------------------------------

_TYPE_AFTER = ("CAST", "TRY_CAST")


def rewritten(piece: Piece) -> str:
    """The query's text with what its parser does not know in Spark's words."""
    parts: list[str] = []
    last = piece.tokens[0].start if len(piece) else 0
    brackets: list[str] = []
    casts: list[bool] = []
    at = 0
    while at < len(piece):
        token = piece.tokens[at]
        new, end = _piece_at(piece, at, brackets, casts)
        parts.append(piece.text[last : token.start])
        parts.append(
            piece.text[token.start : piece.tokens[end - 1].end + 1] if new is None else new
        )
        last = piece.tokens[end - 1].end + 1
        at = end
    return "".join(parts)


def _piece_at(
    piece: Piece, at: int, brackets: list[str], casts: list[bool]
) -> tuple[str | None, int]:
    """What stands for the tokens from `at` to before the index returned; None: they themselves."""
    word = piece.word(at)
    if word == "TABLE" and piece.word(at + 1) == "(" and windows.is_function(piece, at + 2):
        return _in_place(piece, at, at + 2, piece.closing(at + 1) + 1)
    if windows.is_function(piece, at):
        return _in_place(piece, at, at, piece.closing(at + 1) + 1)
    if word == "(":
        casts.append(piece.word(at - 1) in _TYPE_AFTER)
    elif word == ")" and casts:
        casts.pop()
    elif word == "AS" and casts and casts[-1]:
        end = _end_of_cast(piece, at)
        return f"AS {types.cast(piece[at + 1 : end])}", end
    elif word == "ROW" and piece.word(at + 1) == "(":
        return "STRUCT", at + 1
    elif word == "MAP" and piece.word(at + 1) == "[":
        brackets.append(")")
        return "MAP(", at + 2
    elif word == "[":
        brackets.append("]")
    elif word == "]" and brackets:
        return brackets.pop(), at + 1
    return None, at + 1


def _in_place(piece: Piece, begin: int, at: int, end: int) -> tuple[str, int]:
    """A window's function as a subquery, on as many lines."""
    lines = "\n" * piece[begin:end].source().count("\n")
    return windows.table_function(piece, at) + lines, end


def _end_of_cast(piece: Piece, at: int) -> int:
    depth = 0
    for n in range(at, len(piece)):
        depth += {"(": 1, ")": -1}.get(piece.word(n), 0)
        if depth < 0:
            return n
    raise SqlError("a parenthesis is not closed", piece.line_of(at))


# --- the tree ------------------------------------------------------------------------------------


def _refuse(tree: exp.Expr, line: int) -> None:
    why = {
        exp.MatchRecognize: "MATCH_RECOGNIZE is not known here; use the DataStream API",
        exp.Version: "temporal joins (FOR SYSTEM_TIME AS OF) are not known here; join with a "
        "table of files, which is read once, or with a stream and an interval",
        exp.Window: "OVER is not known in streams; use a window (TUMBLE, HOP, SESSION)",
    }
    for kind, words in why.items():
        if next(tree.find_all(kind), None) is not None:
            raise SqlError(words, line)


def _translated(node: exp.Expr, line: int) -> exp.Expr:
    if isinstance(node, exp.Bracket):
        return exp.func("try_element_at", node.this, *node.expressions)
    if isinstance(node, exp.Floor | exp.Ceil) and node.args.get("to") is not None:
        return _rounded(node)
    if isinstance(node, exp.Cast) and node.to.this in _SIZED:
        return _cut(node)
    if isinstance(node, exp.Table):
        node.set("db", None)
        node.set("catalog", None)
    if isinstance(node, exp.Anonymous):
        return functions.translated(node, line)
    return node


_SIZED = (exp.DataType.Type.NVARCHAR, exp.DataType.Type.NCHAR)


def _cut(node: exp.Cast) -> exp.Expr:
    """CAST(x AS VARCHAR(3)) leaves three characters, CHAR(3) has exactly three."""
    size = exp.Literal.number(node.to.expressions[0].name)
    whole = type(node)(this=node.this.copy(), to=exp.DataType.build("text"))
    if node.to.this == exp.DataType.Type.NVARCHAR:
        return exp.Anonymous(this="left", expressions=[whole, size])
    return exp.Anonymous(this="rpad", expressions=[whole, size, exp.Literal.string(" ")])


def _rounded(node: exp.Floor | exp.Ceil) -> exp.Expr:
    """FLOOR(time TO unit), CEIL(time TO unit)."""
    unit = node.args["to"].name.upper()
    time: exp.Expr = node.this
    if isinstance(node, exp.Ceil):
        step = exp.Interval(this=exp.Literal.string("1"), unit=exp.var(unit))
        tick = exp.Interval(this=exp.Literal.string("1"), unit=exp.var("MICROSECOND"))
        time = exp.Sub(this=exp.Add(this=time, expression=step), expression=tick)
    return exp.Anonymous(this="date_trunc", expressions=[exp.Literal.string(unit), time])


__all__ = ["Query", "expression", "query", "read", "rewritten"]
