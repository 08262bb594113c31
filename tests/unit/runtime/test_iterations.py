"""Streams that come round again."""

from __future__ import annotations

from typing import Any

import pytest

from headrace.datastream import DataStream
from headrace.datastream.streams.iterative import IterativeStream
from headrace.runtime.operators.loop import Loop
from headrace.runtime.operators.operator import OperatorError
from headrace.runtime.transformations import GraphError
from tests.unit.runtime.local_jobs import LocalJob


def collatz(stream: DataStream, loop: Loop | None = None) -> DataStream:
    """(number, steps to 1), from (start, number now, steps so far)."""
    iteration = stream.map(lambda n: (n, n, 0)).iterate()
    if loop is not None:
        iteration._loop.operator = loop
    running = iteration.filter(lambda v: v[1] != 1)
    iteration.close_with(
        running.map(lambda v: (v[0], v[1] // 2 if v[1] % 2 == 0 else 3 * v[1] + 1, v[2] + 1))
    )
    return iteration.filter(lambda v: v[1] == 1).map(lambda v: (v[0], v[2]))


def job(build: Any) -> LocalJob:
    return LocalJob(build, out_of_orderness=None)


def test_values_go_round_until_they_leave_within_one_batch() -> None:
    local = job(collatz)
    assert sorted(local.only(s0=[3, 6, 1, 27])) == [(1, 0), (3, 7), (6, 8), (27, 111)]
    assert local.run.state_entries() == 0


def test_what_goes_on_too_long_goes_on_in_the_next_batch() -> None:
    local = job(lambda s: collatz(s, Loop(rounds=50)))
    assert local.only(s0=[27, 3]) == [(3, 7)]
    assert local.run.metrics.next_timer is not None  # another batch is asked for
    assert local.run.state_entries() > 0
    tick = local.run.batch(tick=True)
    assert list(tick.values()) == [[]]
    assert [v for values in local.run.batch(tick=True).values() for _, v in values] == [(27, 111)]
    assert local.run.state_entries() == 0


def test_cuts_of_batches_and_limits_do_not_show_in_the_results() -> None:
    values = list(range(1, 40))
    whole = job(collatz).only(s0=values)
    local = job(lambda s: collatz(s, Loop(rounds=7)))
    cut = [out for value in values for out in local.only(s0=[value])]
    cut += local.only(ended=True)
    assert sorted(cut) == sorted(whole)


def test_at_the_end_of_input_the_loop_runs_to_its_end() -> None:
    local = job(lambda s: collatz(s, Loop(rounds=1)))
    assert local.only(s0=[27]) == []
    assert local.only(ended=True) == [(27, 111)]


def test_a_loop_that_never_ends_is_said_to() -> None:
    def endless(stream: DataStream) -> DataStream:
        iteration = stream.iterate()
        iteration._loop.operator = Loop(rounds=5, last_rounds=20)
        iteration.close_with(iteration.map(lambda v: v))
        return iteration

    local = job(endless)
    assert local.only(s0=[1]) == [1] * 6
    with pytest.raises(RuntimeError, match="still goes round after 20 times"):
        local.only(ended=True)


def test_a_keyed_stream_may_go_round_and_meet_an_exchange_behind() -> None:
    def build(stream: DataStream) -> DataStream:
        iteration: IterativeStream = stream.key_by(0).iterate()
        iteration.close_with(iteration.filter(lambda v: v[1] > 1).map(lambda v: (v[0], v[1] - 1)))
        return iteration.key_by(0).sum(1)

    assert job(build).only(s0=[("a", 3)]) == [("a", 3), ("a", 5), ("a", 6)]


def test_an_error_in_the_body_names_operator_and_record() -> None:
    def build(stream: DataStream) -> DataStream:
        iteration = stream.iterate()
        iteration.close_with(iteration.map(lambda v: 6 // v - 1).name("body"))
        return iteration

    with pytest.raises(OperatorError, match="'body' failed on 0"):
        job(build).only(s0=[6])


def test_a_loop_with_an_exchange_in_it_or_without_an_end_is_refused() -> None:
    def keyed(stream: DataStream) -> DataStream:
        iteration = stream.iterate()
        iteration.close_with(iteration.key_by(0).sum(1))
        return iteration

    with pytest.raises(GraphError, match="has to stay within its key group, but 'Sum' stands"):
        job(keyed)
    with pytest.raises(GraphError, match="has no close_with"):
        job(lambda s: s.iterate().map(lambda v: v))
