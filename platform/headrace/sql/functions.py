"""Functions of Flink's that Spark has under another name, or means otherwise."""

from __future__ import annotations

from collections.abc import Callable

from sqlglot import exp

from headrace.sql.errors import SqlError

_NULL = exp.Null()


def translated(node: exp.Anonymous, line: int) -> exp.Expr:
    """Itself when both mean the same by it. Raises SqlError."""
    name = node.name.upper()
    if name in _REFUSED:
        raise SqlError(f"{name} is not known here: {_REFUSED[name]}", line)
    build = _FUNCTIONS.get(name)
    if build is None:
        return node
    try:
        return build(*node.expressions)
    except TypeError:
        raise SqlError(f"{name} is called with another number of arguments", line) from None


def _named(name: str, *arguments: exp.Expr) -> exp.Expr:
    return exp.Anonymous(this=name, expressions=list(arguments))


def _call(name: str) -> Callable[..., exp.Expr]:
    return lambda *arguments: _named(name, *arguments)


def _text(value: str) -> exp.Expr:
    return exp.Literal.string(value)


def _number(value: int) -> exp.Expr:
    return exp.Literal.number(value)


def _strict(name: str) -> Callable[..., exp.Expr]:
    """NULL when any argument is; Spark would leave NULLs out."""

    def build(first: exp.Expr, *others: exp.Expr) -> exp.Expr:
        if not others:
            return first
        unknown = exp.or_(*(exp.Is(this=each.copy(), expression=_NULL.copy())
                            for each in (first, *others)))  # fmt: skip
        whole = _named(name, first, *others)
        return exp.Case(ifs=[exp.If(this=exp.not_(exp.paren(unknown)), true=whole)])

    return build


def _split_index(text: exp.Expr, by: exp.Expr, at: exp.Expr) -> exp.Expr:
    """From 0 on; NULL beyond the end."""
    literal = _named("concat", _text("\\Q"), by, _text("\\E"))
    return _named("get", _named("split", text, literal), at)


def _regexp_extract(text: exp.Expr, form: exp.Expr, group: exp.Expr | None = None) -> exp.Expr:
    """The whole match when no group is named, and NULL where nothing matches."""
    found = _named("regexp_extract", text, form, group or _number(0))
    return exp.Case(ifs=[exp.If(this=_named("regexp_like", text.copy(), form.copy()), true=found)])


def _str_to_map(text: exp.Expr, *by: exp.Expr) -> exp.Expr:
    pairs, keys = by if by else (_text(","), _text("="))
    return _named("str_to_map", text, pairs, keys)


def _truncate(value: exp.Expr, digits: exp.Expr | None = None) -> exp.Expr:
    """Towards zero."""
    down, up = (
        _named(name, value.copy(), (digits or _number(0)).copy()) for name in ("floor", "ceil")
    )
    if digits is None:
        down, up = _named("floor", value.copy()), _named("ceil", value.copy())
    positive = exp.GTE(this=exp.paren(value.copy()), expression=_number(0))
    return exp.Case(ifs=[exp.If(this=positive, true=down)], default=up)


def _to_timestamp_ltz(value: exp.Expr, precision: exp.Expr | None = None) -> exp.Expr:
    if precision is None or precision.name not in ("0", "3"):
        return _named("to_timestamp", value)
    return _named("timestamp_seconds" if precision.name == "0" else "timestamp_millis", value)


def _sha2(bits: int) -> Callable[..., exp.Expr]:
    return lambda text: _named("sha2", text, _number(bits))


def _rand_integer(*arguments: exp.Expr) -> exp.Expr:
    """RAND_INTEGER([seed,] bound)"""
    *seed, bound = arguments
    scaled = exp.Mul(this=_named("rand", *seed), expression=exp.paren(bound))
    return exp.cast(_named("floor", scaled), "int")


def _from_base64(text: exp.Expr) -> exp.Expr:
    return _named("decode", _named("unbase64", text), _text("UTF-8"))


_FUNCTIONS: dict[str, Callable[..., exp.Expr]] = {
    "PROCTIME": _call("current_timestamp"),
    "JSON_VALUE": _call("get_json_object"),
    "JSON_STRING": _call("to_json"),
    "SPLIT_INDEX": _split_index,
    "REGEXP_EXTRACT": _regexp_extract,
    "STR_TO_MAP": _str_to_map,
    "GREATEST": _strict("greatest"),
    "LEAST": _strict("least"),
    "TO_TIMESTAMP_LTZ": _to_timestamp_ltz,
    "SHA224": _sha2(224),
    "SHA256": _sha2(256),
    "SHA384": _sha2(384),
    "SHA512": _sha2(512),
    "TO_BASE64": _call("base64"),
    "FROM_BASE64": _from_base64,
    "CHARACTER_LENGTH": _call("char_length"),
    "WEEK": _call("weekofyear"),
    "TRUNCATE": _truncate,
    "RAND_INTEGER": _rand_integer,
}
_REFUSED = {
    "JSON_QUERY": "take JSON_VALUE, which gives parts of a document as they are written",
    "JSON_EXISTS": "take JSON_VALUE(…) IS NOT NULL",
}
