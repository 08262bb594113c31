"""UNNEST in joins, as Spark's lateral views."""

from __future__ import annotations

from sqlglot import exp

from headrace.sql.errors import SqlError


def replace(tree: exp.Expr, line: int) -> None:
    """CROSS JOIN UNNEST is as sqlglot makes it; LEFT JOIN UNNEST keeps rows of empty arrays, which
    sqlglot would lose. Raises SqlError."""
    for unnest in list(tree.find_all(exp.Unnest)):
        if unnest.args.get("offset"):
            raise SqlError("UNNEST … WITH ORDINALITY is not known here", line)
        join = unnest.parent
        if not isinstance(join, exp.Join):
            continue
        side = str(join.args.get("side") or "").upper()
        if side == "LEFT":
            _outer(join, unnest, line)
        elif side or join.args.get("on") is not None:
            raise SqlError("UNNEST is joined by CROSS JOIN, or by LEFT JOIN … ON TRUE", line)


def _outer(join: exp.Join, unnest: exp.Unnest, line: int) -> None:
    on = join.args.get("on")
    if not (isinstance(on, exp.Boolean) and on.this):
        raise SqlError("LEFT JOIN UNNEST is ON TRUE", line)
    select = join.parent
    assert isinstance(select, exp.Select)
    if select.args["joins"][-1] is not join:
        raise SqlError("LEFT JOIN UNNEST comes last among the joins", line)
    alias = unnest.args.get("alias")
    if alias is None or not alias.args.get("columns"):
        raise SqlError("LEFT JOIN UNNEST names its column: AS u (x)", line)
    exploded = exp.Explode(this=unnest.expressions[0].copy())
    view = exp.Lateral(this=exploded, view=True, outer=True, alias=alias.copy())
    join.pop()
    select.append("laterals", view)
