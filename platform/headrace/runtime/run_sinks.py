"""The sinks of a run: recovered before its queries, cleaned up behind a failed one."""

from __future__ import annotations

import pickle
from dataclasses import replace
from pathlib import Path

from headrace.connectors.twophase.committer import Committer
from headrace.connectors.twophase.messages import Recovery
from headrace.connectors.twophase.ownership import OwnerStore
from headrace.runtime import job_sink, outputs
from headrace.runtime.context import RunContext
from headrace.runtime.program import PackedProgram, Program
from headrace.runtime.spark_offsets import SparkOffsets
from headrace.runtime.takeover import Takeover
from headrace.wire import rundir


class RunSinks:
    """The driver's side of all sinks of a job; the tasks' side reads the plan that it leaves."""

    def __init__(self, program: Program, context: RunContext, offsets: SparkOffsets) -> None:
        self._context = context
        self._offsets = offsets
        self._names = outputs.sink_names(program)
        self._owners = OwnerStore(context.checkpoint_dir)
        self._job, self._suffix = self._owners.job(), self._owners.suffix()
        self._outputs = outputs.outputs(program, self._names, self._job, self._suffix)
        self._recovered = Recovery()

    @property
    def described(self) -> list[str]:
        return list(self._names.values())

    @property
    def roots(self) -> dict[str, str]:
        """By the name of each transactional sink: what the names of its transactions begin with."""
        participants = [each.participant() for each in self._outputs.values()]
        return {each.name: each.root for each in participants if each.transactional}

    def committer(self) -> Committer:
        return outputs.committer(self._outputs, self._context.checkpoint_dir)

    def takeover(self) -> Takeover:
        """Whoever recovers takes the job over: a driver that was replaced must not."""
        return Takeover(self._owners, self._recovered.resume.epoch)

    def recover(self) -> Recovery:
        """Finish or abort what an earlier query of this job left behind. Raises SecondDriver.

        A job without transactions is taken over as well: nothing fences its earlier driver, which
        finds the new epoch by itself and stops."""
        self.takeover().check()
        found = self.committer().recover(self._offsets.completed)
        if not found.resume.epoch:
            found = replace(found, resume=replace(found.resume, epoch=self._owners.claim()))
        self._recovered = found
        return found

    def leave_plan(self, packed: PackedProgram, recovery: Recovery) -> Path:
        """For the tasks of the next query."""
        path = self._context.run_dir / "sinks.pickle"
        checkpoint = self._context.checkpoint_dir
        plan = job_sink.SinkPlan(
            packed, self._names, self._job, recovery.resume, checkpoint, self._suffix
        )
        rundir.write_atomically(path, pickle.dumps(plan, 5))
        return path

    def finish(self) -> None:
        """The job has ended on purpose. Raises SecondDriver."""
        self.takeover().check()
        self.committer().finish(self._offsets.completed)

    def clean_up(self) -> None:
        """After a failure: the next start may be far away, and open transactions hold up readers
        and locks until then."""
        resume = self._recovered.resume
        committer = outputs.committer(self._outputs, self._context.checkpoint_dir, resume)
        committer.clean_up(self._offsets.completed)
