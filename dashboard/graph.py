"""The job graph as the page draws it: columns from sources to sinks. Pure.

Its boxes are a job's vertices with what they do now (`of_vertices`), or, before a job runs, the
operators of its plan (`layout`). A plan is Flink's, in either of its forms: {"nodes": [{"id",
"contents", "pact", "parallelism", "predecessors": [{"id"}]}]} as programs print it, or
"description" and "inputs" instead, as its REST answers. What a plan leaves out is left out here.
"""

from __future__ import annotations

import html
import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from typing import Any

from dashboard.vertexview import VertexView

NODE_WIDTH, NODE_HEIGHT = 250, 116
COLUMN_GAP, ROW_GAP, MARGIN = 92, 18, 6
#: Inside of a box: the bar of its load.
BAR_X, BAR_WIDTH = 16, NODE_WIDTH - 32
_LINE = 29
_KINDS = {"Data Source": "source", "Operator": "operator", "Data Sink": "sink"}
_TAG = re.compile(r"<[^>]+>")


@dataclass(slots=True)
class Node:
    """One operator, with the place of its box in the drawing."""

    id: str
    name: str
    lines: list[str]
    parallelism: int | None
    kind: str
    inputs: list[str]
    column: int = 0
    x: int = 0
    y: int = 0
    #: What is known of it while the job runs; None in a plan.
    view: VertexView | None = None
    #: Input -> how records get here from there.
    ships: Mapping[str, str] = field(default_factory=dict)

    @property
    def bars(self) -> list[tuple[str, int, int]]:
        """Of its load: (kind, x, width)."""
        load = self.view.load if self.view is not None else None
        if load is None:
            return []
        shares = (("busy", load.busy), ("pressed", load.pressed), ("idle", load.idle))
        whole = max(100, sum(share for _, share in shares))
        drawn, at = [], BAR_X
        for kind, share in shares:
            width = BAR_WIDTH * share // whole
            drawn.append((kind, at, width))
            at += width
        return drawn


@dataclass(frozen=True, slots=True)
class Edge:
    """An SVG path, with the words on it at (x, y)."""

    path: str
    ship: str
    x: int
    y: int


@dataclass(slots=True)
class Graph:
    """Nodes in order from sources to sinks, edges, and the drawing's size."""

    nodes: list[Node] = field(default_factory=list)
    edges: list[Edge] = field(default_factory=list)
    width: int = 0
    height: int = 0


def layout(plan: Mapping[str, Any]) -> Graph:
    """The drawing of a plan; empty for a plan without nodes."""
    return _drawn({node.id: node for node in map(_node, plan.get("nodes") or [])})


def of_vertices(views: Iterable[VertexView]) -> Graph:
    """The drawing of a job's vertices with what they do."""
    return _drawn({view.id: _vertex_node(view) for view in views})


def _vertex_node(view: VertexView) -> Node:
    return Node(
        id=view.id,
        name=view.name,
        lines=_wrapped(view.name),
        parallelism=view.vertex.parallelism,
        kind=view.kind,
        inputs=list(dict.fromkeys(each.vertex for each in view.vertex.inputs)),
        view=view,
        ships={each.vertex: each.ship_strategy for each in view.vertex.inputs},
    )


def _drawn(nodes: dict[str, Node]) -> Graph:
    if not nodes:
        return Graph()
    for node in nodes.values():
        node.inputs = [source for source in node.inputs if source in nodes and source != node.id]
    _assign_columns(nodes)
    _name_kinds(nodes)
    height = _place(nodes)
    columns = max(node.column for node in nodes.values()) + 1
    return Graph(
        nodes=sorted(nodes.values(), key=lambda node: node.column),
        edges=[_edge(nodes[source], node) for node in nodes.values() for source in node.inputs],
        width=2 * MARGIN + columns * NODE_WIDTH + (columns - 1) * COLUMN_GAP,
        height=height,
    )


def _node(values: Mapping[str, Any]) -> Node:
    text = values.get("description") or values.get("contents") or values["id"]
    name = html.unescape(_TAG.sub(" ", str(text))).strip()
    inputs = values.get("inputs") or values.get("predecessors") or []
    return Node(
        id=str(values["id"]),
        name=name,
        lines=_wrapped(name),
        parallelism=values.get("parallelism"),
        kind=_KINDS.get(values.get("pact", ""), ""),
        inputs=[str(each["id"] if isinstance(each, Mapping) else each) for each in inputs],
        ships={
            str(each["id"]): str(each.get("ship_strategy") or "")
            for each in inputs
            if isinstance(each, Mapping)
        },
    )


def _wrapped(name: str) -> list[str]:
    """The name on at most two lines that fit the box."""
    first, rest = _split(name)
    if len(rest) > _LINE:
        rest = rest[: _LINE - 1].rstrip() + "…"
    return [line for line in (first, rest) if line]


def _split(name: str) -> tuple[str, str]:
    if len(name) <= _LINE:
        return name, ""
    cut = max(name.rfind(" ", 0, _LINE + 1), name.rfind(".", 0, _LINE) + 1)
    cut = cut if cut > _LINE // 3 else _LINE
    return name[:cut].rstrip(), name[cut:].lstrip()


def _assign_columns(nodes: Mapping[str, Node]) -> None:
    """Each node one column right of its furthest input; rounds are bounded, so a plan with a
    cycle is drawn as well."""
    for _ in nodes:
        moved = False
        for node in nodes.values():
            column = max((nodes[source].column + 1 for source in node.inputs), default=0)
            if column > node.column and column < len(nodes):
                node.column, moved = column, True
        if not moved:
            return


def _name_kinds(nodes: Mapping[str, Node]) -> None:
    read = {source for node in nodes.values() for source in node.inputs}
    for node in nodes.values():
        if not node.kind:
            node.kind = "source" if not node.inputs else "operator" if node.id in read else "sink"


def _place(nodes: Mapping[str, Node]) -> int:
    """Rows within columns, each column centred; the drawing's height."""
    columns: dict[int, list[Node]] = {}
    for node in nodes.values():
        columns.setdefault(node.column, []).append(node)
    step = NODE_HEIGHT + ROW_GAP
    tallest = max(len(column) for column in columns.values())
    height = tallest * step - ROW_GAP + 2 * MARGIN
    for number, column in columns.items():
        top = (height - (len(column) * step - ROW_GAP)) // 2
        for row, node in enumerate(column):
            node.x = MARGIN + number * (NODE_WIDTH + COLUMN_GAP)
            node.y = top + row * step
    return height


def _edge(source: Node, target: Node) -> Edge:
    x1, y1 = source.x + NODE_WIDTH, source.y + NODE_HEIGHT // 2
    x2, y2 = target.x - 5, target.y + NODE_HEIGHT // 2
    bend = max(20, (x2 - x1) // 2)
    path = f"M{x1} {y1}C{x1 + bend} {y1} {x2 - bend} {y2} {x2} {y2}"
    return Edge(path, target.ships.get(source.id, ""), (x1 + x2) // 2, (y1 + y2) // 2 - 6)
