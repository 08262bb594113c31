"""Whole programs in one process: `python job.py` without Spark."""

from __future__ import annotations

import json
import socket
import threading
import time
from collections.abc import Iterable
from pathlib import Path
from typing import Any

import pytest

from headrace.common import (
    Configuration,
    Duration,
    JobStatus,
    RestartStrategies,
    Row,
    Time,
    TimestampAssigner,
    Types,
    WatermarkStrategy,
)
from headrace.datastream import (
    DataStream,
    KeyedProcessFunction,
    MapFunction,
    OutputTag,
    ProcessFunction,
    RuntimeContext,
    RuntimeExecutionMode,
    SinkFunction,
    StreamExecutionEnvironment,
)
from headrace.datastream.connectors.datagen import DataGeneratorSource, RateLimiterStrategy
from headrace.datastream.connectors.file_system import FileSource, StreamFormat
from headrace.datastream.window import TumblingEventTimeWindows
from headrace.runtime import chains
from headrace.runtime.errors import JobFailed
from headrace.runtime.transformations import GraphError

PAIR = Types.TUPLE([Types.STRING(), Types.INT()])
NONE = WatermarkStrategy.no_watermarks()


def environment(parallelism: int = 1, **settings: str) -> StreamExecutionEnvironment:
    configuration = Configuration({"headrace.executor": "in-process", **settings})
    return StreamExecutionEnvironment.get_execution_environment(configuration).set_parallelism(
        parallelism
    )


def counted(words: DataStream) -> DataStream:
    pairs = words.map(lambda word: (word, 1), PAIR)
    return pairs.key_by(lambda pair: pair[0]).reduce(lambda a, b: (a[0], a[1] + b[1]))


def test_values_print_as_they_do_in_pyflink(capsys: pytest.CaptureFixture[str]) -> None:
    env = environment()
    counted(env.from_collection(["to", "be", "to"], Types.STRING())).print()
    env.from_elements(("to", 1.5, None)).print_to_err("undeclared")
    env.execute("words")
    printed = capsys.readouterr()
    assert sorted(printed.out.splitlines()) == ["(be,1)", "(to,1)", "(to,2)"]
    assert printed.err == "undeclared> ('to', 1.5, None)\n"


def test_lines_have_the_subtasks_number_where_there_are_several(
    capsys: pytest.CaptureFixture[str],
) -> None:
    env = environment(2)
    env.from_sequence(1, 4).print()
    env.from_sequence(5, 5).print("id").name("named")
    env.from_sequence(6, 6).print().set_parallelism(1)
    env.execute()
    lines = capsys.readouterr().out.splitlines()
    assert {line.partition("> ")[0] for line in lines[:4]} <= {"1", "2"}
    assert sorted(line.partition("> ")[2] for line in lines[:4]) == ["1", "2", "3", "4"]
    assert lines[4].startswith(("id:1> 5", "id:2> 5"))
    assert lines[5] == "6"


def test_batch_mode_emits_final_values_only() -> None:
    def run(mode: RuntimeExecutionMode) -> list[Any]:
        env = environment()
        env.set_runtime_mode(mode)
        return sorted(counted(env.from_elements("a", "b", "a", "a")).execute_and_collect())

    assert run(RuntimeExecutionMode.BATCH) == [("a", 3), ("b", 1)]
    assert run(RuntimeExecutionMode.AUTOMATIC) == [("a", 3), ("b", 1)]
    assert run(RuntimeExecutionMode.STREAMING) == [("a", 1), ("a", 2), ("a", 3), ("b", 1)]


def test_batch_mode_knows_no_late_records() -> None:
    class First(TimestampAssigner):
        def extract_timestamp(self, value: Any, record_timestamp: int) -> int:
            return int(value[0])

    def windows(mode: RuntimeExecutionMode) -> list[Any]:
        env = environment()
        env.set_runtime_mode(mode)
        source = DataGeneratorSource(
            lambda i: [(5000, 1), (1, 2)][i], 2, RateLimiterStrategy.per_checkpoint(1)
        )
        strategy = WatermarkStrategy.for_monotonous_timestamps().with_timestamp_assigner(First())
        summed = (
            env.from_source(source, strategy, "late")
            .key_by(lambda _: 0)
            .window(TumblingEventTimeWindows.of(Time.seconds(1)))
            .reduce(lambda a, b: (a[0], a[1] + b[1]))
        )
        return sorted(summed.execute_and_collect())

    assert windows(RuntimeExecutionMode.STREAMING) == [(5000, 1)]
    assert windows(RuntimeExecutionMode.BATCH) == [(1, 2), (5000, 1)]


