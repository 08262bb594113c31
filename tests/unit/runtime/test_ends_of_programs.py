"""Jobs beside a program end with it where an error or control-C ends it; what runs left goes."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import threading
from pathlib import Path

import pytest

from headrace.runtime import context, interrupts
from headrace.runtime.context import StopRequest

ROOT = Path(__file__).parents[3]
PROGRAM = """
import signal, sys
from headrace.common import WatermarkStrategy
from headrace.datastream import StreamExecutionEnvironment
from headrace.datastream.connectors.datagen import DataGeneratorSource, RateLimiterStrategy

signal.signal(signal.SIGINT, signal.default_int_handler)  # whatever runs the tests ignores it
env = StreamExecutionEnvironment.get_execution_environment()
source = DataGeneratorSource(str, rate_limiter_strategy=RateLimiterStrategy.per_second(100))
stream = env.from_source(source, WatermarkStrategy.no_watermarks(), "for ever")
"""
BESIDE = PROGRAM + "stream.add_sink(lambda v: None)\nclient = env.execute_async()\n"


def started(program: str, folder: Path) -> subprocess.Popen[str]:
    environment = {
        **os.environ,
        "HEADRACE_EXECUTOR": "in-process",
        "PYTHONPATH": str(ROOT / "platform"),
        "TMPDIR": str(folder),
    }
    return subprocess.Popen(
        [sys.executable, "-c", program],
        env=environment,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    )


@pytest.mark.parametrize(
    ("program", "code", "said"),
    [
        (BESIDE + "raise ValueError('wrong')", 1, "ValueError: wrong"),
        (PROGRAM + "print(next(stream.execute_and_collect()))", 0, ""),
    ],
    ids=["an error", "an iterator that nobody reads on"],
)
def test_a_program_that_has_ended_leaves_no_job(
    tmp_path: Path, program: str, code: int, said: str
) -> None:
    with started(program, tmp_path) as process:
        _, err = process.communicate(timeout=400)
    assert process.returncode == code, err
    assert said in err
    assert list(tmp_path.glob("headrace-*")) == [], err


@pytest.mark.parametrize(
    "end", ["client.get_job_execution_result().result()", ""], ids=["waiting", "ended"]
)
def test_control_c_ends_a_job_beside_its_program(tmp_path: Path, end: str) -> None:
    with started(f"{BESIDE}print('begun', flush=True)\n{end}", tmp_path) as process:
        assert process.stdout is not None
        assert process.stdout.readline() == "begun\n"
        process.send_signal(signal.SIGINT)
        _, err = process.communicate(timeout=400)
    assert "JobFailed" not in err, err
    assert list(tmp_path.glob("headrace-*")) == [], err


AT_THE_END = """
import threading

def interrupt(frame, event, argument):
    if frame.f_code is threading._shutdown.__code__:
        sys.setprofile(None)
        print("ends", flush=True)
        signal.raise_signal(signal.SIGINT)

sys.setprofile(interrupt)
"""


def test_control_c_that_meets_the_end_of_a_program_ends_its_job(tmp_path: Path) -> None:
    with started(BESIDE + AT_THE_END, tmp_path) as process:
        out, err = process.communicate(timeout=400)
    assert (out, process.returncode) == ("ends\n", 0), err
    assert "KeyboardInterrupt" not in err, err
    assert list(tmp_path.glob("headrace-*")) == [], err


def test_the_first_interrupt_asks_and_the_second_one_does_not() -> None:
    before = signal.signal(signal.SIGINT, signal.default_int_handler)
    stop = StopRequest()
    reached = []
    try:
        with pytest.raises(KeyboardInterrupt), interrupts.obeyed(stop, "canceled"):
            signal.raise_signal(signal.SIGINT)
            assert stop.asked.is_set()
            assert stop.reason == "canceled"
            reached.append("the end of the block")
        with pytest.raises(KeyboardInterrupt), interrupts.obeyed(stop, "canceled"):
            signal.raise_signal(signal.SIGINT)
            signal.raise_signal(signal.SIGINT)
            reached.append("never")
        assert signal.getsignal(signal.SIGINT) is signal.default_int_handler
    finally:
        signal.signal(signal.SIGINT, before)
    assert reached == ["the end of the block"]


def test_other_threads_are_not_interrupted() -> None:
    before = signal.getsignal(signal.SIGINT)
    seen = []

    def run() -> None:
        with interrupts.obeyed(StopRequest(), "canceled"):
            seen.append(signal.getsignal(signal.SIGINT))

    thread = threading.Thread(target=run)
    thread.start()
    thread.join()
    assert seen == [before]


def test_runs_at_once_leave_their_files_to_each_other() -> None:
    with context.laptop("first", 1) as first:
        with context.laptop("second", 1) as second:
            assert first.run_dir != second.run_dir
        assert second.run_dir.exists()
    assert not second.run_dir.exists()
    assert not first.run_dir.exists()
