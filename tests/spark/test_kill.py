"""A driver that is killed outright, and the one that goes on: nothing is lost, nothing twice."""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

from headrace.connectors.files.staging import HIDDEN
from headrace.wire import events
from tests.driving import DrivenJob

PROGRAM = """
import sys

from headrace.common import Encoder
from headrace.datastream import StreamExecutionEnvironment
from headrace.datastream.connectors.file_system import FileSink
from tests.spark.test_state import records, streams
from tests.spark.two_executors import Batches, by_first_field

folder, ends = sys.argv[1:]
env = StreamExecutionEnvironment.get_execution_environment().set_max_parallelism(6)
source = Batches(records(5), bounded=ends == "ends")
found = streams(env.from_source(source, by_first_field(12), "records"))
lines = [each.map(lambda value, n=name: f"{n} {value}") for name, each in found.items()]
sink = FileSink.for_row_format(folder, Encoder.simple_string_encoder()).build()
lines[0].union(*lines[1:]).sink_to(sink)
env.execute("killed")
"""


def test_a_killed_job_goes_on_as_if_nothing_had_happened(
    drive: Callable[..., DrivenJob], tmp_path: Path
) -> None:
    job = drive(PROGRAM, str(tmp_path / "spark"), "never")
    job.start()
    job.until(lambda: len(job.events(events.CheckpointCompleted)) >= 2)
    job.kill()

    job.arguments[1] = "ends"
    assert job.run() == 0, job.log()

    subprocess.run(
        [sys.executable, job.entry, str(tmp_path / "here"), "ends"],
        env={**os.environ, "HEADRACE_EXECUTOR": "in-process"},
        check=True,
        timeout=120,
    )
    assert written(tmp_path / "spark") == written(tmp_path / "here")


def written(base: Path) -> list[str]:
    parts = [path for path in base.rglob("part-*") if HIDDEN not in path.parts]
    return sorted(line for path in parts for line in path.read_text().splitlines())
