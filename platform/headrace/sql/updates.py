"""Which rows of a stream's query may change after they were told."""

from __future__ import annotations

from collections.abc import Iterator, Set

from sqlglot import exp

from headrace.sql import scopes, windows


def updating(tree: exp.Expr) -> bool:
    return any(_aggregates(select) for select in tree.find_all(exp.Select))


def stateful(tree: exp.Expr) -> bool:
    """Whether rows wait for others: in aggregates, joins, sets and orders."""
    if tree.find(exp.AggFunc, exp.Group, exp.Distinct, exp.Order, exp.Limit) is not None:
        return True
    joins = (each for each in tree.find_all(exp.Join) if not isinstance(each.this, exp.Unnest))
    sets = (each for each in tree.find_all(exp.SetOperation) if each.args.get("distinct", True))
    return any(True for _ in joins) or any(True for _ in sets)


def filtered(tree: exp.Expr, changing: Set[str]) -> bool:
    """Whether a row that has changed may be left out where its older form was told: nobody would
    take that back."""
    for select in tree.find_all(exp.Select):
        if select.args.get("having") is not None and _aggregates(select):
            return True
        narrows = select.args.get("where") is not None or bool(select.args.get("joins"))
        if narrows and any(_changes(source, changing) for source in _sources(select)):
            return True
    return False


def _aggregates(select: exp.Select) -> bool:
    """Whether it aggregates without a window."""
    group = select.args.get("group")
    keys = list(group.expressions) if group is not None else []
    if any(windows.is_window(key) for key in keys):
        return False
    own = select.walk(prune=lambda node: node is not select and isinstance(node, exp.Query))
    aggregates = any(isinstance(node, exp.AggFunc) for node in own)
    return group is not None or aggregates or select.args.get("distinct") is not None


def _sources(select: exp.Select) -> Iterator[exp.Expr]:
    begin = select.args.get("from_") or select.args.get("from")
    if begin is not None:
        yield begin.this
    for join in select.args.get("joins") or []:
        yield join.this


def _changes(source: exp.Expr, changing: Set[str]) -> bool:
    if isinstance(source, exp.Table):
        own = scopes.cte_of(source)
        return updating(own) if own is not None else source.name in changing
    return updating(source)
