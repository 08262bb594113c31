"""A program that cannot run says why, in Python's words, and whether to try again."""

from __future__ import annotations

from collections.abc import Callable

import pytest

from headrace.wire import events
from tests.driving import DrivenJob

HEAD = """
from headrace.common import *
from headrace.datastream import *
from headrace.datastream.connectors.kafka import *
env = StreamExecutionEnvironment.get_execution_environment()
"""


def failure(job: DrivenJob) -> events.Failed:
    assert job.run() == 1, job.log()
    last = job.events()[-1]
    assert isinstance(last, events.Failed)
    return last


@pytest.mark.parametrize(
    ("program", "error", "shown"),
    [
        (
            "import no_such_module",
            "ModuleNotFoundError: No module named 'no_such_module'",
            "line 1",
        ),
        ("x = 1\n1 / 0", "ZeroDivisionError: division by zero", "line 2"),
        ("import sys\nsys.exit(3)", "the program called exit(3)", ""),
        ("x = 1", "ended without running a job", ""),
        (HEAD + "env.execute()", "GraphError: the job has no sink", "env.execute()"),
    ],
)
def test_a_program_that_fails_before_its_job_is_not_tried_again(
    drive: Callable[..., DrivenJob], program: str, error: str, shown: str
) -> None:
    failed = failure(drive(program))
    assert error in failed.error
    assert shown in failed.traceback
    assert (failed.cause, failed.restartable) == ("program", False)
    assert "runpy" not in failed.traceback


def test_an_error_in_a_function_names_operator_record_and_line(
    drive: Callable[..., DrivenJob],
) -> None:
    job = drive(
        HEAD
        + "def parse(line):\n    return int(line)\n"
        + "env.from_collection(['1', 'x']).map(parse).name('parse').print()\n"
        + "env.execute()\n"
    )
    failed = failure(job)
    assert failed.error == (
        "operator 'parse' failed on 'x': ValueError: invalid literal for int() with base 10: 'x'"
    )
    assert "return int(line)" in failed.traceback
    assert "org.apache" not in failed.traceback
    assert (failed.cause, failed.restartable) == ("running", True)


def test_a_missing_file_is_said_at_once(drive: Callable[..., DrivenJob]) -> None:
    failed = failure(drive(HEAD + "env.read_text_file('/no/such').print()\nenv.execute()\n"))
    assert "/no/such does not exist" in failed.error
    assert (failed.cause, failed.restartable) == ("missing", False)
