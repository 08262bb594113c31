"""Unit tests of jobs and functions: in one process, without Spark, with time moved by hand.

`JobHarness` runs a graph of streams, the operator harnesses one function, with the names of
Flink's own."""

from headrace.testing.job_harness import JobHarness, Output, TestSource
from headrace.testing.operator_harness import (
    KeyedOneInputStreamOperatorTestHarness,
    KeyedTwoInputStreamOperatorTestHarness,
    OneInputStreamOperatorTestHarness,
    ProcessFunctionTestHarnesses,
    StreamRecord,
    TwoInputStreamOperatorTestHarness,
    Watermark,
)

__all__ = [
    "JobHarness",
    "KeyedOneInputStreamOperatorTestHarness",
    "KeyedTwoInputStreamOperatorTestHarness",
    "OneInputStreamOperatorTestHarness",
    "Output",
    "ProcessFunctionTestHarnesses",
    "StreamRecord",
    "TestSource",
    "TwoInputStreamOperatorTestHarness",
    "Watermark",
]
