"""The sinks of a run: recovered before its queries, cleaned up behind a failed one."""

from __future__ import annotations

import pickle
from pathlib import Path

from headrace.connectors.twophase.committer import Committer
from headrace.connectors.twophase.messages import Recovery
from headrace.connectors.twophase.ownership import OwnerStore
from headrace.runtime import job_sink, outputs
from headrace.runtime.context import RunContext
from headrace.runtime.program import PackedProgram, Program
from headrace.runtime.spark_offsets import SparkOffsets
from headrace.wire import rundir


class RunSinks:
    """The driver's side of all sinks of a job; the tasks' side reads the plan that it leaves."""

    def __init__(self, program: Program, context: RunContext, offsets: SparkOffsets) -> None:
        self._context = context
        self._offsets = offsets
        self._names = outputs.sink_names(program)
        self._job = OwnerStore(context.checkpoint_dir).job()
        self._outputs = outputs.outputs(program, self._names, self._job)
        self._recovered = Recovery()

    @property
    def described(self) -> list[str]:
        return list(self._names.values())

    def committer(self) -> Committer:
        return outputs.committer(self._outputs, self._context.checkpoint_dir)

    def recover(self) -> Recovery:
        """Finish or abort what an earlier query of this job left behind."""
        self._recovered = self.committer().recover(self._offsets.completed)
        return self._recovered

    def leave_plan(self, packed: PackedProgram, recovery: Recovery) -> Path:
        """For the tasks of the next query."""
        path = self._context.run_dir / "sinks.pickle"
        checkpoint = self._context.checkpoint_dir
        plan = job_sink.SinkPlan(packed, self._names, self._job, recovery.resume, checkpoint)
        rundir.write_atomically(path, pickle.dumps(plan, 5))
        return path

    def finish(self) -> None:
        """The job has ended on purpose."""
        self.committer().finish(self._offsets.completed)

    def clean_up(self) -> None:
        """After a failure: the next start may be far away, and open transactions hold up readers
        and locks until then."""
        resume = self._recovered.resume
        committer = outputs.committer(self._outputs, self._context.checkpoint_dir, resume)
        committer.clean_up(self._offsets.completed)
