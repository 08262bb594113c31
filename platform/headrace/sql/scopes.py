"""Which names of a query are tables, and which are its own CTEs."""

from __future__ import annotations

from sqlglot import exp


def tables(tree: exp.Expr) -> list[str]:
    """Sorted. A CTE may be called like the table that it reads."""
    return sorted({each.name for each in tree.find_all(exp.Table) if cte_of(each) is None})


def cte_of(table: exp.Table) -> exp.CTE | None:
    """The CTE that the name stands for."""
    if table.args.get("db") is not None:
        return None
    inside: set[int] = set()
    parent = table.parent
    while parent is not None:
        if isinstance(parent, exp.CTE):
            inside.add(id(parent))
        found = _of(parent.args.get("with_") or parent.args.get("with"), table.name, inside)
        if found is not None:
            return found
        parent = parent.parent
    return None


def _of(clause: exp.Expr | None, name: str, inside: set[int]) -> exp.CTE | None:
    """Those before the one that the name stands in."""
    for each in clause.expressions if clause is not None else []:
        if id(each) in inside:
            return None
        if each.alias == name:
            assert isinstance(each, exp.CTE)
            return each
    return None