def test_batch_mode_is_refused_for_a_source_without_an_end() -> None:
    env = environment()
    env.set_runtime_mode(RuntimeExecutionMode.BATCH)
    env.from_source(DataGeneratorSource(str), NONE, "for ever").print()
    with pytest.raises(GraphError, match=r"does not end.*test_in_process.py:\d+"):
        env.execute()


def test_a_limit_ends_a_job_without_an_end() -> None:
    stream = environment().from_source(DataGeneratorSource(lambda i: i * i), NONE, "squares")
    assert stream.execute_and_collect(limit=3) == [0, 1, 4]


def test_values_come_while_the_job_runs() -> None:
    limited = DataGeneratorSource(str, rate_limiter_strategy=RateLimiterStrategy.per_second(200))
    stream = environment().from_source(limited, NONE, "slow")
    with stream.execute_and_collect() as values:
        assert [next(values), values.next()] == ["0", "1"]
    assert list(values) == []


def test_a_job_beside_the_program_is_watched_and_cancelled() -> None:
    env = environment()
    env.from_source(DataGeneratorSource(str), NONE, "for ever").add_sink(lambda _: None)
    client = env.execute_async("beside")
    assert client.get_job_status().result() is JobStatus.RUNNING
    assert len(client.get_job_id()) == 32
    client.cancel().result()
    result = client.get_job_execution_result()
    with pytest.raises(JobFailed, match="cancelled"):
        result.result(120)
    assert client.get_job_status().result() is JobStatus.CANCELED
    with pytest.raises(NotImplementedError, match="savepoint"):
        client.trigger_savepoint()


