"""open and close, what a function knows of where it runs, metrics, accumulators, cached files."""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path
from typing import Any

import pytest

from headrace.common import Configuration
from headrace.common.accumulators import AverageAccumulator, IntMaximum, ListAccumulator
from headrace.datastream import (
    AsyncDataStream,
    AsyncFunction,
    CoMapFunction,
    DataStream,
    Function,
    KeyedProcessFunction,
    KeySelector,
    MapFunction,
    ReduceFunction,
    RuntimeContext,
    StreamExecutionEnvironment,
)
from headrace.runtime import progress
from headrace.runtime.job_sink import BatchReport
from headrace.runtime.operators.operator import OperatorError
from headrace.runtime.transformations import GraphError
from tests.unit.runtime.local_jobs import LocalJob

ROOT = Path(__file__).parents[3]


class _Written:
    """Notes in a file what was opened and closed: objects are pickled on their way."""

    def __init__(self, log: Path, name: str) -> None:
        self.log = log
        self.name = name

    def open(self, runtime_context: RuntimeContext) -> None:
        self._write("open")

    def close(self) -> None:
        self._write("close")

    def _write(self, what: str) -> None:
        with self.log.open("a") as file:
            file.write(f"{what} {self.name}\n")


class Mapped(_Written, MapFunction):
    def map(self, value: Any) -> Any:
        return value


class CoMapped(_Written, CoMapFunction):
    def map1(self, value: Any) -> Any:
        return value

    def map2(self, value: Any) -> Any:
        return value


class Keyed(_Written, KeySelector):
    def get_key(self, value: Any) -> Any:
        return value


class Reduced(_Written, ReduceFunction):
    def reduce(self, value1: Any, value2: Any) -> Any:
        return value2


class Processed(_Written, KeyedProcessFunction):
    def process_element(self, value: Any, ctx: KeyedProcessFunction.Context) -> Iterable[Any]:
        yield value


class Waiting(_Written, AsyncFunction):
    async def async_invoke(self, value: Any) -> list[Any]:
        return [value]


def all_kinds(log: Path, stream: DataStream) -> DataStream:
    mapped = stream.map(Mapped(log, "map"))
    both = mapped.connect(mapped).map(CoMapped(log, "co-map"))
    reduced = both.key_by(Keyed(log, "key")).reduce(Reduced(log, "reduce"))
    processed = reduced.key_by(lambda v: v).process(Processed(log, "process"))
    return AsyncDataStream.ordered_wait(processed, Waiting(log, "async"), 1000)


KINDS = ["async", "co-map", "key", "map", "process", "reduce"]


def test_functions_of_every_kind_are_opened_and_closed_once(tmp_path: Path) -> None:
    log = tmp_path / "log"
    job = LocalJob(lambda s: all_kinds(log, s), out_of_orderness=None)
    for _ in range(3):
        job.only(s0=[1, 2, 3])
    assert sorted(log.read_text().split("\n")[:-1]) == [f"open {kind}" for kind in KINDS]
    job.run.close()
    job.run.close()
    closed = [line for line in log.read_text().split("\n") if line.startswith("close")]
    assert sorted(closed) == [f"close {kind}" for kind in KINDS]


class Stuck(_Written, MapFunction):
    def map(self, value: Any) -> Any:
        return value

    def close(self) -> None:
        raise ValueError("cannot close")


def test_one_that_cannot_close_keeps_no_other_open(tmp_path: Path) -> None:
    log = tmp_path / "log"

    def stuck(stream: DataStream) -> DataStream:
        return all_kinds(log, stream.map(Stuck(log, "stuck"))).map(Stuck(log, "stuck, too"))

    job = LocalJob(stuck, out_of_orderness=None)
    job.only(s0=[1])
    with pytest.raises(ValueError, match="cannot close"):
        job.run.close()
    closed = [line for line in log.read_text().split("\n") if line.startswith("close")]
    assert sorted(closed) == [f"close {kind}" for kind in KINDS]


class Failing(_Written, MapFunction):
    """At its third value, once."""

    def open(self, runtime_context: RuntimeContext) -> None:
        super().open(runtime_context)
        self.taken = runtime_context.get_int_counter("taken")
        self.counted = runtime_context.get_metrics_group().counter("counted")

    def map(self, value: Any) -> Any:
        self.taken.add(1)
        self.counted.inc()
        if value == 3 and not self.log.with_name("failed").exists():
            self.log.with_name("failed").touch()
            raise ValueError("once")
        return value


