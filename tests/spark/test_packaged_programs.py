"""A job that is a wheel: its modules and data files are there in the driver and in the workers."""

from __future__ import annotations

import zipfile
from pathlib import Path

import pytest

from headrace.wire import events
from tests.driving import DrivenJob

FILES = {
    "greetings/__init__.py": "",
    "greetings/words.txt": "hello",
    "greetings/steps.py": """
from pathlib import Path

def greet(name):
    return Path(__file__).with_name("words.txt").read_text() + " " + name
""",
    "greetings/app.py": """
import sys
from headrace.datastream import StreamExecutionEnvironment
from greetings import steps

def main():
    env = StreamExecutionEnvironment.get_execution_environment()
    env.from_collection(sys.argv[1:]).map(steps.greet).print()
    env.execute("greetings")
""",
    "greetings-1.0.dist-info/entry_points.txt": "[console_scripts]\ngreet = greetings.app:main\n",
    "greetings-1.0.dist-info/WHEEL": "Wheel-Version: 1.0\n",
}


@pytest.fixture
def wheel(tmp_path: Path) -> Path:
    path = tmp_path / "greetings-1.0-py3-none-any.whl"
    with zipfile.ZipFile(path, "w") as archive:
        for name, text in FILES.items():
            archive.writestr(name, text)
    return path


def test_a_wheel_runs_with_its_modules_and_files(wheel: Path, tmp_path: Path) -> None:
    job = DrivenJob(tmp_path / "job", [], wheel, ["Ada", "Bo"])
    assert job.run() == 0, job.log()
    assert {"hello Ada", "hello Bo"} <= set(job.log().replace("> ", "\n").splitlines())
    assert job.events(events.Stopped)[-1].reason == "finished"
