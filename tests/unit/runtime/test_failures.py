"""What a failed job says."""

from __future__ import annotations

import pytest

from headrace.common import Configuration, TypeInformation, Types
from headrace.common.type_base import HIDDEN_VARIABLE
from headrace.datastream import DataStream, StreamExecutionEnvironment
from headrace.runtime.errors import JobFailed, from_spark

SPARK_TEXT = """[STREAM_FAILED] Query [id = 1] terminated with exception: Job aborted due to stage \
failure: Task 0 in stage 1.0 failed 1 times, most recent failure: Lost task 0.0: \
org.apache.spark.api.python.PythonException: Traceback (most recent call last):
  File "/x/pyspark/worker.py", line 1, in main
    process()
headrace.runtime.operators.operator.OperatorError: operator 'parse' failed on 'abc'
Traceback (most recent call last):
  File "/x/headrace/runtime/operators/stateless.py", line 44, in process
    self._each(timestamp, value, results)
  File "job.py", line 7, in parse
    return int(line)
ValueError: invalid literal for int() with base 10: 'abc'
 SQLSTATE: 38000
=== Streaming Query ===
Identifier: job
\tat org.apache.spark.api.python.BasePythonRunner.handle(PythonRunner.scala:1)
"""


def test_an_error_of_the_job_is_shown_without_the_jvm() -> None:
    failed = from_spark(SPARK_TEXT)
    assert str(failed).splitlines()[0] == (
        "operator 'parse' failed on 'abc': "
        "ValueError: invalid literal for int() with base 10: 'abc'"
    )
    assert 'File "job.py", line 7, in parse' in failed.traceback
    assert "headrace/runtime" not in failed.traceback
    assert "org.apache" not in failed.traceback
    assert failed.restartable


def test_a_sink_that_must_not_go_on_is_not_restarted() -> None:
    text = (
        'Traceback (most recent call last):\n  File "w.py", line 1, in commit\n'
        "headrace.connectors.kafka.errors.SecondDriver: Another driver has taken over this job.\n"
    )
    failed = from_spark(text)
    assert "Another driver has taken over" in str(failed)
    assert not failed.restartable


def test_other_failures_keep_spark_s_words() -> None:
    failed = from_spark("Some offsets are out of range\n\tat java.lang")
    assert str(failed).splitlines()[0] == "Some offsets are out of range"
    assert failed.restartable


def test_lines_of_the_program_that_look_like_the_jvm_s_are_kept() -> None:
    text = SPARK_TEXT.replace("return int(line)", "at = int(line)")
    text = text.replace("operator 'parse'", 'operator "Bob\'s parser"')
    failed = from_spark(text)
    assert str(failed).startswith('operator "Bob\'s parser" failed on')
    assert "at = int(line)" in failed.traceback
    assert "ValueError" in str(failed).splitlines()[0]


def _words(settings: dict[str, str]) -> DataStream:
    common = {"headrace.executor": "in-process", "parallelism.default": "1"}
    env = StreamExecutionEnvironment.get_execution_environment(Configuration(common | settings))
    return env.from_elements("secret")


@pytest.mark.parametrize("declared", [None, Types.INT()])
def test_a_record_is_shown_unless_the_configuration_says_otherwise(
    declared: TypeInformation | None, monkeypatch: pytest.MonkeyPatch
) -> None:
    def fail(value: str) -> str:
        if declared is None:
            raise KeyError("not there")
        return value

    monkeypatch.setenv(HIDDEN_VARIABLE, "")
    with pytest.raises(JobFailed, match=r"'Map' failed on 'secret'"):
        list(_words({}).map(fail, declared).execute_and_collect())
    hidden = _words({"headrace.errors.show-records": "false"}).map(fail, declared)
    with pytest.raises(JobFailed, match=r"'Map' failed on a str \(not shown\)") as failed:
        list(hidden.execute_and_collect())
    assert "secret" not in str(failed.value)
    assert "test_failures.py" in str(failed.value) or declared is not None
