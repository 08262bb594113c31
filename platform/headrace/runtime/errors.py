"""How a job fails, in words of its author's program."""

from __future__ import annotations

import re

from headrace.connectors.kafka import errors as kafka
from headrace.runtime.operators.operator import OperatorError
from headrace.wire.failures import Cause


class JobFailed(RuntimeError):
    """The job failed. `traceback` is the job author's, where there is one; a `cause` says whether
    it is worth another attempt."""

    def __init__(
        self,
        message: str,
        traceback: str = "",
        restartable: bool = True,
        cause: Cause | None = None,
    ) -> None:
        super().__init__(message)
        self.traceback = traceback
        self.restartable = restartable if cause is None else cause.restartable
        self.cause = cause

    def __str__(self) -> str:
        message = super().__str__()
        return f"{message}\n{self.traceback}" if self.traceback else message


class UnknownTopic(ValueError):
    """A topic that the job names does not exist."""


#: Errors of sinks that another attempt would meet again.
_FINAL = (
    kafka.ChangedRecords,
    kafka.OutcomeUnknown,
    kafka.InvalidSettings,
    kafka.CommitRefused,
    kafka.CheckpointReplaced,
    kafka.InvalidRecord,
    kafka.PrefixInUse,
)
_OPERATOR_ERROR = re.compile(
    r"(?:headrace\.runtime\.operators\.operator\.)?OperatorError: (operator ['\"].*)", re.DOTALL
)
_PYTHON_ERROR = re.compile(r"(Traceback \(most recent call last\):.*)", re.DOTALL)
_END_OF_PYTHON = re.compile(
    r"\n\s*\tat |\n\s*(?:Driver stacktrace|Caused by:|SQLSTATE|=== Streaming Query ===)"
)


def from_spark(text: str) -> JobFailed:
    """A JobFailed from the message of Spark's StreamingQueryException: the user's traceback and
    operator instead of a stack of the JVM."""
    found = _OPERATOR_ERROR.search(text)
    if found is not None:
        body = _cut(found.group(1))
        headline, _, trace = body.partition("\n")
        last = trace.strip().splitlines()[-1].strip() if trace.strip() else ""
        return JobFailed(f"{headline}: {last}" if last else headline, _user_frames(trace))
    found = _PYTHON_ERROR.search(text)
    if found is not None:
        trace = _cut(found.group(1))
        headline = trace.strip().splitlines()[-1].strip()
        final = any(kind.__name__ in headline.partition(":")[0] for kind in _FINAL)
        return JobFailed(headline, trace, restartable=not final)
    first = text.strip().splitlines()[0] if text.strip() else "the streaming query ended"
    return JobFailed(first[:500], text[:20_000])


def from_error(error: Exception) -> Exception:
    """As `from_spark`, for what a job in this process raised."""
    if not isinstance(error, OperatorError):
        return error
    headline, _, trace = str(error).partition("\n")
    last = trace.strip().splitlines()[-1].strip() if trace.strip() else ""
    return JobFailed(f"{headline}: {last}" if last else headline, _user_frames(trace))


def _cut(text: str) -> str:
    end = _END_OF_PYTHON.search(text)
    return (text[: end.start()] if end else text).rstrip()


def _user_frames(trace: str) -> str:
    """The traceback without the frames of headrace itself; empty where there are no others: the
    operator's results are at fault then."""
    lines = trace.strip("\n").splitlines()
    kept: list[str] = []
    skipping = False
    for line in lines:
        if line.startswith("  File "):
            skipping = "/headrace/runtime/" in line or "/headrace/common/" in line
        elif not line.startswith("    "):
            skipping = False
        if not skipping:
            kept.append(line)
    return "\n".join(kept) if any(line.startswith("  File ") for line in kept) else ""
