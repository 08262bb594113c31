"""The job graph in the form of Flink's plan."""

from __future__ import annotations

import json
from typing import Any

from headrace.runtime.program import Node, Program, Target


def plan(program: Program) -> dict[str, Any]:
    """{"nodes": [{"id", "type", "pact", "contents", "parallelism", "predecessors"?}]}, plus each
    node's uid and level (the keyed exchange it stands behind)."""
    return {"nodes": [_node(program, node) for node in program.nodes.values()]}


def plan_json(program: Program) -> str:
    return json.dumps(plan(program), indent=2)


def _node(program: Program, node: Node) -> dict[str, Any]:
    described: dict[str, Any] = {
        "id": node.id,
        "uid": node.uid,
        "type": node.name,
        "pact": _pact(program, node),
        "contents": node.name,
        "parallelism": node.parallelism or program.parallelism,
        "level": node.level,
    }
    predecessors = [
        {"id": before.id, "ship_strategy": _ship(target), "side": tag or "first"}
        for before in program.nodes.values()
        for tag, targets in before.outputs.items()
        for target in targets
        if target.node == node.id
    ]
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
