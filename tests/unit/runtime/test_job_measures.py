"""The figures that a driver makes of what its batches report."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from headrace.common import Configuration, Duration, Time, TimestampAssigner, WatermarkStrategy
from headrace.datastream import MapFunction, RuntimeContext, StreamExecutionEnvironment
from headrace.datastream.window import TumblingEventTimeWindows
from headrace.runtime.job_sink import BatchReport
from headrace.runtime.local_run import LocalRun
from headrace.runtime.measures import LEFT_OUT, MOST_NAMES, Group, Measures
from headrace.runtime.measuring import tables
from headrace.runtime.measuring.counts import Measured as Counted
from headrace.runtime.measuring.job_measures import JobMeasures
from headrace.runtime.metrics import BatchMetrics
from headrace.runtime.parts import Part
from headrace.runtime.program import Program
from headrace.wire import columns
from headrace.wire.events import CheckpointCompleted, Measured
from headrace.wire.operator_ids import operator_id

SECOND = 1_000


class Own(TimestampAssigner):
    def extract_timestamp(self, value: Any, record_timestamp: int) -> int:
        return int(value)


class Seen(MapFunction):
    def open(self, runtime_context: RuntimeContext) -> None:
        self.meter = runtime_context.get_metrics_group().add_group("api").meter("calls")

    def map(self, value: Any) -> Any:
        self.meter.mark_event()
        return value


class Job:
    """A source, a window of 100 ms by the last digit and a sink, with a clock of its own."""

    def __init__(self) -> None:
        self.now = 100 * SECOND
        self.program = _program()
        [self.source] = self.program.sources
        self.run = LocalRun(self.program, ("t-0", "t-1"))
        self.measures = JobMeasures(self.program, lambda: self.now / 1000)
        self.batches = 0

    def batch(self, *parts: Part, behind: int = 0, took: int = 2 * SECOND) -> None:
        begun, self.now = self.now, self.now + took
        self.run.metrics = BatchMetrics()
        self.run.frames({self.source: list(parts)}, time=begun)
        self.batches += 1
        self.measures.batch(
            CheckpointCompleted(
                self.batches,
                begun,
                took,
                records_in=self.run.metrics.records_in,
                offsets={"t": {"0": 100 * self.batches}},
                lag={"t": {"0": behind}},
            ),
            BatchReport(self.batches, begun, self.now, metrics=self.run.metrics),
            self.run.metrics.accumulators,
        )

    def told(self) -> Measured:
        told = self.measures.last()
        assert told is not None
        return told


def _program() -> Program:
    settings = Configuration({"headrace.executor": "in-process"})
    env = StreamExecutionEnvironment.get_execution_environment(settings)
    env.set_parallelism(2).set_max_parallelism(8)
    idle = Duration.of_seconds(5)
    marks = WatermarkStrategy.for_bounded_out_of_orderness(Duration.of_millis(9))
    timed = (
        env.from_collection([0])
        .uid("read")
        .assign_timestamps_and_watermarks(marks.with_timestamp_assigner(Own()).with_idleness(idle))
        .uid("timed")
    )
    windows = TumblingEventTimeWindows.of(Time.milliseconds(100))
    sums = (
        timed.map(Seen())
        .uid("seen")
        .key_by(lambda value: value % 10)
        .window(windows)
        .reduce(lambda a, b: a + b)
    )
    sums.uid("sums").print().uid("printed")
    return env.compile("measured")


def part(split: str, *values: int, waited: int = 0, now: int = 100 * SECOND) -> Part:
    arrived = np.full(len(values), now - waited)
    return Part(split, [(None, value) for value in values], arrived=arrived)


@pytest.fixture
def job() -> Job:
    return Job()


def of_vertex(told: Measured, uid: str) -> list[dict[str, float]]:
    return columns.rows(told.vertices[operator_id(uid)], 2)


def of_operator(told: Measured, uid: str) -> list[dict[str, float]]:
    return columns.rows(told.operators[operator_id(uid)], 2)


def test_records_are_counted_where_they_come_and_go(job: Job) -> None:
    job.batch(part("t-0", *range(150)), part("t-1", *range(200)))
    job.batch(part("t-0", *range(200, 250)), part("t-1", *range(200, 250), 3))

    told = job.told()
    read, sums = of_vertex(told, "read"), of_vertex(told, "sums")

    assert sum(row["numRecordsIn"] for row in read) == 451
    assert sum(row["numRecordsIn"] for row in sums) == 451
    assert sum(row["numFiredTimers"] for row in sums) == 20
    assert sum(row["numRecordsOutPerSecond"] for row in read) == pytest.approx(451 / 4)
    assert sum(row["numLateRecordsDropped"] for row in sums) == 1
    assert sum(row.get("api.calls_count", 0) for row in of_operator(told, "seen")) == 451
    assert told.job["numRecordsIn"] == 451


@pytest.mark.parametrize(("behind", "held"), [(0, False), (7, True)])
def test_a_source_is_held_back_while_records_are_left_behind(
    job: Job, behind: int, held: bool
) -> None:
    job.batch(part("t-0", *range(500)), behind=behind)
    told = job.told()
    for row in of_vertex(told, "read") + of_vertex(told, "sums"):
        kinds = "busy", "idle", "backPressured"
        assert sum(row[f"{kind}TimeMsPerSecond"] for kind in kinds) == pytest.approx(1000, abs=1)
    read = of_vertex(told, "read")[0]
    assert (read["backPressuredTimeMsPerSecond"] > 500) == held
    assert (read["idleTimeMsPerSecond"] < 500) == held
    if held:
        assert read["hardBackPressuredTimeMsPerSecond"] > 0  # planning and commit
    assert of_vertex(told, "sums")[0]["backPressuredTimeMsPerSecond"] == 0


def test_watermarks_say_what_holds_them_back(job: Job) -> None:
    job.batch(part("t-0", 500), part("t-1", 250))
    sums = job.told().watermarks[operator_id("sums")]
    assert sums == {"watermark": 240, "held_by": operator_id("timed"), "split": "t-1", "idle": []}

    job.now += 60 * SECOND
    job.batch(part("t-0", 700))
    told = job.told()
    sums = told.watermarks[operator_id("sums")]
    assert (sums["watermark"], sums["split"], sums["idle"]) == (690, "t-0", ["t-1"])
    assert of_vertex(told, "sums")[0]["currentInputWatermark"] == 690
    assert of_operator(told, "read")[0]["watermarkLag"] == job.now - 690


def test_splits_have_figures_of_their_own(job: Job) -> None:
    job.batch(part("t-0", 500), behind=12)
    [read, _] = of_operator(job.told(), "read")
    assert read["pendingRecords"] == read["KafkaSourceReader.KafkaConsumer.records-lag-max"] == 12
    assert read["KafkaSourceReader.topic.t.partition.0.currentOffset"] == 100
    assert read["split.t-0.watermark.currentWatermark"] == 490


def test_latency_runs_from_the_source_to_each_sink(job: Job) -> None:
    values = [*range(90)]
    job.batch(part("t-0", *values, waited=100), part("t-1", *range(10), waited=4_000))
    before, visible = job.told().latency
    assert (before["to"], visible["to"]) == ("pre-commit", "visible")
    assert (visible["source"], visible["sink"]) == (operator_id("read"), operator_id("printed"))
    assert (visible["count"], visible["p50"], visible["p99"]) == (100, 2_100, 6_000)
    assert (visible["min"], visible["max"], visible["mean"]) == (2_100, 6_000, 2_490)


def test_lag_has_a_trend_and_an_end(job: Job) -> None:
    for behind in (1_000, 900, 800, 700):
        job.batch(part("t-0", *range(100)), behind=behind, took=SECOND)
    [figures] = job.told().partitions["t"].values()
    assert figures == {"lag": 700, "read": 100, "arriving": 0, "trend": -100, "catch_up": 7}


def test_rates_fall_when_nothing_comes(job: Job) -> None:
    job.batch(part("t-0", *range(100)))
    job.now += 11 * SECOND
    job.measures.idle({})
    job.now += 11 * SECOND
    job.measures.idle({"t": {"0": 0}})
    [read, _] = of_vertex(job.told(), "read")
    assert (read["numRecordsInPerSecond"], read["numRecordsIn"]) == (0, 100)
    assert read["idleTimeMsPerSecond"] == 1000


def test_a_meter_is_of_late(job: Job) -> None:
    job.batch(part("t-0", *range(100)), took=10 * SECOND)
    seen = of_operator(job.told(), "seen")
    assert sum(row.get("api.calls", 0) for row in seen) == 10
    for _ in range(8):
        job.now += 10 * SECOND
        job.measures.idle({})
    job.measures.due()
    seen = of_operator(job.measures._safely(job.measures._told, None), "seen")  # type: ignore[arg-type]
    assert sum(row.get("api.calls", 0) for row in seen) == 0
    assert sum(row.get("api.calls_count", 0) for row in seen) == 100


def test_a_clock_that_is_set_back_stops_no_figures(job: Job) -> None:
    for _ in range(3):
        job.batch(part("t-0", *range(100)), took=SECOND)
    job.told()
    job.now -= 3_600 * SECOND
    for _ in range(12):
        job.batch(part("t-0", *range(100)), took=SECOND)
    told = job.measures.due()
    assert told is not None
    [read, _] = of_vertex(told, "read")
    assert read["numRecordsInPerSecond"] == pytest.approx(100)
    assert told.partitions["t"]["0"]["read"] == 100


def test_batches_that_follow_quickly_are_looked_at_now_and_then(job: Job) -> None:
    for _ in range(300):
        job.batch(part("t-0", *range(10)), took=50)
    assert len(job.measures._rates._seen) <= 40
    assert job.told().job["numRecordsInPerSecond"] == pytest.approx(200)


def test_what_is_idle_moves_no_place_back(job: Job) -> None:
    for _ in range(3):
        job.batch(part("t-0", 1), took=SECOND)
    job.now += 100
    job.measures.idle({"t": {"0": 0}})
    assert job.measures._lags.place("t-0") == 300


def test_metrics_of_functions_take_no_name_of_others(job: Job) -> None:
    counted = Counted("gauge", [7.0])
    job.measures._totals.user[job.source] = {"numRecordsIn": {0: counted}, "mine": {0: counted}}
    job.batch(part("my.topic-0", *range(5)))
    read = of_operator(job.told(), "read")[0]
    assert (read["numRecordsIn"], read["mine"]) == (5, 7)


def test_figures_are_told_every_two_seconds_at_most(job: Job) -> None:
    assert job.measures.due() is None
    job.batch(part("t-0", 1))
    assert job.measures.due() is not None
    assert job.measures.last() is None  # nothing is new
    job.batch(part("t-0", 2), took=50)
    assert job.measures.due() is None
    job.now += 10 * SECOND
    assert job.measures.due() is not None


def test_an_idle_job_tells_its_figures_every_minute(job: Job) -> None:
    job.batch(part("t-0", 1))
    job.told()
    told = 0
    for _ in range(30):
        job.now += 10 * SECOND
        job.measures.idle({})
        told += job.measures.due() is not None
    assert told == 2 + 4


def test_a_job_does_not_fail_because_of_its_figures(
    job: Job, caplog: pytest.LogCaptureFixture
) -> None:
    job.measures.batch(None, None, {})  # type: ignore[arg-type]
    assert "tells no figures any more" in caplog.text
    assert job.measures.due() is job.measures.last() is None


@pytest.mark.parametrize("value", [float("nan"), float("inf"), "text", None, 10**400])
def test_gauges_that_give_no_number_are_not_told(value: Any) -> None:
    [(name, number)] = tables._measured(None, (1, 0, "g"), Counted("gauge", [value]))  # type: ignore[arg-type]
    assert columns.columns([{name: number}, {name: 1.0}]) == {"g": [None, 1]}


def test_names_of_metrics_have_an_end() -> None:
    measures, report = Measures(), BatchMetrics()
    group = Group(measures, 3)
    for number in range(MOST_NAMES + 20):
        group.counter(f"user {number}").inc()
    told = measures.take(report)
    assert len(told) == MOST_NAMES
    assert report.counters[LEFT_OUT] == 20
    assert group.counter("user 1").get_count() == 0
    group.counter("user 1").inc(4)
    assert measures.take(BatchMetrics())[3, "user 1"].numbers == [5]


def test_only_numbers_travel_and_a_gauge_that_raises_costs_no_record() -> None:
    measures, report = Measures(), BatchMetrics()
    group = Group(measures, 3)
    group.counter("numpy").inc(np.int64(5))  # type: ignore[arg-type]
    group.counter("none").inc(float("nan"))  # type: ignore[arg-type]
    group.counter("huge").inc(1 << 70)
    group.distribution("endless").update(float("inf"))
    group.gauge("broken", lambda: 1 // 0)
    group.gauge("word", lambda: "a word")  # type: ignore[arg-type, return-value]
    group.gauge("half", lambda: np.float32(0.5))  # type: ignore[arg-type, return-value]
    told = measures.take(report)
    assert {name: each.numbers for (_, name), each in told.items()} == {
        "numpy": [5],
        "huge": [float(1 << 70)],
        "half": [0.5],
    }
    assert {type(n) for each in told.values() for n in each.numbers} <= {int, float}
    assert (report.counters["numpy"], report.gauges) == (5, {"half": 0.5})
