"""What a failed job says."""

from __future__ import annotations

import pytest
from confluent_kafka import KafkaError, KafkaException

from headrace.common import Configuration, TypeInformation, Types
from headrace.common.type_base import HIDDEN_VARIABLE
from headrace.connectors.kafka import errors
from headrace.datastream import DataStream, StreamExecutionEnvironment
from headrace.runtime import causes
from headrace.runtime.errors import JobFailed, UnknownTopic, from_spark
from headrace.runtime.transformations import GraphError
from headrace.wire.failures import Cause

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


@pytest.mark.parametrize(
    ("kind", "cause"),
    [
        ("SecondDriver", Cause.FENCED),
        ("PrefixInUse", Cause.IN_USE),
        ("OutcomeUnknown", Cause.IN_DOUBT),
        ("ClusterUnreachable", Cause.UNREACHABLE),
        ("WriteFailed", Cause.RUNNING),
    ],
)
def test_a_sink_says_whether_the_job_may_go_on(kind: str, cause: Cause) -> None:
    text = (
        'Traceback (most recent call last):\n  File "w.py", line 1, in commit\n'
        f"headrace.connectors.kafka.errors.{kind}: What happened.\n"
    )
    failed = from_spark(text)
    assert "What happened" in str(failed)
    assert failed.restartable is cause.restartable
    assert causes.of(failed, planned=True) is cause


@pytest.mark.parametrize(
    ("error", "before", "while_running"),
    [
        (ValueError("no"), Cause.PROGRAM, Cause.RUNNING),
        (FileNotFoundError(2, "no such file", "/no/such"), Cause.MISSING, Cause.RUNNING),
        (ConnectionRefusedError("no"), Cause.UNREACHABLE, Cause.RUNNING),
        (UnknownTopic("no"), Cause.MISSING, Cause.MISSING),
        (GraphError("no"), Cause.PROGRAM, Cause.PROGRAM),
        (errors.InvalidSettings("no"), Cause.SETTINGS, Cause.SETTINGS),
        (errors.SecondDriver("no"), Cause.FENCED, Cause.FENCED),
        (errors.ClusterUnreachable("no"), Cause.UNREACHABLE, Cause.UNREACHABLE),
        (errors.ChangedRecords("no"), Cause.IN_DOUBT, Cause.IN_DOUBT),
        (JobFailed("no", cause=Cause.CHECKPOINT), Cause.CHECKPOINT, Cause.CHECKPOINT),
        (JobFailed("no"), Cause.RUNNING, Cause.RUNNING),
        (JobFailed("no", restartable=False), Cause.FINAL, Cause.FINAL),
        (KafkaException(KafkaError(-195)), Cause.UNREACHABLE, Cause.UNREACHABLE),  # _TRANSPORT
    ],
)
def test_causes(error: Exception, before: Cause, while_running: Cause) -> None:
    assert causes.of(error, planned=False) is before
    assert causes.of(error, planned=True) is while_running


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
