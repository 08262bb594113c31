"""A task that fails aborts what it wrote, in every sink."""

from __future__ import annotations

from typing import Any

from headrace.runtime.job_sink import PartitionWriter


class Sink:
    def __init__(self, trouble: Exception | None = None) -> None:
        self.trouble = trouble
        self.aborted = False

    def write(self, records: list[Any]) -> None:
        pass

    def prepare(self) -> None:
        pass

    def abort(self) -> None:
        self.aborted = True
        if self.trouble:
            raise self.trouble


def test_one_sinks_trouble_does_not_keep_the_others_open() -> None:
    sinks = {1: Sink(OSError("disk")), 2: Sink(SystemError("fenced")), 3: Sink()}
    partition = PartitionWriter.__new__(PartitionWriter)
    partition._names = {1: "files", 2: "topic", 3: "table"}
    partition._writers = dict(sinks)

    partition.abort()

    assert all(each.aborted for each in sinks.values())
