"""The job graph in the form of Flink's plan."""

from __future__ import annotations

import json
from typing import Any

from headrace.runtime import chains
from headrace.runtime.program import Node, Program, Target
from headrace.wire.operator_ids import operator_id


def plan(program: Program) -> dict[str, Any]:
    """{"nodes": [{"id", "type", "pact", "contents", "parallelism", "predecessors"?}]}, plus each
    node's uid, its id as Flink makes it of that, level (the keyed exchange it stands behind), slot
    sharing group and chain (the first node of those that would share a task of Flink)."""
    heads, groups = chains.chains(program), chains.slot_sharing_groups(program)
    return {
        "parallelism": program.subtasks,
        "max_parallelism": program.max_parallelism,
        "nodes": [
            _node(program, node) | {"chain": heads[n], "slot_sharing_group": groups[n]}
            for n, node in program.nodes.items()
        ],
    }


def plan_text(program: Program) -> str:
    """A line for each chain: its operators, and what it reads by which way."""
    heads = chains.chains(program)
    before = chains.inputs(program)
    lines = [f"{program.name}:"]
    for head in dict.fromkeys(heads.values()):
        members = {n: program.nodes[n] for n, of in heads.items() if of == head}
        reads = [f"{_ship(edge)} from {heads[n.id]}" for n, edge in before.get(head, [])]
        parallelism = members[head].parallelism or program.parallelism
        names = _chain(members, before, head)
        ways = f", {', '.join(reads)}" if reads else ""
        lines.append(f"  {head}: {names} (parallelism {parallelism}{ways})")
    return "\n".join(lines)


def _chain(members: dict[int, Node], before: chains.Inputs, number: int) -> str:
    """As Flink names tasks: `a -> b`, `a -> (b, c -> d)`."""

    def reads(member: int) -> int | None:
        return before[member][0][0].id if member in before else None

    after = [n for n in members if n != number and reads(n) == number]
    names = [_chain(members, before, n) for n in after]
    if not names:
        return members[number].name
    rest = names[0] if len(names) == 1 else f"({', '.join(names)})"
    return f"{members[number].name} -> {rest}"


def plan_json(program: Program) -> str:
    return json.dumps(plan(program), indent=2)


def _node(program: Program, node: Node) -> dict[str, Any]:
    described: dict[str, Any] = {
        "id": node.id,
        "uid": node.uid,
        "operator_id": operator_id(node.uid),
        "type": node.name,
        "pact": _pact(program, node),
        "contents": node.description or node.name,
        "parallelism": node.parallelism or program.parallelism,
        "level": node.level,
    }
    predecessors = [
        {"id": before.id, "ship_strategy": _ship(target), "side": "first"}
        for before in program.nodes.values()
        for targets in before.outputs.values()
        for target in targets
        if target.node == node.id
    ]
    for predecessor in predecessors[1:]:
        predecessor["side"] = "second"
    if predecessors:
        described["predecessors"] = predecessors
    return described


def _pact(program: Program, node: Node) -> str:
    if node.id in program.sources:
        return "Data Source"
    return "Data Sink" if node.id in program.sinks else "Operator"


def _ship(target: Target) -> str:
    if target.exchange is not None:
        return str(target.exchange.ship)
    return "FORWARD" if target.selector is None else "HASH"