def test_a_job_that_is_restarted_closes_what_it_opens_anew(tmp_path: Path) -> None:
    log = tmp_path / "log"
    settings = {"headrace.executor": "in-process", "restart-strategy.type": "fixed-delay"}
    settings |= {f"restart-strategy.fixed-delay.{k}": v for k, v in RETRY.items()}
    env = StreamExecutionEnvironment.get_execution_environment(Configuration(settings))
    env.set_parallelism(1)
    stream = env.from_collection([1, 2, 3]).map(Failing(log, "map"))
    stream.key_by(Keyed(log, "key")).process(Processed(log, "process")).add_sink(print)
    counted = env.execute().get_all_accumulator_results()
    assert (counted["taken"], counted["counted"]) == (3, 3)  # the batch that failed is void
    lines = log.read_text().splitlines()
    assert lines.count("open map") == lines.count("close map") == 2
    assert lines.count("open process") == lines.count("close process") >= 1
    assert lines.count("open key") == lines.count("close key") >= 1


RETRY = {"attempts": "2", "delay": "1 ms"}


class Facts(MapFunction):
    def open(self, runtime_context: RuntimeContext) -> None:
        self.facts = (
            runtime_context.get_task_name(),
            runtime_context.get_task_name_with_subtasks(),
            runtime_context.get_number_of_parallel_subtasks(),
            runtime_context.get_max_number_of_parallel_subtasks(),
            runtime_context.get_index_of_this_subtask(),
            runtime_context.get_attempt_number(),
            runtime_context.get_job_parameter("town", "none"),
            runtime_context.get_job_parameter("street", "none"),
        )

    def map(self, value: Any) -> Any:
        return self.facts


def test_a_function_knows_where_it_runs() -> None:
    job = LocalJob(lambda s: s.map(Facts()).name("Ask"), out_of_orderness=None)
    job.run._packed.unpack()
    assert job.only(s0=[1]) == [("Ask", "Ask (1/1)#0", 1, 4, 0, 0, "none", "none")]
    job.run.restart()
    job.run.restart()
    assert job.only(s0=[1])[0][5] == 1


class Measured(MapFunction):
    def open(self, runtime_context: RuntimeContext) -> None:
        group = runtime_context.get_metrics_group()
        self.counter = group.counter("seen")
        self.meter = group.add_group("inner").meter("events")
        self.sizes = group.add_group("kind", "size").distribution("bytes")
        self.last = 0
        group.gauge("last", lambda: self.last)

    def map(self, value: Any) -> Any:
        self.counter.inc(2)
        self.counter.dec()
        self.meter.mark_event(3)
        self.sizes.update(value)
        self.last = value
        return self.counter.get_count(), self.meter.get_count()


@pytest.mark.parametrize("keyed", [False, True])
def test_metrics_go_with_the_batch(keyed: bool) -> None:
    class State(Measured):  # one that is run behind an exchange
        pass

    def build(stream: DataStream) -> DataStream:
        return (stream.key_by(lambda v: 0) if keyed else stream).map(State())

    job = LocalJob(build, out_of_orderness=None)
    assert job.only(s0=[5, 1]) == [(1, 3), (2, 6)]
    assert job.only(s0=[9]) == [(3, 9)]
    found = job.run.metrics
    assert found.counters == {"seen": 3, "inner.events": 9}
    assert found.distributions == {"kind.size.bytes": [3, 15, 1, 9]}
    assert found.gauges == {"last": 9}


class Accumulating(MapFunction):
    def open(self, runtime_context: RuntimeContext) -> None:
        self.lines = runtime_context.get_int_counter("lines")
        self.lengths = runtime_context.get_histogram("lengths")
        self.mean, self.longest, self.all = AverageAccumulator(), IntMaximum(), ListAccumulator()
        runtime_context.add_accumulator("mean", self.mean)
        runtime_context.add_accumulator("longest", self.longest)
        runtime_context.add_accumulator("all", self.all)
        runtime_context.get_double_counter("untouched")
        assert runtime_context.get_accumulator("mean") is self.mean
        with pytest.raises(ValueError, match="already"):
            runtime_context.add_accumulator("mean", self.mean)
        with pytest.raises(ValueError, match="'lines' is a IntCounter"):
            runtime_context.get_histogram("lines")

    def map(self, value: str) -> str:
        self.lines.add(1)
        for accumulator in (self.lengths, self.mean, self.longest):
            accumulator.add(len(value))
        self.all.add(value)
        return value


EXPECTED = {
    "lines": 3,
    "lengths": {1: 2, 4: 1},
    "mean": 2.0,
    "longest": 4,
    "all": ["a", "bbbb", "c"],
    "untouched": 0.0,
}


def in_process(**settings: str) -> StreamExecutionEnvironment:
    configuration = Configuration()
    for key, value in {"headrace.executor": "in-process", **settings}.items():
        configuration.set_string(key, value)
    return StreamExecutionEnvironment.get_execution_environment(configuration)


def test_accumulators_are_in_the_job_s_result() -> None:
    env = in_process()
    env.from_collection(["a", "bbbb", "c"]).map(Accumulating()).add_sink(lambda value: None)
    result = env.execute("job")
    assert result.get_all_accumulator_results() == EXPECTED
    assert result.get_accumulator_result("lengths") == {1: 2, 4: 1}


