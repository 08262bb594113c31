"""Jobs that survive: their state is carried over to a new process, and batches are cut short."""

from __future__ import annotations

import copy
from collections.abc import Iterable, Sequence
from typing import Any, TypeVar

from hypothesis import strategies as st

from headrace.runtime.local_run import LocalRun
from tests.unit.runtime.local_jobs import LocalJob

T = TypeVar("T")


class DurableJob(LocalJob):
    """A LocalJob whose batches may be interrupted and whose process may end."""

    def tick(self, time: int) -> list[Any]:
        """Time goes on without data; what the only sink got."""
        [values] = self.run.batch(time=time, tick=True).values()
        return [value for _, value in values]

    def reopen(self) -> None:
        """Another process goes on with the state: hosts and functions are new."""
        stores = self.run._stores
        self.run = LocalRun(self.run.program)
        self.run._stores = stores
        self.run.restart()

    def step(self, records: Iterable[Any] | None, time: int, disturbance: str) -> list[Any]:
        """A batch (None: the end of input), perhaps disturbed before."""
        if disturbance == "restart":
            self.reopen()
        if disturbance == "crash":  # the batch ran, and nothing of it was kept
            kept = copy.deepcopy(self.run._stores)
            self._once(records, time)
            self.reopen()
            self.run._stores = kept
        return self._once(records, time)

    def _once(self, records: Iterable[Any] | None, time: int) -> list[Any]:
        if records is None:
            return self.only(time=time, ended=True)
        batch = list(records)
        return self.only(time=time, s0=batch) if batch else self.tick(time)


DISTURBANCES = st.lists(st.sampled_from(["", "", "", "restart", "crash"]), min_size=60, max_size=60)


def cut(records: Sequence[T], cuts: set[int]) -> list[list[T]]:
    """Into batches behind these positions."""
    batches: list[list[T]] = [[]]
    for position, record in enumerate(records):
        batches[-1].append(record)
        if position in cuts:
            batches.append([])
    return batches
