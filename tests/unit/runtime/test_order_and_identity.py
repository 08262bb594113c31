"""What must not depend on where batches are cut, on Python's equality, or on a changed program."""

from __future__ import annotations

import json
import math
import subprocess
import sys
import threading
from collections.abc import Iterable
from pathlib import Path
from typing import Any

import pytest

from headrace.common import Row, WatermarkStrategy
from headrace.datastream import CoMapFunction, DataStream, KeyedProcessFunction, MapFunction
from headrace.datastream.functions import RuntimeContext
from headrace.datastream.state import ListStateDescriptor
from headrace.runtime import state_identity
from headrace.runtime.errors import JobFailed
from headrace.runtime.frames import MAX_WATERMARK
from headrace.runtime.keys import encode
from headrace.runtime.operators.operator import OperatorError
from headrace.runtime.program import Program
from tests.unit.runtime.local_jobs import First, LocalJob

ROOT = Path(__file__).parents[3]


class History(KeyedProcessFunction):
    """Emits the list it keeps, which goes on growing."""

    def open(self, runtime_context: RuntimeContext) -> None:
        self.state = runtime_context.get_list_state(ListStateDescriptor("history"))

    def process_element(self, value: Any, ctx: KeyedProcessFunction.Context) -> Iterable[Any]:
        self.state.add(value[1])
        yield list(self.state.get())


def test_what_is_emitted_does_not_change_behind_the_operator() -> None:
    class Same(KeyedProcessFunction):
        def open(self, runtime_context: RuntimeContext) -> None:
            self.kept: list[Any] = []

        def process_element(self, value: Any, ctx: KeyedProcessFunction.Context) -> Iterable[Any]:
            self.kept.append(value[1])
            yield self.kept

    job = LocalJob(lambda s: s.key_by(0).process(Same()), out_of_orderness=None)
    assert job.only(s0=[("a", 1), ("a", 2), ("a", 3)]) == [[1], [1, 2], [1, 2, 3]]


def test_cuts_of_batches_do_not_show_in_the_output() -> None:
    records = [("a", 1), ("a", 2), ("a", 3)]
    one = LocalJob(lambda s: s.key_by(0).process(History()), out_of_orderness=None)
    three = LocalJob(lambda s: s.key_by(0).process(History()), out_of_orderness=None)
    assert one.only(s0=records) == [out for r in records for out in three.only(s0=[r])]


def test_keys_that_python_takes_for_equal_are_apart() -> None:
    job = LocalJob(lambda s: s.key_by(0).sum(1), out_of_orderness=None, max_parallelism=1)
    assert [n for _, n in job.only(s0=[(1, 1), (True, 1), (1.0, 1)])] == [1, 1, 1]
    assert sorted(n for _, n in job.only(s0=[(1, 1), (True, 1), (1.0, 1)])) == [2, 2, 2]
    assert job.only(s0=[(math.nan, 1), (float("nan"), 1)])[1][1] == 2


def test_a_value_that_cannot_be_a_key_is_named() -> None:
    job = LocalJob(lambda s: s.key_by(lambda v: threading.Lock()).sum(), out_of_orderness=None)
    with pytest.raises(OperatorError, match="operator 'key_by' failed on 7") as caught:
        job.only(s0=[7])
    assert "a lock cannot be a key" in caught.value.traceback


def test_lists_maps_and_sets_are_keys_by_what_is_in_them() -> None:
    assert encode([1, "a"]) == encode([1, "a"]) != encode((1, "a"))
    assert encode({"a": 1, "b": [2]}) == encode({"b": [2], "a": 1}) != encode({"a": 1, "b": 2})
    assert encode({"x", "y", "z"}) == encode({"z", "y", "x"}) != encode(["x", "y", "z"])
    job = LocalJob(lambda s: s.key_by(lambda v: [v % 2]).sum(), out_of_orderness=None)
    assert sorted(job.only(s0=[1, 2, 3, 4])) == [1, 2, 4, 6]


def test_rows_are_keys_by_their_values() -> None:
    assert encode(Row(a=1, b="x")) == encode(Row(a=1, b="x"))
    assert encode(Row(1, "x")) != encode((1, "x"))


def test_when_all_splits_are_idle_the_last_one_decides() -> None:
    job = LocalJob(
        lambda s: s.key_by(lambda v: v[1]).process(Once()), splits=("0", "1"), idle=10_000
    )
    assert job.only(time=0, s0=[(1, "a")]) == []
    assert job.only(time=5_000, s0=[(50, "a")]) == []
    tick = job.run.batch(time=15_200, tick=True)
    assert [value for values in tick.values() for _, value in values] == [("a", 10)]


