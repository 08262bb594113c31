"""A partitioning spreads over the subtasks, or over as many as the operator behind it asks for."""

from __future__ import annotations

import pytest

from headrace.common import Configuration
from headrace.datastream import DataStream, StreamExecutionEnvironment


def stream(*values: int) -> DataStream:
    settings = Configuration({"headrace.executor": "in-process", "parallelism.default": "2"})
    env = StreamExecutionEnvironment.get_execution_environment(settings)
    return env.from_collection(list(values))


@pytest.mark.parametrize(("asked", "copies"), [(None, 2), (1, 1), (3, 3)])
def test_a_broadcast_has_a_copy_for_each_subtask(asked: int | None, copies: int) -> None:
    doubled = stream(1, 2).broadcast().map(lambda value: value * 2)
    if asked:
        doubled.set_parallelism(asked)
    assert sorted(doubled.execute_and_collect()) == sorted([2, 4] * copies)


@pytest.mark.parametrize(("asked", "partitions"), [(None, 2), (1, 1), (5, 5)])
def test_a_partitioner_is_told_how_many_there_are(asked: int | None, partitions: int) -> None:
    def partition(key: int, number: int) -> int:
        assert number == partitions
        return key % number

    same = stream(*range(10)).partition_custom(partition, lambda value: value).filter(bool)
    if asked:
        same.set_parallelism(asked)
    assert sorted(same.execute_and_collect()) == list(range(1, 10))


def test_operators_that_ask_for_different_numbers_get_the_subtasks() -> None:
    sent = stream(1).broadcast()
    one = sent.map(lambda value: value).set_parallelism(1)
    other = sent.map(lambda value: value).set_parallelism(3)
    assert list(one.union(other).execute_and_collect()) == [1] * 4


@pytest.mark.parametrize("asked", [1, 3])
def test_one_that_asks_does_not_speak_for_one_that_does_not(asked: int) -> None:
    sent = stream(1).broadcast()
    one = sent.map(lambda value: value).set_parallelism(asked)
    other = sent.map(lambda value: -value)
    assert sorted(one.union(other).execute_and_collect()) == [-1, -1, 1, 1]


def test_a_partitioner_of_several_operators_is_told_the_subtasks() -> None:
    def partition(key: int, number: int) -> int:
        assert number == 2
        return key % number

    sent = stream(1, 2).partition_custom(partition, lambda value: value)
    one = sent.map(lambda value: value).set_parallelism(3)
    assert sorted(one.union(sent.map(lambda value: -value)).execute_and_collect()) == [-2, -1, 1, 2]
