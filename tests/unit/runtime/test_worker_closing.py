"""Worker processes close what they opened, however they are told to end."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[3]

WORKER = """
import sys, time
from headrace.runtime import closing

def failing():
    raise ValueError("cannot close")

closing.at_end(lambda: print("first", flush=True))
closing.at_end(failing)
closing.at_end(lambda: print("last", flush=True))
print("ready", flush=True)
time.sleep(60)
"""


def test_a_worker_that_is_told_to_end_closes_what_it_opened() -> None:
    env = {**os.environ, "PYTHONPATH": str(ROOT / "platform")}
    with subprocess.Popen(
        [sys.executable, "-c", WORKER],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        env=env,
        text=True,
    ) as worker:
        assert worker.stdout is not None and worker.stdout.readline() == "ready\n"
        worker.send_signal(signal.SIGHUP)
        out, err = worker.communicate(timeout=240)
    assert out.split() == ["last", "first"]
    assert "cannot close" in err
    assert worker.returncode == 128 + signal.SIGHUP


IDLE_WORKER = """
import os, signal, sys, threading, time, types
import pyspark.worker as spark
from headrace.runtime import closing

# a signal that is blocked for one thread comes to another
threading.Thread(target=time.sleep, args=(600,), daemon=True).start()

def closed():
    print("closing", flush=True)
    sys.stdin.readline()
    print("closed", flush=True)

def task(infile, outfile):
    if closing._closers:
        print("waits", flush=True)
        sys.stdin.readline()
    else:
        closing.at_end(closed)

def worker(sock, authenticated):
    "As Spark's: a task after the other."
    signal.signal(signal.SIGHUP, signal.SIG_DFL)
    try:
        spark.main(None, None)
    except SystemExit as end:
        return end.code
    return 0

spark.main = task
daemon = types.SimpleNamespace(worker=worker)
closing.install(daemon)
while not daemon.worker(None, True):
    pass
print("ends", flush=True)
os._exit(0)
"""


def test_a_worker_that_waits_for_a_task_closes_in_full_when_it_is_told_to_end() -> None:
    """Spark's daemon says it by a signal, in front of each task back in its default: it ends the
    process."""
    env = {**os.environ, "PYTHONPATH": str(ROOT / "platform")}
    with subprocess.Popen(
        [sys.executable, "-c", IDLE_WORKER],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        env=env,
        text=True,
    ) as worker:
        assert worker.stdout is not None and worker.stdout.readline() == "waits\n"
        worker.send_signal(signal.SIGHUP)
        assert worker.stdout.readline() == "closing\n"
        worker.send_signal(signal.SIGHUP)
        out, _ = worker.communicate("go on\n", timeout=240)
    assert out.split() == ["closed", "ends"]
    assert worker.returncode == 0


STUBBORN = """
import time
from headrace.runtime import closing

closing.CLOSE_SECONDS = 0.2
closing.at_end(lambda: print("closed", flush=True))
while True:
    try:
        print("ready", flush=True)
        time.sleep(600)
    except BaseException:
        print("goes on", flush=True)
"""


def test_a_function_that_does_not_let_go_does_not_keep_its_worker() -> None:
    env = {**os.environ, "PYTHONPATH": str(ROOT / "platform")}
    with subprocess.Popen(
        [sys.executable, "-c", STUBBORN], stdout=subprocess.PIPE, env=env, text=True
    ) as worker:
        assert worker.stdout is not None and worker.stdout.readline() == "ready\n"
        worker.send_signal(signal.SIGTERM)
        out, _ = worker.communicate(timeout=240)
    assert out.split("\n")[:2] == ["goes on", "ready"]
    assert worker.returncode == 128 + signal.SIGTERM


@pytest.mark.parametrize(("code", "closed"), [(0, False), (1, True), (-1, True)])
def test_a_worker_that_spark_lets_go_closes_what_it_opened(code: int, closed: bool) -> None:
    """Between two tasks it answers 0, and stays."""
    script = (
        "from headrace.runtime import closing\n"
        "closing.at_end(lambda: print('closed'))\n"
        f"print(closing.closing_behind(lambda sock, authenticated: {code})(None, True))\n"
        "import os, sys; sys.stdout.flush(); os._exit(0)\n"
    )
    env = {**os.environ, "PYTHONPATH": str(ROOT / "platform")}
    done = subprocess.run(
        [sys.executable, "-c", script], env=env, capture_output=True, text=True, timeout=60
    )
    assert done.stdout.split() == (["closed"] if closed else []) + [str(code)], done.stderr
