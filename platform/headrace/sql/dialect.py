"""Queries of Flink's SQL as Spark's.

Most of it means the same in both. What differs is rewritten here: windowing table functions and
group windows become Spark's `window` and `session_window`, integers are divided as integers,
elements are counted from 1, and some functions have other names. What has no like is refused.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from sqlglot import exp, parse_one
from sqlglot.errors import ParseError

from headrace.sql import types, windows
from headrace.sql.errors import SqlError
from headrace.sql.tokens import Flink, Piece, read


@dataclass(frozen=True)
class Query:
    """Spark's text; the tables it names; whether rows of its result may change later (an
    aggregate that no window ends)."""

    text: str
    tables: list[str]
    updating: bool


def query(piece: Piece) -> Query:
    """Raises SqlError."""
    tree = _parsed(rewritten(piece), piece.line)
    _refuse(tree, piece.line)
    windows.replace(tree, piece.line)
    updating = any(_updates(select) for select in tree.find_all(exp.Select))
    tree = tree.transform(lambda node: _translated(node, piece.line))
    hidden = {each.alias for each in tree.find_all(exp.CTE)}
    named = {each.name for each in tree.find_all(exp.Table)} - hidden
    return Query(tree.sql(dialect="spark"), sorted(named), updating)


def expression(piece: Piece) -> str:
    """Of a computed column. Raises SqlError."""
    tree = _parsed(f"SELECT {rewritten(piece)}", piece.line)
    translated = tree.transform(lambda node: _translated(node, piece.line))
    return str(translated.expressions[0].sql(dialect="spark"))


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
        return windows.table_function(piece, at + 2), piece.closing(at + 1) + 1
    if windows.is_function(piece, at):
        return windows.table_function(piece, at), piece.closing(at + 1) + 1
    if word == "(":
        casts.append(piece.word(at - 1) in _TYPE_AFTER)
    elif word == ")" and casts:
        casts.pop()
    elif word == "AS" and casts and casts[-1]:
        end = _end_of_cast(piece, at)
        return f"AS {types.spark(piece[at + 1 : end])}", end
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
        exp.Distinct: "",
    }
    for kind, words in why.items():
        if words and next(tree.find_all(kind), None) is not None:
            raise SqlError(words, line)


def _updates(select: exp.Select) -> bool:
    """Whether it aggregates without a window."""
    group = select.args.get("group")
    keys = list(group.expressions) if group is not None else []
    if any(windows.is_window(key) for key in keys):
        return False
    own = select.walk(prune=lambda node: isinstance(node, exp.Subquery))
    aggregates = any(isinstance(node, exp.AggFunc) for node in own if node is not select)
    return bool(keys) or aggregates or select.args.get("distinct") is not None


def _translated(node: exp.Expr, line: int) -> exp.Expr:
    if isinstance(node, exp.Div):
        return _division(node)
    if isinstance(node, exp.Bracket):
        return exp.func("try_element_at", node.this, *node.expressions)
    if isinstance(node, exp.Floor | exp.Ceil) and node.args.get("to") is not None:
        return _rounded(node)
    if isinstance(node, exp.Anonymous):
        build = _FUNCTIONS.get(node.name.upper())
        if build is not None:
            try:
                return build(*node.expressions)
            except TypeError:
                raise SqlError(f"{node.name} is called with another number of arguments", line) \
                    from None  # fmt: skip
    return node


def _division(node: exp.Div) -> exp.Expr:
    """Whole numbers are divided to whole numbers; Spark would make fractions of them."""
    if "typeof" in node.meta:
        return node
    node.meta["typeof"] = True
    left, right = node.this, node.expression
    plain = exp.Div(this=left.copy(), expression=right.copy())
    plain.meta["typeof"] = True
    cut = exp.cast(plain.copy(), "bigint")
    cut.this.meta["typeof"] = True
    both = exp.and_(_is_whole(left), _is_whole(right))
    return exp.Paren(this=exp.Case(ifs=[exp.If(this=both, true=cut)], default=plain))


def _is_whole(value: exp.Expr) -> exp.Expr:
    kinds = ("tinyint", "smallint", "int", "bigint")
    return exp.In(
        this=exp.Anonymous(this="typeof", expressions=[value.copy()]),
        expressions=[exp.Literal.string(kind) for kind in kinds],
    )


def _rounded(node: exp.Floor | exp.Ceil) -> exp.Expr:
    """FLOOR(time TO unit), CEIL(time TO unit)."""
    unit = node.args["to"].name.upper()
    time: exp.Expr = node.this
    if isinstance(node, exp.Ceil):
        step = exp.Interval(this=exp.Literal.string("1"), unit=exp.var(unit))
        tick = exp.Interval(this=exp.Literal.string("1"), unit=exp.var("MICROSECOND"))
        time = exp.Sub(this=exp.Add(this=time, expression=step), expression=tick)
    return exp.Anonymous(this="date_trunc", expressions=[exp.Literal.string(unit), time])


def _call(name: str) -> Callable[..., exp.Expr]:
    return lambda *arguments: exp.Anonymous(this=name, expressions=list(arguments))


def _split_index(text: exp.Expr, by: exp.Expr, at: exp.Expr) -> exp.Expr:
    """From 0 on; NULL beyond the end."""
    literal = exp.Anonymous(
        this="concat", expressions=[exp.Literal.string("\\Q"), by, exp.Literal.string("\\E")]
    )
    parts = exp.Anonymous(this="split", expressions=[text, literal])
    return exp.Anonymous(this="get", expressions=[parts, at])


def _to_timestamp_ltz(value: exp.Expr, precision: exp.Expr | None = None) -> exp.Expr:
    if precision is None or precision.name not in ("0", "3"):
        return exp.Anonymous(this="to_timestamp", expressions=[value])
    name = "timestamp_seconds" if precision.name == "0" else "timestamp_millis"
    return exp.Anonymous(this=name, expressions=[value])


def _sha2(bits: int) -> Callable[..., exp.Expr]:
    return lambda text: exp.Anonymous(this="sha2", expressions=[text, exp.Literal.number(bits)])


def _rand_integer(*arguments: exp.Expr) -> exp.Expr:
    """RAND_INTEGER([seed,] bound)"""
    *seed, bound = arguments
    chance = exp.Anonymous(this="rand", expressions=seed)
    scaled = exp.Mul(this=chance, expression=bound)
    return exp.cast(exp.Anonymous(this="floor", expressions=[scaled]), "int")


_FUNCTIONS: dict[str, Callable[..., exp.Expr]] = {
    "PROCTIME": _call("current_timestamp"),
    "LOCALTIMESTAMP": _call("localtimestamp"),
    "JSON_VALUE": _call("get_json_object"),
    "JSON_STRING": _call("to_json"),
    "SPLIT_INDEX": _split_index,
    "TO_TIMESTAMP_LTZ": _to_timestamp_ltz,
    "SHA224": _sha2(224),
    "SHA256": _sha2(256),
    "SHA384": _sha2(384),
    "SHA512": _sha2(512),
    "CHARACTER_LENGTH": _call("char_length"),
    "TRUNCATE": _call("trunc"),
    "RAND_INTEGER": _rand_integer,
}

__all__ = ["Query", "expression", "query", "read", "rewritten"]
