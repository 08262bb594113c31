"""A batch that takes longer than the checkpoint timeout, in a real job."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

from headrace.wire import events
from tests.driving import DrivenJob

#: Its one batch ends when the file is there.
PROGRAM = """
import os, sys, time
from headrace.datastream import StreamExecutionEnvironment

LINES, END = sys.argv[1:]  # a worker has arguments of its own

def wait(line):
    while not os.path.exists(END):
        time.sleep(0.05)
    return line

env = StreamExecutionEnvironment.get_execution_environment()
env.enable_checkpointing(100)
env.read_text_file(LINES).map(wait).print()
env.execute("slow")
"""
TIMEOUT = "execution.checkpointing.timeout"


def test_it_fails_the_job_unless_it_is_tolerated(
    drive: Callable[..., DrivenJob], tmp_path: Path
) -> None:
    lines, end = tmp_path / "in.txt", tmp_path / "end"
    lines.write_text("a line\n")
    job = drive(PROGRAM, str(lines), str(end), parallelism=1)
    job.configuration = {TIMEOUT: "1 s"}

    assert job.run() == 1, job.log()
    [late] = job.events(events.CheckpointFailed)
    assert (late.checkpoint_id, late.in_a_row) == (1, 1)
    [failed] = job.events(events.Failed)
    assert failed.error.startswith(f"checkpoint 1 takes longer than {TIMEOUT}, 1 s; 1 failed")
    assert failed.restartable
    assert not job.events(events.CheckpointCompleted)

    job.configuration["execution.checkpointing.tolerable-failed-checkpoints"] = "3"
    job.start()
    job.until(lambda: bool(job.events(events.CheckpointFailed)))
    end.touch()
    assert job.wait() == 0, job.log()
    assert job.events(events.CheckpointCompleted)[0].checkpoint_id == 1
    assert job.events()[-1] == events.Stopped("finished")