def test_accumulators_of_key_groups_and_batches_add_up() -> None:
    def build(stream: DataStream) -> DataStream:
        return stream.rebalance().map(Accumulating())

    job = LocalJob(build, out_of_orderness=None)
    for value in ("a", "bbbb", "c"):
        job.only(s0=[value])
    values = {n: a.get_local_value() for n, a in job.run.metrics.accumulators.items()}
    assert values == EXPECTED


def test_a_batch_that_fails_counts_nothing() -> None:
    class Fails(Accumulating):
        def map(self, value: str) -> str:
            super().map(value)
            if value == "bad":
                raise ValueError(value)
            return value

    job = LocalJob(lambda s: s.map(Fails()), out_of_orderness=None)
    with pytest.raises(OperatorError):
        job.only(s0=["a", "bad"])
    job.only(s0=["a"])
    assert job.run.metrics.accumulators["lines"].get_local_value() == 1


def test_one_name_for_two_kinds_is_refused() -> None:
    class Other(MapFunction):
        def open(self, runtime_context: RuntimeContext) -> None:
            runtime_context.get_histogram("lines")

        def map(self, value: Any) -> Any:
            return value

    job = LocalJob(lambda s: s.map(Accumulating()).map(Other()), out_of_orderness=None)
    with pytest.raises(ValueError, match="'lines' is of two kinds: IntCounter and Histogram"):
        job.only(s0=["a"])


class Towns(MapFunction):
    def open(self, runtime_context: RuntimeContext) -> None:
        self.job = runtime_context.get_job_id()
        self.town = runtime_context.get_job_parameter("town", "none")
        cache = runtime_context.get_distributed_cache()
        self.names = cache.get_file("towns").read_text().split()
        with pytest.raises(KeyError, match="no file was registered as 'streets'"):
            cache.get_file("streets")

    def map(self, value: int) -> Any:
        assert len(self.job) == 32
        return self.names[value], self.town


def test_cached_files_and_job_parameters_reach_the_functions(tmp_path: Path) -> None:
    file = tmp_path / "towns.txt"
    file.write_text("Bern\nUri\n")
    env = in_process()
    env.register_cached_file(str(file), "towns")
    env.get_config().set_global_job_parameters({"town": "Chur"})
    values = env.from_collection([1, 0]).map(Towns()).execute_and_collect()
    assert list(values) == [("Uri", "Chur"), ("Bern", "Chur")]


def test_an_error_in_open_names_the_operator() -> None:
    class Broken(MapFunction):
        def open(self, runtime_context: RuntimeContext) -> None:
            raise ConnectionError("no database")

        def map(self, value: Any) -> Any:
            return value

    class BrokenProcess(KeyedProcessFunction):
        def open(self, runtime_context: RuntimeContext) -> None:
            raise ConnectionError("no database")

        def process_element(self, value: Any, ctx: KeyedProcessFunction.Context) -> None: ...

    for job in (
        LocalJob(lambda s: s.map(Broken()).name("broken"), out_of_orderness=None),
        LocalJob(
            lambda s: s.key_by(lambda v: v).process(BrokenProcess()).name("broken"),
            out_of_orderness=None,
        ),
    ):
        with pytest.raises(OperatorError, match="operator 'broken' failed on 'open'") as caught:
            job.only(s0=[1])
        assert "no database" in str(caught.value)


def test_the_wrong_kind_of_function_is_refused_with_its_line() -> None:
    with pytest.raises(GraphError, match=r"needs a keyed stream.*test_rich_functions.py:\d"):
        LocalJob(lambda s: s.process(Processed(Path(), "")))  # type: ignore[arg-type]
    with pytest.raises(GraphError, match="is processed by a KeyedProcessFunction, not by a Facts"):
        LocalJob(lambda s: s.key_by(0).process(Facts()))  # type: ignore[arg-type]


def test_every_function_has_open_and_close() -> None:
    import headrace.datastream.functions as functions

    kinds = [
        each
        for each in vars(functions).values()
        if isinstance(each, type) and each.__name__.endswith("Function")
        if each is not functions.SourceFunction  # a source, as in PyFlink
    ]
    assert len(kinds) > 15
    assert all(issubclass(kind, Function) for kind in kinds)


def test_what_functions_measure_is_told_of_each_checkpoint() -> None:
    report = BatchReport(3, time=5, visible_at=9)
    report.metrics.gauges["last"] = 7
    report.metrics.distributions["bytes"] = [1, 4, 4, 4]
    told = progress.checkpoint(3, None, report, {"seen": 1})
    assert (told.gauges, told.distributions) == ({"last": 7}, {"bytes": [1, 4, 4, 4]})
