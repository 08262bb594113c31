"""Flink's windows as Spark's.

`TABLE(TUMBLE(TABLE t, DESCRIPTOR(at), size))` becomes t with a column of Spark's windows; in the
SELECT that reads it, `window_start`, `window_end` and `window_time` are parts of that column, and
grouping by them is grouping by it. Only so does Spark know when a window is over. The older
`GROUP BY TUMBLE(at, size)` becomes a call of `window` itself.
"""

from __future__ import annotations

from collections.abc import Iterator

from sqlglot import exp

from headrace.sql import types
from headrace.sql.errors import SqlError
from headrace.sql.tokens import Piece

COLUMN = "__window"
_FUNCTIONS = ("TUMBLE", "HOP", "SESSION", "CUMULATE")
_PARTS = {"window_start": "start", "window_end": "end"}


def is_function(piece: Piece, at: int) -> bool:
    """TUMBLE(TABLE …, or with names: TUMBLE(DATA => TABLE …."""
    begins = piece.word(at) in _FUNCTIONS and piece.word(at + 1) == "("
    return begins and piece.word(at + 2) in ("TABLE", "DATA")


def table_function(piece: Piece, at: int) -> str:
    """A subquery in its place. Raises SqlError."""
    kind = piece.word(at)
    if kind == "CUMULATE":
        raise SqlError("CUMULATE windows are not known here; use HOP or TUMBLE", piece.line_of(at))
    arguments = [_value(each) for each in piece[at + 2 : piece.closing(at + 1)].split()]
    if len(arguments) < 3:
        raise SqlError(
            f"{kind} takes a table, a DESCRIPTOR and intervals: "
            f"{kind}(TABLE t, DESCRIPTOR(at), INTERVAL '1' MINUTE)",
            piece.line_of(at),
        )
    table, descriptor, *intervals = arguments
    name = _table(table)
    if descriptor.word(0) != "DESCRIPTOR" or descriptor.word(1) != "(":
        raise SqlError(f"{kind}: DESCRIPTOR(column) is the second argument", piece.line_of(at))
    time = _quoted(descriptor.name(2, "the column of DESCRIPTOR"))
    seconds = [types.interval_seconds(each) for each in intervals]
    spark = _spark(kind, time, seconds)
    if kind == "SESSION":  # until `replace` has compared them with what is grouped by
        keys = "".join(f", {_quoted(key)}" for key in _partition(table))
        spark = f"{spark[:-1]}{keys})"
    return f"(SELECT *, {spark} AS {COLUMN} FROM {name})"


def _value(piece: Piece) -> Piece:
    """Of an argument that may be named: SIZE => INTERVAL …."""
    return piece[2:] if piece.word(1) == "=>" else piece


def _table(piece: Piece) -> str:
    """TABLE t [PARTITION BY k]: what it is partitioned by, the query is grouped by."""
    end = next((n for n in range(len(piece)) if piece.word(n) == "PARTITION"), len(piece))
    inside = piece[1:end]
    if inside.word(0) == "(":
        raise SqlError("a window's table is a name; create a view of the query", piece.line)
    return inside.source()


def _partition(piece: Piece) -> list[str]:
    at = next((n for n in range(len(piece)) if piece.words("PARTITION", "BY", at=n)), None)
    if at is None:
        return []
    inside = piece[at + 2 :]
    if inside.word(0) == "(":
        inside = inside[1 : inside.closing(0)]
    return [each.name(0, "a column of PARTITION BY") for each in inside.split()]


def _quoted(name: str) -> str:
    return "`" + name.replace("`", "``") + "`"


def _spark(kind: str, time: str, seconds: list[float]) -> str:
    """Of HOP the slide comes first in Flink, and the size in Spark. An offset comes last."""
    spans = [f"'{types.spark_interval(each)}'" for each in seconds]
    if kind == "SESSION":
        return f"session_window({time}, {spans[0]})"
    if kind == "HOP":
        if len(spans) < 2:
            raise SqlError("HOP takes its slide and its size")
        size, slide, *offset = spans[1], spans[0], *spans[2:]
        return f"window({time}, {', '.join([size, slide, *offset])})"
    size, *offset = spans
    return f"window({time}, {', '.join([size, size, *offset] if offset else [size])})"


