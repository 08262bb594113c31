"""The control plane with a real driver: savepoints by REST, stop with one, begin again from it."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Any

import pytest
from django.contrib.auth.models import User
from django.test import Client

from headrace.connectors.files.staging import HIDDEN
from headrace.wire import savepoint
from jobs.models import Job
from jobs.states import JobState
from tests.service.conftest import Cluster, attempt_of

#: Spark starts once per attempt, on a machine that may be busy.
SECONDS = 600.0
KEYS, ENOUGH = 3, 30
PROGRAM = f"""
import sys
from headrace.common import Encoder, Types, WatermarkStrategy
from headrace.datastream import KeyedProcessFunction, StreamExecutionEnvironment
from headrace.datastream.connectors.datagen import DataGeneratorSource, RateLimiterStrategy
from headrace.datastream.connectors.file_system import FileSink
from headrace.datastream.state import ValueStateDescriptor

OUT = sys.argv[1]

class Count(KeyedProcessFunction):
    def open(self, context):
        self.count = context.get_state(ValueStateDescriptor("count", Types.INT()))

    def process_element(self, value, ctx):
        count = (self.count.value() or 0) + 1
        self.count.update(count)
        yield f"{{value % {KEYS}}} {{count}}"

env = StreamExecutionEnvironment.get_execution_environment().enable_checkpointing(200)
env.set_max_parallelism(8).set_default_savepoint_directory(OUT + "-savepoints")
rate = RateLimiterStrategy.per_second(20)
source = DataGeneratorSource(lambda i: i, rate_limiter_strategy=rate, type_info=Types.LONG())
numbers = env.from_source(source, WatermarkStrategy.no_watermarks(), "numbers")
counts = numbers.key_by(lambda n: n % {KEYS}).process(Count(), Types.STRING()).uid("count")
counts.sink_to(FileSink.for_row_format(OUT, Encoder.simple_string_encoder()).build())
env.execute("counted")
"""


@pytest.mark.timeout(2400)
def test_a_job_is_stopped_with_a_savepoint_and_another_goes_on_exactly_from_there(
    cluster: Cluster, alice: User, tmp_path: Path
) -> None:
    cluster.environment["HEADRACE_DRIVER_COMMAND"] = f"{sys.executable},-m,headrace.runtime.driver"
    cluster.environment["HEADRACE_STOP_TIMEOUT"] = "300"
    cluster.environment["HEADRACE_DRIVER_TIMEOUT"] = "300"
    cluster.start_jobmanager()
    cluster.start_taskmanager()
    rest, out = Rest(cluster, alice), tmp_path / "out"

    first = rest.submit(out)
    cluster.wait(first, JobState.RUNNING, timeout=SECONDS)
    cluster.until(lambda: read(first) > 0, SECONDS)
    checkpoint = rest.done(first, "checkpoints")["checkpointId"]
    running = place(rest.done(first, "savepoints"))
    assert running.parent == tmp_path / "out-savepoints"  # as the program says
    assert savepoint.verify(running).checkpoint_id >= checkpoint
    cluster.until(lambda: read(first) >= ENOUGH, SECONDS)
    last = place(rest.done(first, "stop", asked_at="savepoints"))
    cluster.wait(first, JobState.FINISHED, timeout=SECONDS)
    assert written(out) == counted(read(first))

    second = rest.submit(out, savepoint_path=str(last))
    cluster.wait(second, JobState.RUNNING, timeout=SECONDS)
    cluster.until(lambda: read(second) >= ENOUGH, SECONDS)
    rest.done(second, "stop", asked_at="savepoints")
    cluster.wait(second, JobState.FINISHED, timeout=SECONDS)
    assert attempt_of(second, 1).restored_checkpoint == savepoint.verify(last).checkpoint_id
    assert written(out) == counted(read(first) + read(second))


class Rest:
    """What alice asks for."""

    def __init__(self, cluster: Cluster, alice: User) -> None:
        self._cluster = cluster
        self._client = Client()
        self._client.force_login(alice)

    def submit(self, out: Path, **values: str) -> Job:
        program = out.with_name("counted_job.py")
        program.write_text(PROGRAM)
        with program.open("rb") as file:
            wish = {"file": file, "arguments": [str(out)], **values}
            answer = self._client.post("/api/jobs/", wish)
        assert answer.status_code == 201, answer.content
        return Job.objects.get(pk=answer.json()["id"])

    def done(self, job: Job, operation: str, asked_at: str = "") -> dict[str, Any]:
        """What came of one of Flink's operations."""
        address = f"/jobs/{job.pk}"
        posted = self._client.post(f"{address}/{operation}", {}, content_type="application/json")
        status = f"{address}/{asked_at or operation}/{posted.json()['request-id']}"

        def answer() -> dict[str, Any]:
            found: dict[str, Any] = self._client.get(status).json()
            return found

        self._cluster.until(lambda: answer()["status"]["id"] == "COMPLETED", SECONDS)
        made: dict[str, Any] = answer()["operation"]
        assert made.keys() <= {"location", "checkpointId"}, made
        return made


def place(made: dict[str, Any]) -> Path:
    return savepoint.locate(made["location"])


def read(job: Job) -> int:
    """Records of its batches that are recorded."""
    return sum(job.checkpoints.values_list("records_in", flat=True))


def counted(numbers: int) -> list[str]:
    """What comes of so many: no record twice, none left out, and the counts go on."""
    return sorted(f"{n % KEYS} {n // KEYS + 1}" for n in range(numbers))


def written(base: Path) -> list[str]:
    parts = [path for path in base.rglob("part-*") if HIDDEN not in path.parts]
    return sorted(line for path in parts for line in path.read_text().splitlines())
