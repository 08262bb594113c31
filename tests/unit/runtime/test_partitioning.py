"""Where records go without a key: every partitioner, and the subtasks functions see."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Callable
from typing import Any

import pytest

from headrace.common import WatermarkStrategy
from headrace.datastream import DataStream, MapFunction, Partitioner, StreamExecutionEnvironment
from headrace.datastream.functions import RuntimeContext
from headrace.runtime.local_run import LocalRun
from headrace.runtime.operators.operator import OperatorError
from headrace.runtime.parts import Part
from headrace.runtime.sinks import CollectSink
from headrace.runtime.sources import CollectionSource


class Subtask(MapFunction):
    """(its subtask, value)"""

    def open(self, runtime_context: RuntimeContext) -> None:
        self.index = runtime_context.get_index_of_this_subtask()
        self.seen = 0

    def map(self, value: Any) -> Any:
        self.seen += 1
        return self.index, value


def run(
    build: Callable[[DataStream], DataStream],
    *tasks: list[Any],
    parallelism: int = 3,
    max_parallelism: int = 8,
) -> list[Any]:
    return batches(build, [list(tasks)], parallelism, max_parallelism)[0]


def batches(
    build: Callable[[DataStream], DataStream],
    rows: list[list[list[Any]]],
    parallelism: int = 3,
    max_parallelism: int = 8,
) -> list[list[Any]]:
    env = StreamExecutionEnvironment.get_execution_environment()
    env.set_parallelism(parallelism).set_max_parallelism(max_parallelism)
    source = env.from_source(CollectionSource(()), WatermarkStrategy.no_watermarks(), "test")
    build(source).sink_to(CollectSink())
    local = LocalRun(env.compile("test"))
    results = []
    for tasks in rows:
        parts = [Part(str(n), [(None, v) for v in values]) for n, values in enumerate(tasks)]
        [received] = local.batch({1: parts}).values()
        results.append([value for _, value in received])
    return results


def subtasks(received: list[Any]) -> dict[int, int]:
    return dict(sorted(Counter(index for index, _ in received).items()))


def test_rebalance_and_rescale_give_each_subtask_its_share() -> None:
    for partition in (DataStream.rebalance, DataStream.rescale):
        received = run(lambda s, p=partition: p(s).map(Subtask()), list(range(300)))
        assert subtasks(received) == {0: 100, 1: 100, 2: 100}
        assert sorted(v for _, v in received) == list(range(300))
        two = run(lambda s, p=partition: p(s).map(Subtask()), list(range(31)), list(range(29)))
        assert sum(subtasks(two).values()) == 60
        assert max(subtasks(two).values()) - min(subtasks(two).values()) <= 2


def test_in_turn_goes_on_from_one_chunk_of_a_task_to_the_next() -> None:
    def build(stream: DataStream) -> DataStream:
        return stream.flat_map(lambda v: [v]).rebalance().map(Subtask())

    assert subtasks(run(build, [1, 2, 3, 4, 5, 6])) == {0: 2, 1: 2, 2: 2}


def test_shuffle_spreads_irregularly_and_the_same_each_time() -> None:
    received = run(lambda s: s.shuffle().map(Subtask()), list(range(300)))
    counts = subtasks(received)
    assert set(counts) == {0, 1, 2}
    assert all(60 < count < 140 for count in counts.values())
    assert received == run(lambda s: s.shuffle().map(Subtask()), list(range(300)))


def test_global_brings_everything_to_the_first_subtask_in_order() -> None:
    received = run(lambda s: s.global_().map(Subtask()), [1, 2, 3], [4, 5])
    assert received == [(0, 1), (0, 2), (0, 3), (0, 4), (0, 5)]


def test_broadcast_gives_every_subtask_every_value() -> None:
    received = run(lambda s: s.broadcast().map(Subtask()), [1, 2], [3])
    assert sorted(received) == [(i, v) for i in range(3) for v in (1, 2, 3)]


def test_forward_stays_in_the_task_that_read() -> None:
    received = run(lambda s: s.forward().map(Subtask()), [1, 2], [3], [4], [5])
    assert received == [(0, 1), (0, 2), (1, 3), (2, 4), (0, 5)]


class Modulo(Partitioner):
    def open(self, runtime_context: RuntimeContext) -> None:
        self.opened = True

    def partition(self, key: Any, num_partitions: int) -> int:
        assert self.opened
        return int(key) % num_partitions


@pytest.mark.parametrize("partitioner", [Modulo(), lambda key, n: key % n], ids=["class", "lambda"])
def test_partition_custom_decides_itself(partitioner: Any) -> None:
    def build(stream: DataStream) -> DataStream:
        return stream.partition_custom(partitioner, lambda v: v * 2).map(Subtask())

    received = run(build, list(range(12)), list(range(12)))
    assert all(index == value * 2 % 3 for index, value in received)
    assert [v for i, v in received if i == 0] == [0, 3, 6, 9, 0, 3, 6, 9]


def test_a_partition_that_is_not_there_names_the_record() -> None:
    with pytest.raises(OperatorError, match="'partition_custom' failed on 7") as caught:
        run(lambda s: s.partition_custom(lambda key, n: n, lambda v: v), [7])
    assert "partition 3 is outside 0..2" in str(caught.value)


def test_each_subtask_has_a_function_object_of_its_own() -> None:
    class Count(Subtask):
        def map(self, value: Any) -> Any:
            super().map(value)
            return self.index, self.seen

    first, second = batches(lambda s: s.rebalance().map(Count()), [[[0] * 6], [[0] * 6]])
    assert sorted(first) == [(i, n) for i in range(3) for n in (1, 2)]
    assert sorted(second) == [(i, n) for i in range(3) for n in (3, 4)]


def test_partitioning_again_or_by_key_replaces_what_was_asked_before() -> None:
    env = StreamExecutionEnvironment.get_execution_environment()
    source = env.from_collection([(1, 2)])
    source.rebalance().shuffle().key_by(0).sum(1).print()
    nodes = json.loads(env.get_execution_plan())["nodes"]
    assert [n["type"] for n in nodes if "Source" not in n["type"]] == [
        "Sum",
        "Sink: Print to Std. Out",
    ]


def test_the_plan_says_how_records_travel() -> None:
    env = StreamExecutionEnvironment.get_execution_environment()
    stream = env.from_collection([1])
    for partitioned in (stream.rebalance(), stream.shuffle(), stream.global_(), stream.broadcast()):
        partitioned.print()
    nodes = json.loads(env.get_execution_plan())["nodes"]
    ships = [p["ship_strategy"] for n in nodes for p in n.get("predecessors", [])]
    assert [ship for ship in ships if ship != "FORWARD"] == [
        "REBALANCE",
        "SHUFFLE",
        "GLOBAL",
        "BROADCAST",
    ]


def test_more_subtasks_than_key_groups_are_not_used() -> None:
    received = run(
        lambda s: s.rebalance().map(Subtask()), [1] * 8, parallelism=5, max_parallelism=2
    )
    assert subtasks(received) == {0: 4, 1: 4}