# --- in the tree ---------------------------------------------------------------------------------


def is_window(key: exp.Expr) -> bool:
    """Whether grouping by it ends: a column of windows, or a call of `window`."""
    if isinstance(key, exp.Column):
        return bool(key.name == COLUMN)
    return isinstance(key, exp.Anonymous) and key.name in ("window", "session_window")


def replace(tree: exp.Expr, line: int) -> None:
    """In place. Raises SqlError."""
    for select in list(tree.find_all(exp.Select)):
        windowed = [source for source in _sources(select) if _has_windows(source)]
        for source in windowed:
            _check_session(select, source, line)
        if windowed:
            _replace_parts(_times_apart(select))
    for call in list(tree.find_all(exp.Anonymous)):
        _replace_group_window(call, line)


def _check_session(select: exp.Select, source: exp.Expr, line: int) -> None:
    """Spark ends sessions per group, Flink per partition: they have to be the same."""
    call = next(each.this for each in source.this.expressions if each.alias == COLUMN)
    if not isinstance(call, exp.Anonymous) or call.name.lower() != "session_window":
        return
    keys = {each.name for each in call.expressions[2:]}
    call.set("expressions", call.expressions[:2])
    group = select.args.get("group")
    grouped = list(group.expressions) if group is not None else []
    if not any(_is_part(each) for each in grouped):
        raise SqlError("rows of SESSION are grouped here: GROUP BY window_start, window_end", line)
    others = {each.sql() if not isinstance(each, exp.Column) else each.name
              for each in grouped if not _is_part(each)}  # fmt: skip
    if others != keys:
        raise SqlError(
            f"SESSION is partitioned by {', '.join(sorted(keys)) or 'nothing'} and grouped by "
            f"{', '.join(sorted(others)) or 'nothing'} beside its window; here both are the same: "
            "SESSION(TABLE t PARTITION BY k, …) … GROUP BY window_start, window_end, k",
            line,
        )


def _sources(select: exp.Select) -> Iterator[exp.Expr]:
    begin = select.args.get("from_") or select.args.get("from")
    if begin is not None:
        yield begin.this
    for join in select.args.get("joins") or []:
        yield join.this


def _has_windows(source: exp.Expr) -> bool:
    if not isinstance(source, exp.Subquery) or not isinstance(source.this, exp.Select):
        return False
    return any(each.alias == COLUMN for each in source.this.expressions)


def _times_apart(select: exp.Select) -> exp.Select:
    """Of a SELECT that groups, `window_time` is told by one around it, where Spark still knows that
    it moves with the watermark: windows of it can follow. The SELECT that groups."""
    items = select.expressions
    times = [each for each in items if _is_part(each.unalias()) and _is_time(each.unalias())]
    starred = any(isinstance(each, exp.Star) for each in items)
    if select.args.get("group") is None or not times or starred:
        return select
    inner = select.copy()
    outer_items, inner_items = [], []
    for n, each in enumerate(inner.expressions):
        name = each.alias_or_name or f"_c{n}"
        if _is_part(each.unalias()) and _is_time(each.unalias()):
            time = exp.Anonymous(this="window_time", expressions=[exp.column(COLUMN)])
            outer_items.append(exp.alias_(time, name, quoted=True))
        else:
            outer_items.append(exp.column(exp.to_identifier(name, quoted=True)))
            inner_items.append(exp.alias_(each.unalias().copy(), name, quoted=True))
    whole = exp.column(COLUMN, table=times[0].unalias().text("table") or None)
    inner.set("expressions", [*inner_items, exp.alias_(whole, COLUMN)])
    clause = "with_" if "with_" in select.arg_types else "with"
    inner.set(clause, None)
    for key in [key for key in select.args if key != clause]:
        select.set(key, None)
    select.set("expressions", outer_items)
    select.from_(inner.subquery("__grouped", copy=False), copy=False)
    return inner


