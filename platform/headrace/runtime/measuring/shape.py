"""The job's graph as its figures need it: vertices, the stages they run in, and ways through it."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

from headrace.runtime import chains
from headrace.runtime.operators.pass_on import PassOn
from headrace.runtime.program import Program
from headrace.wire.operator_ids import operator_id


@dataclass(frozen=True)
class Vertex:
    """A chain of operators. `id`: 32 hexadecimal digits; `nodes`: numbers, the head first;
    `outside`: those of them that are read from outside the chain."""

    id: str
    nodes: tuple[int, ...]
    outside: tuple[int, ...]
    parallelism: int
    stage: int

    @property
    def head(self) -> int:
        return self.nodes[0]


class Shape:
    """Of a program, by its operators' numbers and its vertices' ids."""

    def __init__(self, program: Program) -> None:
        heads = chains.chains(program)
        before = chains.inputs(program)
        self.sources = tuple(program.sources)
        self.sinks = tuple(program.sinks)
        self.operator_ids = {number: operator_id(n.uid) for number, n in program.nodes.items()}
        self.vertex_of = {number: self.operator_ids[head] for number, head in heads.items()}
        self.stage_of = {
            number: program.levels if number in program.sinks else node.level
            for number, node in program.nodes.items()
        }
        levels = range(1, program.levels + 1)
        self._keyed = {
            at: [n.id for n in program.keyed_nodes(at) if not isinstance(n.operator, PassOn)]
            for at in levels
        }
        self._reads = {n: [source.id for source, _ in reads] for n, reads in before.items()}
        self.vertices: dict[str, Vertex] = {}
        for head in dict.fromkeys(heads.values()):
            members = tuple(number for number, of in heads.items() if of == head)
            asked = program.nodes[head].parallelism or program.parallelism
            self.vertices[self.operator_ids[head]] = Vertex(
                self.operator_ids[head],
                members,
                tuple(
                    n
                    for n in members
                    if any(n in reads for m, reads in self._reads.items() if m not in members)
                ),
                max(1, min(asked, program.subtasks)),
                self.stage_of[head],
            )

    def upstream(self, numbers: Iterable[int]) -> set[int]:
        """Operators that lead to these, and these."""
        found = list(dict.fromkeys(numbers))
        for number in found:
            found += [n for n in self._reads.get(number, ()) if n not in found]
        return set(found)

    def keeping_state(self, level: int) -> list[str]:
        """The vertices whose keyed operators run in a level."""
        return list(dict.fromkeys(self.vertex_of[node] for node in self._keyed.get(level, [])))

    def reads(self, number: int) -> list[int]:
        """What an operator reads."""
        return self._reads.get(number, [])

    def sender(self, stage: int, reader: int) -> str | None:
        """The vertex of a stage that sends to an operator; the first one if there are several."""
        for number in self.reads(reader):
            if self.stage_of[number] == stage:
                return self.vertex_of[number]
        return None

    def pairs(self) -> list[tuple[int, int]]:
        """Each source with each sink that it leads to."""
        ways = {sink: self.upstream([sink]) for sink in self.sinks}
        return [(a, z) for a in self.sources for z in self.sinks if a in ways[z]]