class Once(KeyedProcessFunction):
    def process_element(self, value: Any, ctx: KeyedProcessFunction.Context) -> None:
        ctx.timer_service().register_event_time_timer(10)

    def on_timer(self, timestamp: int, ctx: KeyedProcessFunction.OnTimerContext) -> Iterable[Any]:
        yield ctx.get_current_key(), timestamp


def test_after_a_pause_a_silent_split_has_its_whole_timeout_again() -> None:
    job = LocalJob(
        lambda s: s.key_by(lambda v: v[1]).process(Once()), splits=("0", "1"), idle=1_000
    )
    assert job.only(time=0, s0=[(1, "a")], s1=[(1, "a")]) == []
    job.run.restart()
    assert job.only(time=3_600_000, s0=[(50, "a")]) == []
    assert job.only(time=3_600_500, s1=[(5, "a")]) == []
    assert job.only(time=3_600_900, s1=[(11, "a")]) == [("a", 10)]


def test_a_second_assigner_waits_for_every_split_too() -> None:
    def build(stream: DataStream) -> DataStream:
        strategy = WatermarkStrategy.for_monotonous_timestamps().with_timestamp_assigner(First())
        again = stream.assign_timestamps_and_watermarks(strategy)
        return again.key_by(lambda v: v[1]).process(Once())

    job = LocalJob(build, splits=("0", "1"))
    assert job.only(s0=[(50, "a")]) == []
    assert job.only(s1=[(50, "a")]) == [("a", 10)]


def test_a_timer_at_the_end_of_time_fires_at_the_end_of_input() -> None:
    class AtEnd(KeyedProcessFunction):
        def process_element(self, value: Any, ctx: KeyedProcessFunction.Context) -> None:
            ctx.timer_service().register_event_time_timer(MAX_WATERMARK)

        def on_timer(
            self, timestamp: int, ctx: KeyedProcessFunction.OnTimerContext
        ) -> Iterable[Any]:
            yield "end"

    job = LocalJob(lambda s: s.key_by(lambda v: v[1]).process(AtEnd()))
    assert job.only(s0=[(1, "a")]) == []
    assert job.only(ended=True) == ["end"]
    assert job.run.state_entries() == 0


def test_functions_are_opened_once_per_worker() -> None:
    class Opened(MapFunction):
        opened = 0

        def open(self, runtime_context: RuntimeContext) -> None:
            self.opened += 1

        def map(self, value: Any) -> int:
            return self.opened

    job = LocalJob(lambda s: s.map(Opened()), out_of_orderness=None)
    assert [job.only(s0=[1]) for _ in range(3)] == [[1], [1], [1]]