def test_a_job_beside_the_program_ends_and_fails() -> None:
    env = environment()
    env.from_elements(1, 2).add_sink(lambda _: None)
    client = env.execute_async("ends")
    assert client.get_job_execution_result().result(120).get_net_runtime() >= 0
    assert client.get_job_status().result() is JobStatus.FINISHED

    env.from_elements(1, 0).map(lambda n: 1 // n).name("Divide").print()
    client = env.execute_async("fails")
    with pytest.raises(JobFailed, match="operator 'Divide' failed on 0: ZeroDivisionError"):
        client.get_job_execution_result().result(120)
    assert client.get_job_status().result() is JobStatus.FAILED


class Unlucky(MapFunction):
    """Fails in its first attempts."""

    def __init__(self, failures: int) -> None:
        self.failures = failures

    def open(self, runtime_context: RuntimeContext) -> None:
        self.attempt = runtime_context.get_attempt_number()

    def map(self, value: Any) -> Any:
        if value == 4 and self.attempt < self.failures:
            raise OSError("the network is down")
        return value


def running_sum(env: StreamExecutionEnvironment, failures: int) -> list[Any]:
    source = DataGeneratorSource(lambda i: i + 1, 5, RateLimiterStrategy.per_checkpoint(2))
    numbers = env.from_source(source, NONE, "numbers").map(Unlucky(failures))
    return list(numbers.key_by(lambda _: 0).reduce(lambda a, b: a + b).execute_and_collect())


def test_a_restart_goes_on_from_the_batch_before() -> None:
    env = environment().set_restart_strategy(RestartStrategies.fixed_delay_restart(2, 1))
    assert running_sum(env, failures=2) == [1, 3, 6, 10, 15]


@pytest.mark.parametrize(
    "strategy",
    [
        {},
        {"restart-strategy.type": "none"},
        {
            "restart-strategy.type": "fixed-delay",
            "restart-strategy.fixed-delay.attempts": "1",
            "restart-strategy.fixed-delay.delay": "1 ms",
        },
        {
            "restart-strategy.type": "failure-rate",
            "restart-strategy.failure-rate.max-failures-per-interval": "1",
            "restart-strategy.failure-rate.delay": "1 ms",
        },
    ],
)
def test_a_job_fails_when_its_restarts_are_used_up(strategy: dict[str, str]) -> None:
    with pytest.raises(JobFailed, match="the network is down"):
        running_sum(environment(**strategy), failures=2)


def test_an_unknown_strategy_is_refused() -> None:
    with pytest.raises(ValueError, match=r"restart-strategy\.type: 'hope' is not known"):
        running_sum(environment(**{"restart-strategy.type": "hope"}), failures=0)


def test_results_are_compared_with_their_declared_type() -> None:
    class Wrong(KeyedProcessFunction):
        def process_element(
            self, value: Any, ctx: KeyedProcessFunction.Context
        ) -> Iterable[Any] | None:
            yield Row(value, "ten" if value == 2 else 10)

    declared = Types.ROW_NAMED(["id", "size"], [Types.INT(), Types.INT()])
    env = environment()
    numbers = env.from_elements(1, 2).key_by(lambda n: n)
    numbers.process(Wrong(), declared).name("Size").print()
    with pytest.raises(JobFailed) as failure:
        env.execute()
    headline = str(failure.value).splitlines()[0]
    assert headline.startswith("operator 'Size' failed on <Row(2, 'ten')>")
    assert "field size is 'ten', which is no INT" in headline


def test_a_process_functions_results_are_rounded_as_declared() -> None:
    class Tenth(ProcessFunction):
        def process_element(self, value: Any, ctx: ProcessFunction.Context) -> Iterable[Any] | None:
            yield 0.1

    stream = environment().from_elements(1).process(Tenth(), Types.FLOAT())
    doubled = stream.map(lambda x: x * 2)
    assert list(doubled.execute_and_collect()) == [0.20000000298023224]


def test_sink_functions_are_opened_called_and_told_of_a_batchs_end(tmp_path: Path) -> None:
    class Lines(SinkFunction):
        def open(self, runtime_context: RuntimeContext) -> None:
            self.lines = [f"open {runtime_context.get_task_name()}"]
            self.counter = runtime_context.get_metrics_group().counter("lines")

        def invoke(self, value: Any, context: Any) -> None:
            self.lines.append(f"{value} at {context.timestamp()}")
            self.counter.inc()

        def finish_batch(self) -> None:
            with (tmp_path / "out").open("a") as out:
                out.writelines(f"{line}\n" for line in self.lines)
            self.lines = []

        def close(self) -> None:
            self.lines = ["close"]
            self.finish_batch()

    env = environment()
    env.from_elements("a", "b").sink_to(Lines()).name("Lines")
    assert env.execute().get_accumulator_result("lines") == 2
    lines = (tmp_path / "out").read_text().splitlines()
    assert lines == ["open Lines", "a at None", "b at None", "close"]


def test_a_socket_is_read_until_its_server_closes() -> None:
    with socket.create_server(("127.0.0.1", 0)) as server:

        def serve() -> None:
            client, _ = server.accept()
            with client:
                client.sendall(b"eins\nzwei\n")

        threading.Thread(target=serve, daemon=True).start()
        lines = environment().socket_text_stream(*server.getsockname())
        assert list(lines.execute_and_collect()) == ["eins", "zwei"]


def test_new_files_are_found_while_the_job_runs(tmp_path: Path) -> None:
    (tmp_path / "a.txt").write_text("one\ntwo\n")
    (tmp_path / "_hidden").write_text("no")
    source = FileSource.for_record_stream_format(StreamFormat.text_line_format(), str(tmp_path))
    watched = source.monitor_continuously(Duration.of_millis(5)).build()
    with environment().from_source(watched, NONE, "watched").execute_and_collect() as lines:
        assert [next(lines), next(lines)] == ["one", "two"]
        (tmp_path / "deeper").mkdir()
        (tmp_path / "deeper/b.txt").write_text("three\n")
        assert next(lines) == "three"


def test_side_outputs_and_several_sinks_belong_to_one_job() -> None:
    class Split(ProcessFunction):
        def process_element(self, value: Any, ctx: ProcessFunction.Context) -> Iterable[Any] | None:
            yield value
            if value % 2:
                yield OutputTag("odd"), -value

    env = environment()
    seen: list[int] = []
    split = env.from_elements(1, 2, 3).process(Split())
    split.add_sink(seen.append)  # pickled: the job's copy takes them
    assert list(split.get_side_output(OutputTag("odd")).execute_and_collect()) == [-1, -3]
    assert seen == []


def test_a_source_that_ends_holds_time_back_no_more() -> None:
    class Stamp(TimestampAssigner):
        def extract_timestamp(self, value: Any, record_timestamp: int) -> int:
            return int(value) * 100

    strategy = WatermarkStrategy.for_monotonous_timestamps().with_timestamp_assigner(Stamp())
    env = environment()
    few = env.from_source(DataGeneratorSource(lambda i: i, 3), strategy, "few")
    many = env.from_source(
        DataGeneratorSource(lambda i: i, rate_limiter_strategy=RateLimiterStrategy.per_second(300)),
        strategy,
        "many",
    )
    windows = (
        few.union(many)
        .key_by(lambda _: 0)
        .window(TumblingEventTimeWindows.of(Time.seconds(1)))
        .reduce(lambda a, b: a + b)
    )
    assert windows.execute_and_collect(limit=2) == [3 + 45, 145]


def test_the_name_of_the_executor_is_checked() -> None:
    env = environment(**{"headrace.executor": "flink"})
    env.from_elements(1).print()
    with pytest.raises(ValueError, match="'spark' or 'in-process', not 'flink'"):
        env.execute()


def test_a_slot_sharing_group_takes_the_slots_of_its_widest_operator() -> None:
    env = environment(4)
    numbers = env.from_elements(1, 2).map(str)
    numbers.key_by(len).reduce(max).slot_sharing_group("heavy").map(len).print()
    numbers.map(len).set_parallelism(1).slot_sharing_group("light").print().set_parallelism(2)

    assert chains.slots(env.compile("groups")) == {"default": 4, "heavy": 4, "light": 2}


def test_the_plan_shows_chains() -> None:
    env = environment(2)
    numbers = env.from_elements(1, 2).map(str).name("Text")
    numbers.filter(bool).start_new_chain().map(len).disable_chaining().print()
    numbers.key_by(len).reduce(max).slot_sharing_group("other").set_description("the most").print()
    nodes = {n["type"]: n for n in json.loads(env.get_execution_plan())["nodes"]}
    chain = {name: node["chain"] for name, node in nodes.items()}
    assert chain["Text"] == nodes["Source: Collection Source"]["id"]
    assert chain["Filter"] == nodes["Filter"]["id"]
    assert chain["Map"] == nodes["Map"]["id"]
    assert nodes["Reduce"]["contents"] == "the most"
    assert str(env.generate_stream_graph(job_name="Chains")).splitlines() == [
        "Chains:",
        "  1: Source: Collection Source -> Text (parallelism 2)",
        "  3: Filter (parallelism 2, FORWARD from 1)",
        "  4: Map (parallelism 2, FORWARD from 3)",
        "  5: Sink: Print to Std. Out (parallelism 2, FORWARD from 4)",
        "  6: Reduce -> Sink: Print to Std. Out (parallelism 2, HASH from 1)",
    ]
    env.disable_operator_chaining()
    nodes = json.loads(env.get_execution_plan())["nodes"]
    assert all(node["chain"] == node["id"] for node in nodes)


def test_operators_need_uids_where_generated_ones_are_disabled() -> None:
    env = environment()
    env.get_config().disable_auto_generated_uids()
    env.from_elements(1).uid("source").map(str).print().uid("print")
    with pytest.raises(GraphError, match="'Map' has no uid"):
        env.execute()


def test_processing_time_goes_on_without_data() -> None:
    class Alarm(KeyedProcessFunction):
        def process_element(
            self, value: Any, ctx: KeyedProcessFunction.Context
        ) -> Iterable[Any] | None:
            timers = ctx.timer_service()
            timers.register_processing_time_timer(timers.current_processing_time() + 50)
            return None

        def on_timer(
            self, timestamp: int, ctx: KeyedProcessFunction.OnTimerContext
        ) -> Iterable[Any] | None:
            yield "alarm"

    source = DataGeneratorSource(str, rate_limiter_strategy=RateLimiterStrategy.per_second(0.01))
    once = DataGeneratorSource(str, 1)
    env = environment()
    stream = env.from_source(source, NONE, "slow").union(env.from_source(once, NONE, "once"))
    begun = time.monotonic()
    assert stream.key_by(len).process(Alarm()).execute_and_collect(limit=1) == ["alarm"]
    assert time.monotonic() - begun < 60
