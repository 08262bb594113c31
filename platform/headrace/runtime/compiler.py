"""From the stream graph that the API built to the program that runs.

Nodes are numbered in topological order, so the same program text gives the same numbers and,
where the author gave no uid, the same uids after a restart.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable

from headrace.common.typeinfo import TypeInformation, Types
from headrace.common.watermark_strategy import WatermarkStrategy
from headrace.datastream.execution_mode import RuntimeExecutionMode
from headrace.runtime import event_times
from headrace.runtime.exchanges import Exchange, Feedback, among
from headrace.runtime.operators import stateless
from headrace.runtime.operators.co_process import CoProcess
from headrace.runtime.operators.operator import KeyedOperator, StatelessOperator
from headrace.runtime.operators.timestamps import AssignTimestamps
from headrace.runtime.program import Generator, Node, Program, Target
from headrace.runtime.transformations import (
    AsyncTransformation,
    CoTransformation,
    Edge,
    GraphError,
    KeyedTransformation,
    LoopTransformation,
    MapTransformation,
    SinkTransformation,
    SourceTransformation,
    TimestampsTransformation,
    Transformation,
    upstream,
)
from headrace.runtime.watermarks import ANY

_OPERATORS = {
    "map": stateless.Map,
    "flat_map": stateless.FlatMap,
    "filter": stateless.Filter,
    "process": stateless.Process,
}

#: What the uid of a node begins with whose author gave none.
GENERATED_UID = "node-"


def compile_graph(
    sinks: Iterable[Transformation],
    *,
    name: str,
    parallelism: int,
    max_parallelism: int,
    mode: RuntimeExecutionMode = RuntimeExecutionMode.STREAMING,
    own_uids: bool = False,
) -> Program:
    """`own_uids`: an operator without a uid is refused. Raises GraphError for a graph that cannot
    run."""
    order = list(upstream(list(sinks)))
    if not order:
        raise GraphError("the job has no sink; call sink_to, print or execute_and_collect first")
    event_times.check(order)
    event_times.tell_of_alignment(order)
    batch = _batch(order, mode)
    compiler = _Compiler(order, batch)
    if own_uids:
        _refuse_generated_uids(order)
    return Program(
        name=name,
        nodes={node.id: node for node in compiler.nodes.values()},
        sources={
            compiler.nodes[t.id].id: t.source for t in order if isinstance(t, SourceTransformation)
        },
        sinks={compiler.nodes[t.id].id: t.sink for t in order if isinstance(t, SinkTransformation)},
        generators=compiler.generators,
        levels=max(node.level for node in compiler.nodes.values()),
        max_parallelism=max_parallelism,
        parallelism=parallelism,
        batch=batch,
        numbers={number: node.id for number, node in compiler.nodes.items()},
    )


def _batch(order: Iterable[Transformation], mode: RuntimeExecutionMode) -> bool:
    if mode is RuntimeExecutionMode.STREAMING:
        return False
    endless = [
        node
        for node in order
        if isinstance(node, SourceTransformation) and not getattr(node.source, "bounded", True)
    ]
    if endless and mode is RuntimeExecutionMode.BATCH:
        raise GraphError(
            f"{endless[0].name!r} does not end, and the runtime mode is BATCH; use STREAMING or "
            f"AUTOMATIC ({endless[0].line})"
        )
    return not endless


def _refuse_generated_uids(order: Iterable[Transformation]) -> None:
    for node in order:
        if node.uid is None:
            raise GraphError(
                f"{node.name!r} has no uid, and generated ones are disabled; call uid() on it "
                f"({node.line})"
            )


class _Compiler:
    """Numbers, levels, watermark generators and edges, in topological order."""

    def __init__(self, order: list[Transformation], batch: bool) -> None:
        self._batch = batch
        #: by the transformation's id
        self.nodes: dict[int, Node] = {}
        self.generators: dict[str, Generator] = {}
        self._reaching: dict[int, frozenset[str]] = {}
        #: by the transformation's id: the parallelisms that what reads it asks for, None for none
        self._wanted: defaultdict[int, set[int | None]] = defaultdict(set)
        for transformation in order:
            for edge in transformation.inputs:
                self._wanted[edge.source.id].add(transformation.parallelism)
        for number, transformation in enumerate(order, 1):
            try:
                self._add(number, transformation)
            except GraphError as error:
                raise GraphError(f"{error} ({transformation.line})") from None
        for transformation in order:
            if isinstance(transformation, LoopTransformation):
                self._close_loop(transformation)
        self._check_uids()

    def _add(self, number: int, transformation: Transformation) -> None:
        node = Node(
            id=number,
            uid=transformation.uid or f"{GENERATED_UID}{number}",
            name=transformation.name,
            level=self._level(transformation),
            operator=self._operator(transformation),
            output_type=transformation.output_type,
            checked=_checked(transformation),
            parallelism=transformation.parallelism,
            chaining=transformation.chaining,
            slot_sharing_group=transformation.slot_sharing_group,
            description=transformation.description,
            line=transformation.line,
        )
        self.nodes[transformation.id] = node
        generators = self._generators(number, transformation, node.level)
        self._reaching[transformation.id] = generators
        if isinstance(transformation, KeyedTransformation):
            node.generators = generators
        for edge in transformation.inputs:
            exchange = among(edge.exchange, self._wanted[transformation.id])
            self._connect(edge, node, exchange)

    def _operator(self, transformation: Transformation) -> StatelessOperator | KeyedOperator | None:
        operator = _operator(transformation)
        return operator.for_batch() if self._batch and operator is not None else operator

    def _level(self, transformation: Transformation) -> int:
        before = max((self.nodes[e.source.id].level for e in transformation.inputs), default=0)
        return before + 1 if isinstance(transformation, KeyedTransformation) else before

    def _generators(
        self, number: int, transformation: Transformation, level: int
    ) -> frozenset[str]:
        """The generators whose watermarks reach the output of a node."""
        if isinstance(transformation, SourceTransformation):
            return self._generator(f"silent-{number}", WatermarkStrategy.no_watermarks())
        if isinstance(transformation, TimestampsTransformation):
            strategy = WatermarkStrategy.no_watermarks() if self._batch else transformation.strategy
            return self._generator(f"generator-{number}", strategy, level)
        inputs = [self._reaching[edge.source.id] for edge in transformation.inputs]
        return frozenset().union(*inputs)

    def _generator(self, name: str, strategy: WatermarkStrategy, level: int = 0) -> frozenset[str]:
        # a generator without a word from any split holds the watermark back, as Flink's does;
        # behind an exchange there is one split
        splits = (ANY,) if strategy.silent or level else ()
        self.generators[name] = Generator(name, strategy, splits)
        return frozenset((name,))

    def _close_loop(self, loop: LoopTransformation) -> None:
        node = self.nodes[loop.id]
        if not loop.feedback:
            raise GraphError(
                f"{loop.name!r} has no close_with: nothing ever comes back to it ({loop.line})"
            )
        for edge in loop.feedback:
            body = self.nodes[edge.source.id]
            if body.level != node.level or edge.key is not None:
                raise GraphError(
                    f"what comes back to {loop.name!r} has to stay within its key group, but "
                    f"{body.name!r} stands before it or behind another exchange; put key_by and "
                    f"partitioning before iterate, or behind the loop ({edge.source.line})"
                )
            self._connect(edge, node, Feedback())

    def _connect(self, edge: Edge, node: Node, exchange: Exchange | None) -> None:
        tag = edge.tag.tag_id if edge.tag else None
        targets = self.nodes[edge.source.id].outputs.setdefault(tag, [])
        keyed = isinstance(node.operator, KeyedOperator)
        targets.append(Target(node.id, edge.input, edge.key if keyed else None, exchange))

    def _check_uids(self) -> None:
        seen: dict[str, str] = {}
        for node in self.nodes.values():
            if node.uid in seen:
                raise GraphError(
                    f"uid {node.uid!r} is given to both {seen[node.uid]!r} and {node.name!r}"
                )
            seen[node.uid] = node.name


def _checked(transformation: Transformation) -> TypeInformation | None:
    """The declared type of results that nobody else compares with it."""
    kind = transformation.kind if isinstance(transformation, MapTransformation) else ""
    anything = Types.PICKLED_BYTE_ARRAY()
    keyed = isinstance(transformation, KeyedTransformation) and not hasattr(
        transformation.operator,
        "output_type",  # those that have it check by themselves
    )
    if kind == "process" or keyed:
        return None if transformation.output_type == anything else transformation.output_type
    return None


def _operator(transformation: Transformation) -> StatelessOperator | KeyedOperator | None:
    if isinstance(transformation, MapTransformation):
        kind = _OPERATORS[transformation.kind]
        return kind(transformation.name, transformation.function, transformation.output_type)
    if isinstance(transformation, CoTransformation):
        return CoProcess(transformation.name, transformation.function, transformation.output_type)
    if isinstance(transformation, AsyncTransformation):
        assert isinstance(transformation.operator, StatelessOperator)
        return transformation.operator
    if isinstance(transformation, TimestampsTransformation):
        return AssignTimestamps(transformation.name, transformation.strategy)
    if isinstance(transformation, KeyedTransformation):
        assert isinstance(transformation.operator, KeyedOperator)
        return transformation.operator
    return None