def _is_time(node: exp.Expr) -> bool:
    return bool(node.name.lower() == "window_time")


def _replace_parts(select: exp.Select) -> None:
    group = select.args.get("group")
    if group is not None:
        keys = [key for key in group.expressions if not _is_part(key)]
        named = next((key for key in group.expressions if _is_part(key)), None)
        if named is not None:
            keys.append(exp.column(COLUMN, table=named.table or None))
        group.set("expressions", keys)
    select.set("expressions", [new for each in select.expressions for new in _selected(each)])
    own = list(select.walk(prune=lambda node: node is not select and isinstance(node, exp.Query)))
    for node in own:
        if _is_part(node) and node.parent is not None:
            node.replace(_part(node))


def _is_part(node: exp.Expr) -> bool:
    return isinstance(node, exp.Column) and node.name.lower() in (*_PARTS, "window_time")


def _selected(item: exp.Expr) -> list[exp.Expr]:
    if isinstance(item, exp.Column) and isinstance(item.this, exp.Star):
        raise SqlError(
            f"{item.sql()} of a window's rows is not known here: name the columns, or write * alone"
        )
    if isinstance(item, exp.Star):
        star = exp.Star(**{"except_": [exp.to_identifier(COLUMN)]})
        parts = [exp.column(name) for name in (*_PARTS, "window_time")]
        return [star, *(exp.alias_(_part(part), part.name) for part in parts)]
    if _is_part(item):
        return [exp.alias_(_part(item), item.name)]
    return [item]


def _part(column: exp.Expr) -> exp.Expr:
    qualifier = column.text("table")
    whole = exp.column(COLUMN, table=qualifier or None)
    part = _PARTS.get(column.name.lower())
    if part is None:
        return exp.Anonymous(this="window_time", expressions=[whole])
    return exp.Dot(this=whole, expression=exp.to_identifier(part))


_ENDS = {"START": "start", "END": "end"}


def _replace_group_window(call: exp.Anonymous, line: int) -> None:
    kind, _, part = call.name.upper().partition("_")
    if kind not in _FUNCTIONS or part not in ("", *_ENDS, "ROWTIME", "PROCTIME"):
        return
    if kind == "CUMULATE" or part == "PROCTIME":
        raise SqlError(f"{call.name} is not known here; use TUMBLE, HOP or SESSION", line)
    time, *intervals = call.expressions
    spans = [types.spark_interval(_seconds(each, line)) for each in intervals]
    if kind == "HOP":
        spans = spans[::-1]
    name = "session_window" if kind == "SESSION" else "window"
    arguments = [time.copy(), *(exp.Literal.string(span) for span in spans)]
    window: exp.Expr = exp.Anonymous(this=name, expressions=arguments)
    if part in _ENDS:
        window = exp.Dot(this=window, expression=exp.to_identifier(_ENDS[part]))
    elif part == "ROWTIME":
        window = exp.Anonymous(this="window_time", expressions=[window])
    call.replace(window)


def _seconds(interval: exp.Expr, line: int) -> float:
    if not isinstance(interval, exp.Interval):
        raise SqlError("a window's size is an INTERVAL", line)
    from headrace.sql.tokens import read

    unit = interval.text("unit")
    try:
        return types.interval_seconds(read(f"INTERVAL '{interval.this.name}' {unit}"))
    except SqlError as error:
        raise SqlError(str(error).removeprefix("line 1: "), line) from None


def grid(tree: exp.Expr) -> list[float]:
    """Seconds between the begins of its windows, of those that have no offset."""
    found = []
    for call in tree.find_all(exp.Anonymous):
        if call.name.lower() == "window" and len(call.expressions) in (2, 3):
            found.append(float(call.expressions[-1].name.split()[0]) / 1000)
    return found