def test_an_error_behind_a_keyed_operator_is_not_blamed_on_it() -> None:
    job = LocalJob(
        lambda s: s.key_by(0).sum(1).map(lambda v: 1 // 0).name("broken"), out_of_orderness=None
    )
    with pytest.raises(OperatorError, match="operator 'broken' failed"):
        job.only(s0=[("a", 1)])


def window_job(stream: DataStream, uid: str | None = None) -> DataStream:
    counted = stream.key_by(lambda v: v[1]).reduce(lambda a, b: b)
    return counted.uid(uid) if uid else counted


def test_a_program_that_would_lose_state_is_refused(tmp_path: Path) -> None:
    kept = tmp_path / "headrace" / "program.json"
    state_identity.keep_or_compare(LocalJob(window_job).run.program, kept)
    state_identity.keep_or_compare(LocalJob(window_job).run.program, kept)
    moved = LocalJob(lambda s: window_job(s.map(lambda v: v))).run.program
    with pytest.raises(JobFailed, match="state of operator 'node-3' would be lost") as caught:
        state_identity.keep_or_compare(moved, kept)
    assert not caught.value.restartable
    larger = LocalJob(window_job, max_parallelism=8).run.program
    with pytest.raises(JobFailed, match="max parallelism was 4, is 8"):
        state_identity.keep_or_compare(larger, kept)


def test_state_in_an_earlier_form_is_refused(tmp_path: Path) -> None:
    """Its entries would not be found, and the job would begin with empty state."""
    kept = tmp_path / "headrace" / "program.json"
    program = LocalJob(window_job).run.program
    state_identity.keep_or_compare(program, kept)
    identity = json.loads(kept.read_text())
    del identity["layout"]
    kept.write_text(json.dumps(identity))
    with pytest.raises(JobFailed, match="earlier version of Headrace") as caught:
        state_identity.keep_or_compare(program, kept)
    assert not caught.value.restartable


class Latest(CoMapFunction):
    """Its inputs meet in an attribute."""

    def __init__(self) -> None:
        self.seen = 0

    def map1(self, value: Any) -> Any:
        self.seen = value

    def map2(self, value: Any) -> Any:
        return self.seen


def test_another_parallelism_takes_keyed_state_along_but_no_attributes(tmp_path: Path) -> None:
    def program(build: Any, parallelism: int) -> Program:
        compiled = LocalJob(build).run.program
        compiled.parallelism = parallelism
        return compiled

    keyed, kept = window_job, tmp_path / "headrace" / "keyed.json"
    state_identity.keep_or_compare(program(keyed, 2), kept)
    state_identity.keep_or_compare(program(keyed, 3), kept)
    assert state_identity.parallelism(kept) == 3
    kept = tmp_path / "headrace" / "unkeyed.json"
    state_identity.keep_or_compare(program(latest, 2), kept)
    state_identity.keep_or_compare(program(latest, 2), kept)
    with pytest.raises(JobFailed, match="keeps attributes in each of 2 subtasks"):
        state_identity.keep_or_compare(program(latest, 3), kept)


def latest(stream: DataStream) -> DataStream:
    return stream.connect(stream.map(lambda v: v)).map(Latest())


def test_an_operator_with_a_uid_may_move(tmp_path: Path) -> None:
    kept = tmp_path / "headrace" / "program.json"
    state_identity.keep_or_compare(LocalJob(lambda s: window_job(s, "last")).run.program, kept)
    moved = LocalJob(lambda s: window_job(s.map(lambda v: v), "last")).run.program
    state_identity.keep_or_compare(moved, kept)


def test_state_that_finds_no_operator_is_lost_only_where_that_is_allowed(tmp_path: Path) -> None:
    kept = tmp_path / "headrace" / "program.json"
    state_identity.keep_or_compare(LocalJob(lambda s: window_job(s, "before")).run.program, kept)
    changed = LocalJob(lambda s: window_job(s, "after")).run.program
    with pytest.raises(JobFailed, match=r"'before' would be lost .*allowNonRestoredState"):
        state_identity.keep_or_compare(changed, kept)
    state_identity.keep_or_compare(changed, kept, may_lose=True)
    state_identity.keep_or_compare(changed, kept)  # at the next start it is the job's own
    assert state_identity.identity(changed)["operators"] == {"after": 1}


SCRIPT = """
import sys
from dataclasses import dataclass
from pathlib import Path
from headrace.common import WatermarkStrategy
from headrace.datastream import StreamExecutionEnvironment
from headrace.runtime.program import PackedProgram
from headrace.runtime.sinks import PrintSink

@dataclass
class Trip:
    taxi: str
    fare: int

def main():
    env = StreamExecutionEnvironment.get_execution_environment().set_max_parallelism(4)
    trips = env.from_collection(["x 1", "y 2", "x 3"]).map(lambda l: Trip(l[0], int(l[2])))
    trips.key_by(lambda t: t.taxi).reduce(lambda a, b: Trip(a.taxi, a.fare + b.fare)).print()
    Path(sys.argv[1]).write_bytes(PackedProgram.pack(env.compile("trips")).body)

main()
"""
WORKER = """
import sys
from pathlib import Path
import cloudpickle
from headrace.runtime.local_run import LocalRun
from headrace.runtime.parts import Part

run = LocalRun(cloudpickle.loads(Path(sys.argv[1]).read_bytes()))
for line in ("x 1", "y 2", "x 3"):
    [values] = run.batch({1: [Part("0", [(None, line)])]}).values()
    print(*values)
"""


def test_classes_of_the_job_s_own_script_are_records_and_state(tmp_path: Path) -> None:
    """Across processes: a worker cannot import the script."""
    packed = tmp_path / "program"
    for name, program in (("job.py", SCRIPT), ("worker.py", WORKER)):
        (tmp_path / name).write_text(program)
        done = subprocess.run(
            [sys.executable, str(tmp_path / name), str(packed)],
            capture_output=True,
            text=True,
            env={"PYTHONPATH": str(ROOT / "platform")},
            check=False,
        )
        assert done.returncode == 0, done.stderr
    assert done.stdout.splitlines() == [
        "(None, Trip(taxi='x', fare=1))",
        "(None, Trip(taxi='y', fare=2))",
        "(None, Trip(taxi='x', fare=4))",
    ]
