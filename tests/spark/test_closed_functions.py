"""On Spark, what a job has opened is closed once each when it ends, before it says so."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

SECONDS = 600

FUNCTIONS = """
import os
import sys
import time
import uuid
from pathlib import Path

from headrace.datastream import *

LOG = sys.argv[1]


class Noted:
    "Notes what is opened and closed, and takes its time for it."

    def open(self, runtime_context):
        self.known = uuid.uuid4().hex
        self.note("open")

    def close(self):
        time.sleep(0.02)
        self.note("close")

    def note(self, what):
        with open(LOG, "a") as log:
            log.write(f"{what} {type(self).__name__} {self.known}\\n")


class Mapped(Noted, MapFunction):
    def map(self, value):
        return value


class Kept(Noted, FilterFunction):
    def filter(self, value):
        return True


class Processed(Noted, ProcessFunction):
    def process_element(self, value, ctx):
        yield value


class Keyed(Noted, KeySelector):
    def get_key(self, value):
        return value % 4


class Reduced(Noted, ReduceFunction):
    def reduce(self, value1, value2):
        return value1 + value2


class Stateful(Noted, KeyedProcessFunction):
    def process_element(self, value, ctx):
        yield value


class Behind(Noted, FlatMapFunction):
    def flat_map(self, value):
        yield value


class Taken(Noted, SinkFunction):
    def invoke(self, value, context):
        pass


def build(env, numbers):
    read = numbers.map(Mapped()).filter(Kept()).process(Processed())
    keyed = read.key_by(Keyed()).reduce(Reduced()).key_by(Keyed()).process(Stateful())
    keyed.flat_map(Behind()).add_sink(Taken())


env = StreamExecutionEnvironment.get_execution_environment()
env.set_parallelism(2).set_max_parallelism(8)
"""

KINDS = {
    *("Mapped", "Kept", "Processed", "Keyed", "Reduced", "Stateful", "Behind", "Taken"),
}

BOUNDED = """
build(env, env.from_collection(list(range(40))))
env.execute("bounded")
print(Path(LOG).read_text())
"""


def test_a_job_that_finishes_has_closed_its_functions(tmp_path: Path) -> None:
    job = tmp_path / "job.py"
    job.write_text(FUNCTIONS + BOUNDED)
    env = os.environ | {"PYTHONPATH": str(Path(__file__).parents[2] / "platform")}
    done = subprocess.run(
        [sys.executable, str(job), str(tmp_path / "log")],
        env=env,
        capture_output=True,
        text=True,
        timeout=SECONDS,
    )
    assert done.returncode == 0, done.stderr
    check_closed(done.stdout)


def check_closed(log: str) -> None:
    """Each of them once, in whatever process it was opened."""
    notes = [tuple(line.split()) for line in log.splitlines() if line]
    opened = sorted(note[1:] for note in notes if note[0] == "open")
    closed = sorted(note[1:] for note in notes if note[0] == "close")
    assert {kind for kind, _ in opened} == KINDS
    assert closed == opened
    assert len(set(opened)) == len(opened)
