"""A driver that comes to the end of its memory says so, and what it did not commit is left."""

from __future__ import annotations

from collections.abc import Callable

import pytest

from headrace.wire import events
from tests.driving import DrivenJob

pytestmark = pytest.mark.timeout(1500)

#: A failure is told late where the machine is busy: Spark looks for its workers again and again.
SECONDS = 600.0
#: Fails as its argument says, when the query runs: `worker` in a function, `jvm` in the driver.
PROGRAM = """
import os, sys, threading, time
from pathlib import Path
from headrace.common import Types, WatermarkStrategy
from headrace.datastream import MapFunction, StreamExecutionEnvironment
from headrace.datastream.connectors.datagen import DataGeneratorSource, RateLimiterStrategy

MODE = sys.argv[1]
RUN_DIR = Path(os.environ["HEADRACE_RUN_DIR"])

class Hoard(MapFunction):
    def map(self, value):
        kept = [bytearray(10_000_000) for _ in range(400 if MODE == "worker" else 1)]
        return len(kept)

def fill_heap():
    while '"kind": "running"' not in (RUN_DIR / "journal.jsonl").read_text():
        time.sleep(0.2)
    from pyspark import SparkContext
    gateway = SparkContext._gateway
    gateway.new_array(gateway.jvm.long, 400_000_000)

if MODE == "jvm":
    threading.Thread(target=fill_heap, daemon=True).start()
env = StreamExecutionEnvironment.get_execution_environment()
rate = RateLimiterStrategy.per_second(10)
source = DataGeneratorSource(lambda i: i, 1_000_000, rate, Types.LONG())
stream = env.from_source(source, WatermarkStrategy.no_watermarks(), "numbers")
stream.map(Hoard()).name("hoard").filter(lambda n: False).print()
env.execute("hoard")
"""


def test_a_python_worker_over_its_limit_names_the_operator(
    drive: Callable[..., DrivenJob],
) -> None:
    job = drive(PROGRAM, "worker", parallelism=1, memory_mib=2000)

    job.start()
    assert job.wait(SECONDS) == 1

    [failed] = job.events(events.Failed)
    assert (
        "out of memory in a Python worker, which may take 1400 MiB of the 2000 MiB" in failed.error
    )
    assert "'hoard'" in failed.error
    assert failed.cause == "memory"
    assert failed.restartable


def test_a_jvm_without_heap_ends_the_attempt_and_says_so(drive: Callable[..., DrivenJob]) -> None:
    job = drive(PROGRAM, "jvm", parallelism=1, memory_mib=2000)

    job.start()
    assert job.wait(SECONDS) == 1

    [failed] = job.events(events.Failed)
    assert failed.error.startswith(
        "out of memory: the JVM came to the end of its heap, 600 MiB of the 2000 MiB of the job's "
        "slots. What was not committed is processed again from the last checkpoint."
    )
    assert failed.cause == "memory"
    assert failed.restartable
