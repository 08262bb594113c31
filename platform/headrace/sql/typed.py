"""What depends on the types of its operands, which only Spark's analysis knows.

`7 / 2` is 3 in Flink and 3.5 in Spark, AVG of whole numbers is whole, and TRUE as text is 'TRUE'.
Each such node is asked about by a query in which a call stands for it that fits no type: Spark's
error names the types. Nothing is run.
"""

from __future__ import annotations

import re
from collections import deque
from collections.abc import Callable, Iterator
from contextlib import contextmanager

from pyspark.errors import AnalysisException
from pyspark.logger import PySparkLogger
from sqlglot import exp

_WHOLE = ("TINYINT", "SMALLINT", "INT", "BIGINT")
_MARK = "headrace_asks"
_TYPES = re.compile(rf"STRUCT<{_MARK}0: (.*?)(?: NOT NULL)?(?:, {_MARK}1: (.*?)(?: NOT NULL)?)?>")

#: Raises AnalysisException.
Analyse = Callable[[str], object]


def settle(tree: exp.Expr, analyse: Analyse) -> None:
    """In place; `tree` is a query. Raises AnalysisException for one that is wrong anyhow."""
    waiting = deque(_in_order(tree))
    stalled = 0
    with _quiet():
        while waiting:
            node = waiting.popleft()
            try:
                kinds = _kinds(tree, node, analyse)
            except AnalysisException:  # it may be another's type that does not fit as yet
                stalled += 1
                if stalled > len(waiting):
                    raise
                waiting.append(node)
                continue
            stalled = 0
            new = _BUILD[type(node)](node, kinds)
            if new is not None:
                node.replace(new)


@contextmanager
def _quiet() -> Iterator[None]:
    """PySpark logs each error, these too."""
    logger = PySparkLogger.getLogger("SQLQueryContextLogger")
    before, logger.disabled = logger.disabled, True
    try:
        yield
    finally:
        logger.disabled = before


def is_text(kind: exp.Expr | None) -> bool:
    return isinstance(kind, exp.DataType) and kind.is_type("text")


def _asked(node: exp.Expr) -> bool:
    if isinstance(node, exp.Cast):
        return is_text(node.to) and not isinstance(node.this, exp.Literal)
    return isinstance(node, exp.Div | exp.Avg)


def _in_order(tree: exp.Expr) -> list[exp.Expr]:
    """What others take their types from comes first: CTEs as they follow each other, then
    subqueries, then operands."""
    tables = {id(each): n for n, each in enumerate(tree.find_all(exp.CTE, bfs=False))}

    def place(node: exp.Expr) -> tuple[int, int, int]:
        above = list(_above(node))
        own = [tables[id(each)] for each in above if id(each) in tables]
        queries = sum(isinstance(each, exp.Query) for each in above)
        return (own[-1] if own else len(tables), -queries, -len(above))

    return sorted((node for node in tree.walk() if _asked(node)), key=place)


def _above(node: exp.Expr) -> Iterator[exp.Expr]:
    parent = node.parent
    while parent is not None:
        yield parent
        parent = parent.parent


def _kinds(tree: exp.Expr, node: exp.Expr, analyse: Analyse) -> tuple[str, str]:
    """Types of what it is about, as Spark writes them; "" for what is not known."""
    operands = [node.this]
    if isinstance(node, exp.Div):
        operands.append(node.expression)
    if isinstance(node, exp.Avg):  # outside of an aggregate its operand may be no column
        operands = [exp.Max(this=_without_distinct(node))]
    fields: list[exp.Expr] = []
    for n, each in enumerate(operands):
        fields += [exp.Literal.string(f"{_MARK}{n}"), each.copy()]
    struct = exp.Anonymous(this="named_struct", expressions=fields)
    question = exp.Anonymous(this="array_size", expressions=[struct])
    node.replace(question)
    try:
        analyse(tree.sql(dialect="spark"))
    except AnalysisException as error:
        told = _TYPES.search(str(error.getMessageParameters() or {}))
        if told is None:
            raise
        return told[1], told[2] or ""
    finally:
        question.replace(node)
    return "", ""


def _without_distinct(node: exp.Avg) -> exp.Expr:
    inner = node.this
    plain: exp.Expr = inner.expressions[0] if isinstance(inner, exp.Distinct) else inner
    return plain.copy()


def _division(node: exp.Expr, kinds: tuple[str, str]) -> exp.Expr | None:
    if not all(kind in _WHOLE for kind in kinds):
        return _with_whole_literals(node, kinds)
    wider = max(kinds, key=_WHOLE.index)
    whole = exp.IntDiv(this=node.this.copy(), expression=node.expression.copy())
    return exp.cast(whole, wider.lower())


def _with_whole_literals(node: exp.Expr, kinds: tuple[str, str]) -> exp.Expr | None:
    """A literal beside a decimal is an INT, of 10 digits; Spark would count the digits it has, and
    give the quotient fewer."""
    if not any(kind.startswith("DECIMAL") for kind in kinds):
        return None
    sides = [
        exp.cast(each.copy(), kind.lower())
        if kind in _WHOLE and isinstance(each, exp.Literal)
        else each.copy()
        for each, kind in zip((node.this, node.expression), kinds, strict=True)
    ]
    return exp.Div(this=sides[0], expression=sides[1])


def _average(node: exp.Expr, kinds: tuple[str, str]) -> exp.Expr | None:
    """Of whole numbers it is whole; of decimals it has 6 digits after the point, or theirs."""
    kind = kinds[0]
    total, count = exp.Sum(this=node.this.copy()), exp.Count(this=node.this.copy())
    if kind in _WHOLE:
        some = exp.Nullif(this=count, expression=exp.Literal.number(0))
        return exp.cast(exp.IntDiv(this=total, expression=some), kind.lower())
    decimal = re.fullmatch(r"DECIMAL\(\d+,\s*(\d+)\)", kind)
    if decimal is None:
        return None
    some = exp.Nullif(this=count, expression=exp.Literal.number(0))
    return exp.cast(exp.Div(this=total, expression=some), f"decimal(38, {max(6, int(decimal[1]))})")


def _text(node: exp.Expr, kinds: tuple[str, str]) -> exp.Expr | None:
    if kinds[0] == "BOOLEAN":
        return exp.Upper(this=node.copy())
    if not kinds[0].startswith("TIMESTAMP"):
        return None
    within = exp.Mod(
        this=exp.Anonymous(this="unix_micros", expressions=[exp.cast(node.this, "timestamp")]),
        expression=exp.Literal.number(1000),
    )
    form = exp.If(
        this=exp.EQ(this=within, expression=exp.Literal.number(0)),
        true=exp.Literal.string("yyyy-MM-dd HH:mm:ss.SSS"),
        false=exp.Literal.string("yyyy-MM-dd HH:mm:ss.SSSSSS"),
    )
    return exp.Anonymous(this="date_format", expressions=[node.this.copy(), form])


_BUILD: dict[type[exp.Expr], Callable[[exp.Expr, tuple[str, str]], exp.Expr | None]] = {
    exp.Div: _division,
    exp.Avg: _average,
    exp.Cast: _text,
    exp.TryCast: _text,
}
