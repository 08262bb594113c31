"""A job's vertices, from its plan: chains of operators that would share a task of Flink. Pure.

A plan is that of `headrace.runtime.plan`, or an older or foreign one: {"nodes": [{"id",
"description", "parallelism", "inputs"}]}. What it does not say is left out or 1; a node without a
chain is a vertex by itself.
"""

from __future__ import annotations

import html
import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Any

from headrace.wire.operator_ids import operator_id

SOURCE, OPERATOR, SINK = "Data Source", "Operator", "Data Sink"
#: How many key groups a job has when its plan does not say.
MAX_PARALLELISM = 128

_TAG = re.compile(r"<[^>]+>")
_UNFIT = re.compile(r"[ .:,]")


@dataclass(frozen=True, slots=True)
class Operator:
    """`id`: 32 hexadecimal digits; `node`: its number in the plan, as text; `kind`: SOURCE,
    OPERATOR or SINK; `group`: its slot sharing group."""

    id: str
    name: str
    uid: str
    kind: str
    node: str
    description: str = ""
    group: str = "default"


@dataclass(frozen=True, slots=True)
class Input:
    """`vertex`: the id of what is read; `ship_strategy`: FORWARD, HASH, REBALANCE, …"""

    vertex: str
    ship_strategy: str


@dataclass(frozen=True, slots=True)
class Vertex:
    """`id` is that of the chain's head; `name` as Flink names tasks: `Source: a -> (b, c)`."""

    id: str
    name: str
    parallelism: int
    max_parallelism: int
    operators: tuple[Operator, ...]
    inputs: tuple[Input, ...]

    @property
    def kinds(self) -> frozenset[str]:
        return frozenset(operator.kind for operator in self.operators)

    @property
    def head(self) -> Operator:
        return self.operators[0]


def of(plan: Mapping[str, Any]) -> list[Vertex]:
    """In the order of the graph, sources first; empty for a plan without nodes."""
    nodes = {str(node["id"]): node for node in plan.get("nodes") or []}
    reads = {number: _reads(node, nodes) for number, node in nodes.items()}
    kinds = _kinds(nodes, reads)
    chains: dict[str, list[str]] = {}
    for number in _ordered(reads):
        chains.setdefault(_chain(nodes, number), []).append(number)
    of_head = {head: _id(nodes[head]) for head in chains}
    return [
        Vertex(
            id=of_head[head],
            name=_name(nodes, reads, kinds, members, head),
            parallelism=_parallelism(plan, nodes[head]),
            max_parallelism=int(
                nodes[head].get("max_parallelism") or plan.get("max_parallelism") or MAX_PARALLELISM
            ),
            operators=tuple(_operator(nodes[number], kinds[number]) for number in members),
            inputs=tuple(
                Input(of_head[_chain(nodes, before)], ship)
                for number in members
                for before, ship in reads[number]
                if _chain(nodes, before) != head
            ),
        )
        for head, members in chains.items()
    ]


def subtasks(plan: Mapping[str, Any]) -> int:
    """Of all vertices together, without looking at more of the plan than that needs."""
    nodes = {str(node["id"]): node for node in plan.get("nodes") or []}
    heads = (node for number, node in nodes.items() if _chain(nodes, number) == number)
    return sum(_parallelism(plan, node) for node in heads)


def find(plan: Mapping[str, Any], vertex_id: str) -> Vertex | None:
    return next((vertex for vertex in of(plan) if vertex.id == vertex_id), None)


def metric_name(name: str) -> str:
    """An operator's name as Flink has it in the ids of metrics: `Source__gen-source`."""
    return _UNFIT.sub("_", name)


def _id(node: Mapping[str, Any]) -> str:
    known = node.get("operator_id")
    return str(known) if known else operator_id(str(node.get("uid") or node["id"]))


def _parallelism(plan: Mapping[str, Any], node: Mapping[str, Any]) -> int:
    """No operator has more subtasks than the job."""
    own, most = node.get("parallelism"), plan.get("parallelism")
    return min(int(own or most or 1), int(most or own or 1))


def _chain(nodes: Mapping[str, Any], number: str) -> str:
    """The head of a node's chain."""
    head = str(nodes[number].get("chain", number))
    return head if head in nodes else number


def _reads(node: Mapping[str, Any], nodes: Mapping[str, Any]) -> list[tuple[str, str]]:
    """(number of what it reads, ship strategy)"""
    found = []
    for each in node.get("predecessors") or node.get("inputs") or []:
        given = each if isinstance(each, Mapping) else {"id": each}
        if str(given["id"]) in nodes:
            found.append((str(given["id"]), str(given.get("ship_strategy") or "FORWARD")))
    return found


def _ordered(reads: Mapping[str, Iterable[tuple[str, str]]]) -> list[str]:
    """Each node behind what it reads; of a loop in the plan's order."""
    done: dict[str, None] = {}
    open_: set[str] = set()
    for start in reads:
        stack = [start]
        while stack:
            number = stack[-1]
            open_.add(number)
            waits = [b for b, _ in reads[number] if b not in done and b not in open_]
            if waits:
                stack.append(waits[0])
                continue
            stack.pop()
            done.setdefault(number)
    return list(done)


def _kinds(nodes: Mapping[str, Any], reads: Mapping[str, list[tuple[str, str]]]) -> dict[str, str]:
    """As the plan says, else by the place in the graph."""
    read = {before for each in reads.values() for before, _ in each}
    found = {}
    for number, node in nodes.items():
        placed = SOURCE if not reads[number] else OPERATOR if number in read else SINK
        found[number] = str(node.get("pact") or placed)
    return found


def _operator(node: Mapping[str, Any], kind: str) -> Operator:
    return Operator(
        id=_id(node),
        name=_shown(node, kind),
        uid=str(node.get("uid") or node["id"]),
        kind=kind,
        node=str(node["id"]),
        description=str(node.get("contents") or node.get("description") or ""),
        group=str(node.get("slot_sharing_group") or "default"),
    )


def _shown(node: Mapping[str, Any], kind: str) -> str:
    text = node.get("type") or node.get("contents") or node.get("description") or node["id"]
    name = html.unescape(_TAG.sub(" ", str(text))).strip()
    prefix = {SOURCE: "Source: ", SINK: "Sink: "}.get(kind, "")
    return name if name.startswith(prefix) else prefix + name


def _name(
    nodes: Mapping[str, Any],
    reads: Mapping[str, list[tuple[str, str]]],
    kinds: Mapping[str, str],
    members: list[str],
    number: str,
) -> str:
    after = [n for n in members if n != number and number in [before for before, _ in reads[n]]]
    names = [_name(nodes, reads, kinds, members, n) for n in after]
    own = _shown(nodes[number], kinds[number])
    if not names:
        return own
    return f"{own} -> {names[0] if len(names) == 1 else '(' + ', '.join(names) + ')'}"
