"""Jobs on Spark that run beside their program."""

from __future__ import annotations

import socket
import threading
import time
from collections.abc import Callable
from typing import Any

import pytest

from headrace.common import JobStatus
from headrace.datastream import DataStream, MapFunction, RuntimeContext
from headrace.datastream.connectors.datagen import DataGeneratorSource, RateLimiterStrategy
from headrace.runtime.errors import JobFailed
from tests.spark import programs

pytestmark = pytest.mark.usefixtures("on_spark")

SECONDS = 600


def endless(env: Any) -> DataStream:
    source = DataGeneratorSource(
        lambda n: n, rate_limiter_strategy=RateLimiterStrategy.per_second(50)
    )
    return env.from_source(source, programs.NONE, "for ever")


class Counting(MapFunction):
    def open(self, runtime_context: RuntimeContext) -> None:
        self.counter = runtime_context.get_long_counter("seen")

    def map(self, value: Any) -> Any:
        self.counter.add(1)
        return value


def test_a_job_is_watched_and_cancelled() -> None:
    env = programs.environment("spark")
    endless(env).map(Counting()).add_sink(lambda _: None)
    client = env.execute_async("beside")
    assert client.get_job_status().result() is JobStatus.RUNNING
    wait_until(lambda: client.get_accumulators().result().get("seen", 0) > 0)
    client.cancel().result()
    with pytest.raises(JobFailed, match="cancelled"):
        client.get_job_execution_result().result(SECONDS)
    assert client.get_job_status().result() is JobStatus.CANCELED
    assert client.get_accumulators().result()["seen"] > 0


def test_jobs_of_one_program_run_at_once() -> None:
    clients = []
    for number in range(3):
        env = programs.environment("spark", parallelism=1)
        env.from_collection([1, 2, 3]).map(Counting()).add_sink(lambda _: None)
        clients.append(env.execute_async(f"beside {number}"))
    results = [each.get_job_execution_result().result(SECONDS) for each in clients]
    assert [each.get_accumulator_result("seen") for each in results] == [3, 3, 3]


def test_values_come_while_a_job_runs_and_closing_ends_it() -> None:
    env = programs.environment("spark")
    with (
        endless(env)
        .key_by(lambda n: n % 2)
        .reduce(lambda a, b: a + b)
        .execute_and_collect("collect") as values
    ):
        first = [next(values) for _ in range(4)]
    assert first[0] in (0, 1)
    assert list(values) == []


def test_a_limit_is_enough() -> None:
    env = programs.environment("spark", parallelism=1)
    assert endless(env).execute_and_collect(limit=3) == [0, 1, 2]


def test_a_socket_is_read_until_its_server_closes() -> None:
    with socket.create_server(("127.0.0.1", 0)) as server:

        def serve() -> None:
            client, _ = server.accept()
            with client:
                client.sendall(b"to be\nor not\n")

        threading.Thread(target=serve, daemon=True).start()
        lines = programs.environment("spark").socket_text_stream(*server.getsockname())
        assert list(lines.execute_and_collect()) == ["to be", "or not"]


def test_a_failure_is_the_jobs_and_raises_where_it_is_asked_for() -> None:
    env = programs.environment("spark")
    env.from_elements(1, 0).map(lambda n: 1 // n).name("Divide").print()
    client = env.execute_async("fails")
    with pytest.raises(JobFailed, match="operator 'Divide' failed on 0: ZeroDivisionError"):
        client.get_job_execution_result().result(SECONDS)
    assert client.get_job_status().result() is JobStatus.FAILED


def wait_until(holds: Callable[[], bool]) -> None:
    deadline = time.monotonic() + SECONDS
    while not holds():
        assert time.monotonic() < deadline
        time.sleep(0.05)
