"""The plain PySpark script of the README, killed and started again."""

from __future__ import annotations

import os
import re
import signal
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

from tests.kafka import brokers
from tests.kafka.engine import ROOT

SECONDS = 400.0


@pytest.fixture
def script(tmp_path: Path) -> Path:
    [text] = re.findall(
        r"```python\n(# numbers\.py.*?)```", (ROOT / "README.md").read_text(), re.DOTALL
    )
    # A script named like a module of the standard library would shadow it.
    path = tmp_path / "readme_numbers.py"
    path.write_text(text)
    return path


@pytest.mark.timeout(1200)
def test_the_script_of_the_readme_gives_each_number_once(
    kafka: str, tmp_path: Path, script: Path
) -> None:
    topic = brokers.new_topic(kafka, 2)
    command = [sys.executable, str(script), kafka, topic, str(tmp_path / "checkpoint")]
    for wanted in (1, 400):
        with running(command, tmp_path) as query:
            wait_for(kafka, topic, wanted, query)

    numbers = sorted(map(int, brokers.visible(kafka, topic)))
    assert numbers == list(range(len(numbers)))


def wait_for(servers: str, topic: str, wanted: int, query: subprocess.Popen[bytes]) -> None:
    deadline = time.monotonic() + SECONDS
    while len(brokers.visible(servers, topic)) < wanted:
        assert query.poll() is None, "the script ended by itself"
        assert time.monotonic() < deadline, "too few numbers in time"
        time.sleep(0.2)


@contextmanager
def running(command: list[str], folder: Path) -> Iterator[subprocess.Popen[bytes]]:
    """Killed at the end, with its JVM and workers, in the middle of whatever they do."""
    with (folder / "log").open("ab") as log:
        process = subprocess.Popen(
            command,
            cwd=folder,
            stdout=log,
            stderr=log,
            env={**os.environ, "SPARK_LOCAL_IP": "127.0.0.1"},
            start_new_session=True,
        )
    try:
        yield process
    finally:
        os.killpg(process.pid, signal.SIGKILL)
        process.wait()
