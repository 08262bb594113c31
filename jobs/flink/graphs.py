"""A job's graph as Flink's REST tells it: one node per vertex. Pure."""

from __future__ import annotations

import html
from hashlib import blake2b
from typing import Any

from jobs import vertices
from jobs.models import Job
from jobs.vertices import Vertex


def plan(job: Job, graph: list[Vertex] | None = None) -> dict[str, Any]:
    """Without nodes before its driver has told its graph."""
    found = vertices.of(job.plan) if graph is None else graph
    nodes = [_node(vertex) for vertex in found]
    return {"jid": job.pk, "name": job.name, "type": "STREAMING", "nodes": nodes}


def slot_sharing_group(job: Job, vertex: Vertex) -> str:
    """32 hexadecimal digits for each of a job's groups."""
    return blake2b(f"{job.pk} {vertex.head.group}".encode(), digest_size=16).hexdigest()


def _node(vertex: Vertex) -> dict[str, Any]:
    node: dict[str, Any] = {
        "id": vertex.id,
        "operator": "",
        "parallelism": vertex.parallelism,
        "operator_strategy": "",
        "description": _description(vertex),
        "optimizer_properties": {},
    }
    if vertex.inputs:
        node["inputs"] = [
            {
                "id": each.vertex,
                "num": number,
                "exchange": "pipelined_bounded",
                "ship_strategy": each.ship_strategy,
            }
            for number, each in enumerate(vertex.inputs)
        ]
    return node


def _description(vertex: Vertex) -> str:
    """A line for each operator of the chain. It is HTML: Flink's dashboard shows it as such."""
    lines = [html.escape(operator.name) for operator in vertex.operators]
    chained = [f"{'&nbsp;' * 3 * depth}+- {line}" for depth, line in enumerate(lines[1:])]
    return "".join(f"{line}<br/>" for line in [lines[0], *chained])
