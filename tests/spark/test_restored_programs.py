"""A job whose driver was killed in a micro-batch goes on where it was: positions, keyed state,
timers, and what its functions counted."""

from __future__ import annotations

import os
import signal
from collections.abc import Callable, Iterable
from pathlib import Path
from typing import Any

import pytest

from headrace.connectors.files.staging import HIDDEN
from headrace.datastream import StreamExecutionEnvironment
from headrace.wire import events
from tests.driving import DrivenJob
from tests.spark import measured, programs, test_measures

ROOT = Path(__file__).parents[2]

PROGRAM = """
import os
import sys

from headrace.common import Encoder, Types
from headrace.datastream import StreamExecutionEnvironment
from headrace.datastream.connectors.file_system import FileSink
from tests.spark import measured

env = StreamExecutionEnvironment.get_execution_environment().set_max_parallelism(8)
paid = measured.payments(env)
paid.add_sink(measured.Told())
sink = FileSink.for_row_format(sys.argv[1], Encoder.simple_string_encoder()).build()
paid.map(measured.Killing(os.getpid())).map(str, Types.STRING()).sink_to(sink)
result = env.execute("payments")
print("counted:", sorted(result.get_all_accumulator_results().items()))
"""


@pytest.mark.timeout(1200)  # two drivers, one after the other
def test_a_killed_job_gives_what_it_gives_when_it_is_not(
    drive: Callable[..., DrivenJob], tmp_path: Path
) -> None:
    out = tmp_path / "out"
    path = os.pathsep.join([str(ROOT), str(ROOT / "platform")])
    job = drive(PROGRAM, str(out), environment={"PYTHONPATH": path})

    assert job.run() == -signal.SIGKILL, job.log()
    checkpoints = job.events(events.CheckpointCompleted)
    assert job.run() == 0, job.log()
    checkpoints += job.events(events.CheckpointCompleted)

    assert job.events(events.Running)[0].restored_checkpoint == 1
    assert written(out) == sorted(map(str, values()))
    expected = sorted(test_measures.counted("in-process").items())
    assert f"counted: {expected}\n" in job.log()
    # the second driver tells what the first one did not live to tell, and perhaps what it told
    assert distributions({each.checkpoint_id: each for each in checkpoints}.values()) == {
        "Seen distribution": [8, 149, 5, 40],
        "Watched distribution": [8, 180, 10, 40],
        "Told distribution": [10, 28, 2, 3],
    }


def build(env: StreamExecutionEnvironment) -> programs.Streams:
    return {"all": measured.payments(env)}


def values() -> list[Any]:
    found: list[Any] = programs.results(build, "in-process")["all"]
    return found


def written(base: Path) -> list[str]:
    parts = [path for path in base.rglob("part-*") if HIDDEN not in path.parts]
    return sorted(line for path in parts for line in path.read_text().splitlines())


def distributions(checkpoints: Iterable[events.CheckpointCompleted]) -> dict[str, list[float]]:
    found: dict[str, list[float]] = {}
    for checkpoint in checkpoints:
        for name, (number, total, least, most) in checkpoint.distributions.items():
            known = found.setdefault(name, [0, 0, least, most])
            found[name] = [
                known[0] + number,
                known[1] + total,
                min(known[2], least),
                max(known[3], most),
            ]
    return found
