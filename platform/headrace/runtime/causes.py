"""Why an attempt failed, from what its driver met: `headrace.wire.failures.Cause`."""

from __future__ import annotations

from confluent_kafka import KafkaError, KafkaException

from headrace.connectors.kafka import errors as kafka
from headrace.connectors.twophase.errors import SinkError, Unreachable
from headrace.runtime.errors import JobFailed, UnknownTopic
from headrace.runtime.transformations import GraphError
from headrace.wire.failures import Cause

#: Of an error that comes out of the program before its job runs; a subclass goes before its class.
_BEFORE: tuple[tuple[type[BaseException], Cause], ...] = (
    (ConnectionError, Cause.UNREACHABLE),
    (TimeoutError, Cause.UNREACHABLE),
    (FileNotFoundError, Cause.MISSING),
    (NotADirectoryError, Cause.MISSING),
)
_ALWAYS: tuple[tuple[type[BaseException], Cause], ...] = (
    (UnknownTopic, Cause.MISSING),
    (GraphError, Cause.PROGRAM),
    (kafka.SecondDriver, Cause.FENCED),
    (kafka.PrefixInUse, Cause.IN_USE),
    (kafka.InvalidSettings, Cause.SETTINGS),
    (kafka.InvalidRecord, Cause.FINAL),
    (kafka.ChangedRecords, Cause.IN_DOUBT),
    (kafka.OutcomeUnknown, Cause.IN_DOUBT),
    (kafka.CommitRefused, Cause.IN_DOUBT),
    (kafka.CheckpointReplaced, Cause.IN_DOUBT),
    (kafka.ClusterUnreachable, Cause.UNREACHABLE),
    (Unreachable, Cause.UNREACHABLE),
    (kafka.ProducerUnavailable, Cause.UNREACHABLE),
    (SinkError, Cause.RUNNING),
)
_NO_ANSWER = (KafkaError._TRANSPORT, KafkaError._ALL_BROKERS_DOWN, KafkaError._TIMED_OUT)


def of(error: BaseException, *, planned: bool) -> Cause:
    """Why `error` ended the attempt. `planned`: its program had got to a job that can run; what
    comes before is the program's own, and another attempt would meet it again, unless a server
    did not answer."""
    if isinstance(error, JobFailed):
        return _of_job(error)
    found = _first(error, _ALWAYS) or (None if planned else _first(error, _BEFORE))
    if found is not None:
        return found
    if isinstance(error, KafkaException) and error.args[0].code() in _NO_ANSWER:
        return Cause.UNREACHABLE
    return Cause.RUNNING if planned else Cause.PROGRAM


def _of_job(error: JobFailed) -> Cause:
    """What it says itself; else the sink's error that Spark has wrapped in its headline."""
    if error.cause is not None:
        return error.cause
    headline = str(error).partition("\n")[0].partition(":")[0]
    for kind, cause in _ALWAYS:
        if headline.rpartition(".")[2] == kind.__name__:
            return cause
    return Cause.RUNNING if error.restartable else Cause.FINAL


def _first(
    error: BaseException, table: tuple[tuple[type[BaseException], Cause], ...]
) -> Cause | None:
    return next((cause for kind, cause in table if isinstance(error, kind)), None)
