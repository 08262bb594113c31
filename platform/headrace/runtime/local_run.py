"""A job in one process, without Spark: the same ingest stage, hosts and operators, state in dicts.

For tests of jobs and of the runtime: a micro-batch takes milliseconds, and time is an argument.
"""

from __future__ import annotations

import copy
import sys
import traceback
from collections import defaultdict
from collections.abc import Iterable, Mapping
from contextlib import ExitStack
from dataclasses import dataclass
from typing import Any

from headrace.runtime import frames, ingest
from headrace.runtime.entry_pages import stored_entries
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


@dataclass(frozen=True)
class Snapshot:
    """State between two micro-batches."""

    #: (level, key group) -> (head, entries)
    stores: dict[tuple[int, int], tuple[bytes | None, dict[bytes, bytes]]]
    metrics: BatchMetrics


class LocalRun:
    """Runs micro-batches one by one. `splits` are those of each source that its watermark
    generators wait for."""

    def __init__(self, program: Program, splits: Iterable[str] = ()) -> None:
        for source in program.sources:
            program.give_splits(source, splits)
        # packed and unpacked, so that what cannot be pickled fails here as it would on Spark
        self._packed = PackedProgram.pack(program)
        self._stores: defaultdict[tuple[int, int], DictStore] = defaultdict(DictStore)
        self._open(attempt=program.attempt)
        self.metrics = BatchMetrics()

    def _open(self, attempt: int) -> None:
        self._attempt = attempt
        self.program = self._copy()
        #: By source and subtask.
        self._pipelines: dict[tuple[int, int], Pipeline] = {}
        #: By level and subtask.
        self._hosts: dict[tuple[int, int], LevelHost] = {}

    def _copy(self) -> Program:
        program = self._packed.copy()
        program.attempt = self._attempt
        return program

    def close(self) -> None:
        """Close the job's functions."""
        with ExitStack() as closes:
            for pipeline in self._pipelines.values():
                closes.callback(pipeline.close)
            for host in self._hosts.values():
                closes.callback(host.close)
            self._hosts, self._pipelines = {}, {}

    def _pipeline(self, source: int, task: int) -> Pipeline:
        subtask = task % self.program.subtasks
        if (source, subtask) not in self._pipelines:
            self._pipelines[source, subtask] = Pipeline(self._copy(), subtask)
        return self._pipelines[source, subtask]

    def _host(self, level: int, group: int) -> LevelHost:
        subtask = self.program.subtask_of(group)
        if (level, subtask) not in self._hosts:
            self._hosts[level, subtask] = LevelHost(self._copy(), level, subtask)
        return self._hosts[level, subtask]

    def batch(
        self,
        rows: Mapping[int, Iterable[Decoded]] | None = None,
        *,
        time: int = 0,
        tick: bool = False,
        ended: bool = False,
        ended_splits: Iterable[str] = (),
        watermarks: Mapping[str, int] | None = None,
    ) -> dict[int, list[tuple[int | None, Any]]]:
        """One micro-batch of rows per source's number at a time (ms); what each sink got.
        `tick`: time goes on without data; `ended`: all input has ended;
        `ended_splits`: nothing more comes from these, "<source's number>:<split>";
        `watermarks`: what generators say, "<generator>/<split>" -> ms."""
        received: dict[int, list[tuple[int | None, Any]]] = {n: [] for n in self.program.sinks}
        for frame in self.frames(
            rows,
            time=time,
            tick=tick,
            ended=ended,
            ended_splits=ended_splits,
            watermarks=watermarks,
        ):
            received[frame.op] += [(ts, value) for ts, _, value in frames.unpack(frame.frame)]
        return received

    def frames(
        self,
        rows: Mapping[int, Iterable[Decoded]] | None = None,
        *,
        time: int = 0,
        tick: bool = False,
        ended: bool = False,
        ended_splits: Iterable[str] = (),
        watermarks: Mapping[str, int] | None = None,
    ) -> list[Frame]:
        """As `batch`, the frames of the sinks as their tasks would get them."""
        sent: list[Frame] = []
        for source, parts in (rows or {}).items():
            for task, part in enumerate(parts):
                pipeline = self._pipeline(source, task)
                stage = IngestStage(pipeline.program, pipeline, source, task)
                stage.take([part], time)
                sent += [*stage.frames(), *stage.finish()]
        told = {**ingest.ended_splits(self.program, ended_splits), **(watermarks or {})}
        if tick or ended or told:
            writer = FrameWriter("control", self.program.max_parallelism)
            writer.time = time
            sent += writer.control(Control(told, ended))
        for level in range(1, self.program.levels + 1):
            sent = self._level(level, sent)
        return self._for_sinks(sent)

    def restart(self) -> None:
        """The next batch is the first of another attempt."""
        self.close()
        self._open(self._attempt + 1)

    def snapshot(self) -> Snapshot:
        """What `restore` goes back to."""
        stores = {at: (store.head(), dict(store.entries)) for at, store in self._stores.items()}
        return Snapshot(stores, copy.deepcopy(self.metrics))

    def restore(self, snapshot: Snapshot) -> None:
        """As a restart after a failure: state as it was, functions closed and opened anew."""
        try:
            self.close()
        except Exception:  # the failure is what counts
            traceback.print_exc(file=sys.stderr)
        self._stores.clear()
        for at, (head, entries) in snapshot.stores.items():
            store = self._stores[at]
            if head is not None:
                store.set_head(head)
            store.entries = dict(entries)
        self.metrics = copy.deepcopy(snapshot.metrics)
        self._open(self._attempt + 1)

    def state_entries(self) -> int:
        """Entries of all stores: what is left shows what was not cleaned up."""
        return sum(_entries(*kept) for s in self._stores.values() for kept in s.entries.items())

    def _level(self, level: int, sent: list[Frame]) -> list[Frame]:
        groups: defaultdict[int, list[Frame]] = defaultdict(list)
        for frame in sent:
            groups[frame.kg].append(frame)
        return [
            frame
            for group in sorted(groups)
            for frame in self._host(level, group).run(
                group, groups[group], self._stores[level, group]
            )
        ]

    def _for_sinks(self, sent: list[Frame]) -> list[Frame]:
        """Takes the metrics out."""
        for frame in sent:
            if frame.op == frames.REPORT:
                self.metrics.merge(frames.loads(frame.frame))
        return [frame for frame in sent if frame.op in self.program.sinks]


def _entries(key: bytes, value: bytes) -> int:
    return sum(1 for _ in stored_entries(key, value)) or 1
