"""Which operators would share a task of Flink: shown in plans, it decides nothing on Spark, where
all stateless operators of a stage run in one pass."""

from __future__ import annotations

from collections import defaultdict

from headrace.runtime.program import Node, Program, Target

DEFAULT_GROUP = "default"

#: node -> (what it reads, by which edge), in order
Inputs = dict[int, list[tuple[Node, Target]]]


def inputs(program: Program) -> Inputs:
    found: defaultdict[int, list[tuple[Node, Target]]] = defaultdict(list)
    for node in program.nodes.values():
        for targets in node.outputs.values():
            for target in targets:
                found[target.node].append((node, target))
    return dict(found)


def chains(program: Program) -> dict[int, int]:
    """Node -> the head of its chain: Flink's rule. A node is chained to what it reads when that is
    one node, by a forward edge, with the same parallelism and slot sharing group, and neither
    says otherwise."""
    before = inputs(program)
    heads: dict[int, int] = {}
    groups = slot_sharing_groups(program)
    for number, node in program.nodes.items():
        reads = before.get(number, [])
        heads[number] = number
        if len(reads) == 1 and _chained(program, reads[0][0], reads[0][1], node, groups):
            heads[number] = heads[reads[0][0].id]
    return heads


def slot_sharing_groups(program: Program) -> dict[int, str]:
    """Node -> its slot sharing group: its own, else that of all that it reads, else the default."""
    before = inputs(program)
    groups: dict[int, str] = {}
    for number, node in program.nodes.items():
        groups[number] = node.slot_sharing_group or _inherited(groups, before.get(number, []))
    return groups


def slots(program: Program) -> dict[str, int]:
    """Slots by slot sharing group: operators of one group share theirs, so a group takes as many
    as its widest operator has subtasks; no operator has more than the job."""
    widest: dict[str, int] = {}
    for number, group in slot_sharing_groups(program).items():
        own = program.nodes[number].parallelism or program.parallelism
        widest[group] = max(widest.get(group, 1), min(own, program.parallelism))
    return widest


def _inherited(groups: dict[int, str], reads: list[tuple[Node, Target]]) -> str:
    names = {groups[node.id] for node, _ in reads if node.id in groups}
    return names.pop() if len(names) == 1 else DEFAULT_GROUP


def _chained(
    program: Program, before: Node, edge: Target, node: Node, groups: dict[int, str]
) -> bool:
    return (
        program.chaining
        and edge.stays
        and node.chaining == "ALWAYS"
        and before.chaining != "NEVER"
        and (before.parallelism or program.parallelism) == (node.parallelism or program.parallelism)
        and groups[before.id] == groups[node.id]
    )
