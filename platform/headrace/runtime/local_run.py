"""A job in one process, without Spark: the same ingest stage, hosts and operators, state in dicts.

For tests of jobs and of the runtime: a micro-batch takes milliseconds, and time is an argument.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Mapping
from typing import Any

import cloudpickle

from headrace.runtime import frames, ingest
from headrace.runtime.frames import Control, Frame, FrameWriter
from headrace.runtime.host import LevelHost
from headrace.runtime.ingest import Decoded, IngestStage
from headrace.runtime.metrics import BatchMetrics
from headrace.runtime.pipeline import Pipeline
from headrace.runtime.program import PackedProgram, Program


class DictStore:
    """A `state.Store` of one key group in memory."""

    def __init__(self) -> None:
        self._head: bytes | None = None
        self.entries: dict[bytes, bytes] = {}

    def head(self) -> bytes | None:
        return self._head

    def set_head(self, value: bytes) -> None:
        self._head = value

    def get(self, key: bytes) -> bytes | None:
        return self.entries.get(key)

    def put(self, key: bytes, value: bytes) -> None:
        self.entries[key] = value

    def remove(self, key: bytes) -> None:
        self.entries.pop(key, None)


class LocalRun:
    """Runs micro-batches one by one. `splits` are those of each source that its watermark
    generators wait for."""

    def __init__(self, program: Program, splits: Iterable[str] = ()) -> None:
        for source in program.sources:
            program.give_splits(source, splits)
        # packed and unpacked, so that what cannot be pickled fails here as it would on Spark
        self.program: Program = cloudpickle.loads(PackedProgram.pack(program).body)
        self._stores: defaultdict[tuple[int, int], DictStore] = defaultdict(DictStore)
        self._pipelines = {source: Pipeline(self.program) for source in program.sources}
        self._hosts = {n: LevelHost(self.program, n) for n in range(1, program.levels + 1)}
        self.metrics = BatchMetrics()

    def batch(
        self,
        rows: Mapping[int, Iterable[Decoded]] | None = None,
        *,
        time: int = 0,
        tick: bool = False,
        ended: bool = False,
        ended_splits: Iterable[str] = (),
    ) -> dict[int, list[tuple[int | None, Any]]]:
        """One micro-batch of rows per source's number at a time (ms); what each sink got.
        `tick`: time goes on without data; `ended`: all input has ended;
        `ended_splits`: nothing more comes from these, "<source's number>:<split>"."""
        sent: list[Frame] = []
        for source, parts in (rows or {}).items():
            for task, part in enumerate(parts):
                stage = IngestStage(self.program, self._pipelines[source], source, task)
                stage.take([part], time)
                sent += [*stage.frames(), *stage.finish()]
        gone = ingest.ended_splits(self.program, ended_splits)
        if tick or ended or gone:
            writer = FrameWriter("control", self.program.max_parallelism)
            writer.time = time
            sent += writer.control(Control(gone, ended))
        for level in range(1, self.program.levels + 1):
            sent = self._level(level, sent)
        return self._sinks(sent)

    def restart(self) -> None:
        """The next batch is the first of another attempt."""
        self.program.attempt += 1

    def state_entries(self) -> int:
        """Entries of all stores: what is left shows what was not cleaned up."""
        return sum(len(store.entries) for store in self._stores.values())

    def _level(self, level: int, sent: list[Frame]) -> list[Frame]:
        groups: defaultdict[int, list[Frame]] = defaultdict(list)
        for frame in sent:
            groups[frame.kg].append(frame)
        return [
            frame
            for group in sorted(groups)
            for frame in self._hosts[level].run(group, groups[group], self._stores[level, group])
        ]

    def _sinks(self, sent: list[Frame]) -> dict[int, list[tuple[int | None, Any]]]:
        received: dict[int, list[tuple[int | None, Any]]] = {n: [] for n in self.program.sinks}
        for frame in sent:
            if frame.op == frames.REPORT:
                self.metrics.merge(frames.loads(frame.frame))
            elif frame.op in received:
                records = frames.loads(frame.frame)
                received[frame.op] += [(ts, value) for ts, _, value in records]
        return received
