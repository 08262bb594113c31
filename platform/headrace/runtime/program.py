"""A compiled job: what the Python workers get, once per worker process.

Nodes are numbered; each has a level (0: reads the sources, n: behind the n-th keyed exchange), an
operator, and edges to what reads it.
"""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Iterable
from dataclasses import dataclass, field
from typing import Any

import cloudpickle

from headrace.common.typeinfo import TypeInformation
from headrace.common.watermark_strategy import WatermarkStrategy
from headrace.runtime import keys
from headrace.runtime.operators.operator import KeyedOperator, StatelessOperator
from headrace.runtime.operators.timestamps import AssignTimestamps
from headrace.runtime.transformations import GraphError


@dataclass(frozen=True)
class Target:
    """An edge's end. `selector` is set on a keyed exchange."""

    node: int
    input: int
    selector: Callable[[Any], Any] | None = None
    #: An `exchanges.Exchange`, on an exchange without a key.
    exchange: Any = None

    @property
    def stays(self) -> bool:
        """Whether what reads it runs in the same stage."""
        return self.selector is None and self.exchange is None


@dataclass
class Node:
    """One operator. `outputs`: side output's name, or None for the main one -> targets."""

    id: int
    uid: str
    name: str
    level: int
    operator: StatelessOperator | KeyedOperator | None
    outputs: dict[str | None, list[Target]] = field(default_factory=dict)
    output_type: TypeInformation | None = None
    #: The same where the operator does not check its results itself.
    checked: TypeInformation | None = None
    #: As its author wishes; shown in the plan.
    parallelism: int | None = None
    chaining: str = "ALWAYS"
    slot_sharing_group: str | None = None
    description: str | None = None
    #: The line of the job's program that asked for it.
    line: str = ""
    #: Names of the watermark generators upstream, on keyed operators.
    generators: frozenset[str] = frozenset()


@dataclass
class Generator:
    """A watermark generator: a strategy applied to the splits of a source."""

    name: str
    strategy: WatermarkStrategy
    #: Splits known at start: each holds the watermark back until it has spoken.
    splits: tuple[str, ...] = ()


@dataclass
class Program:
    """The whole job. `sinks` and `sources` map a node's number to what the user gave."""

    name: str
    nodes: dict[int, Node]
    sources: dict[int, Any]
    sinks: dict[int, Any]
    generators: dict[str, Generator]
    levels: int
    max_parallelism: int
    parallelism: int
    attempt: int = 0
    job_id: str = ""
    #: The id of a transformation of the stream graph -> its node's number; empty in the workers.
    numbers: dict[int, int] = field(default_factory=dict)
    #: All input is read before event time moves, and aggregations emit their final value only.
    batch: bool = False
    #: Whether the plan shows operators chained.
    chaining: bool = True
    #: Files that functions find by a name: name -> path.
    cached_files: dict[str, str] = field(default_factory=dict)
    #: What functions get from `RuntimeContext.get_job_parameter`.
    job_parameters: dict[str, str] = field(default_factory=dict)
    #: The newest batch that an earlier attempt has planned, and may have run in part.
    planned_before: int = -1

    def subtask_of(self, group: int) -> int:
        """The subtask that a key group belongs to."""
        return keys.subtask_of(group, self.subtasks, self.max_parallelism)

    def leads(self, group: int) -> bool:
        """Whether a key group is the first of its subtask."""
        return group == 0 or self.subtask_of(group) != self.subtask_of(group - 1)

    @property
    def subtasks(self) -> int:
        """What functions see as the parallelism."""
        return min(self.parallelism, self.max_parallelism)

    def keyed_nodes(self, level: int) -> list[Node]:
        return [
            n
            for n in self.nodes.values()
            if n.level == level and n.id not in self.sinks and isinstance(n.operator, KeyedOperator)
        ]

    def assigners(self, level: int) -> dict[str, AssignTimestamps]:
        """What assigns timestamps in a level, by the name of its watermark generator."""
        return {
            f"generator-{node.id}": node.operator
            for node in self.nodes.values()
            if node.level == level and isinstance(node.operator, AssignTimestamps)
        }

    def give_splits(self, source: int, splits: Iterable[str]) -> None:
        """Tell the watermark generators behind a source which splits they have to hear from."""
        reached = [source]
        for node_id in reached:
            node = self.nodes[node_id]
            for kind in ("silent", "generator"):
                generator = self.generators.get(f"{kind}-{node.id}")
                if generator is not None:
                    generator.splits += tuple(f"{source}:{split}" for split in splits)
            for targets in node.outputs.values():
                reached += [t.node for t in targets if t.stays and t.node not in reached]


@dataclass(frozen=True)
class PackedProgram:
    """A program on its way to the workers; unpacked once per process and token."""

    token: str
    body: bytes

    @classmethod
    def pack(cls, program: Program) -> PackedProgram:
        """Raises GraphError for what cannot be sent, naming the operator at fault."""
        try:
            body = cloudpickle.dumps(program)
        except Exception as error:
            raise GraphError(_at_fault(program, error)) from error
        return cls(hashlib.sha256(body).hexdigest()[:16], body)

    def unpack(self) -> Program:
        program = _unpacked.get(self.token)
        if program is None:
            _unpacked.clear()  # a worker serves one job; an older program is of an older run
            program = _unpacked[self.token] = cloudpickle.loads(self.body)
        return program

    def copy(self) -> Program:
        """The program with operators and functions of its own; what sources hold is shared."""
        program: Program = cloudpickle.loads(self.body)
        program.sources, program.sinks = self.unpack().sources, self.unpack().sinks
        return program


_unpacked: dict[str, Program] = {}


def _at_fault(program: Program, error: Exception) -> str:
    """The first operator, source or sink that cannot be pickled, and how to do without."""
    for node in program.nodes.values():
        keys = [target.selector for targets in node.outputs.values() for target in targets]
        part = (node.operator, program.sources.get(node.id), program.sinks.get(node.id), keys)
        try:
            cloudpickle.dumps(part)
        except Exception as own:
            return (
                f"{node.name!r} cannot be sent to the workers: {own}; make in open() what stays on "
                f"a machine: locks, connections, open files ({node.line})"
            )
    return f"the program cannot be sent to the workers: {error}"
