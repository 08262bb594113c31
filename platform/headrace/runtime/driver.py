"""The process that the platform launches for one attempt: `python -m headrace.runtime.driver DIR`.

It runs the job's program as `python job.py` would, with the platform behind
`StreamExecutionEnvironment`, and ends with an event that says how: exit code 0 after Stopped, 1
after Failed. SIGTERM suspends: the job goes on from its checkpoint at the next start.
"""

from __future__ import annotations

import logging
import os
import platform as machine
import signal
import sys
import threading
import time
import traceback
from importlib.metadata import version
from pathlib import Path

from pyspark import SparkContext
from pyspark.errors import StreamingQueryException

from headrace.connectors.twophase.errors import SinkError
from headrace.runtime import causes, heartbeat, memory, program_entry, retention, savepoints
from headrace.runtime import context as run_context
from headrace.runtime.context import RunContext
from headrace.runtime.errors import JobFailed, from_spark
from headrace.runtime.plain_queries import PlainQueries
from headrace.runtime.savepoint_requests import SavepointRequest
from headrace.wire import commands, events, packages
from headrace.wire.failures import Cause
from headrace.wire.journal import JournalWriter
from headrace.wire.savepoint import BadSavepoint
from headrace.wire.spec import JobSpec

COMMAND_SECONDS = 0.2


class Journal:
    """Reports to the journal. Remembers how far the program came."""

    def __init__(self, run_dir: Path) -> None:
        self._writer = JournalWriter(run_dir)
        #: Whether it got to `execute` with a graph that can run.
        self.planned = False

    def report(self, event: events.Event) -> None:
        self.planned = self.planned or isinstance(event, events.Planned)
        # figures that are lost with the machine are measured again
        self._writer.append(event, durable=not isinstance(event, events.Measured))


def main(run_dir: Path) -> int:
    logging.basicConfig(
        level=logging.INFO, format="%(asctime)s %(levelname)s %(name)s: %(message)s"
    )
    logging.getLogger("py4j").setLevel(logging.WARNING)
    logging.getLogger("kafka").setLevel(logging.WARNING)
    spec = JobSpec.read(run_dir)
    journal = Journal(run_dir)
    context = run_context.platform(spec, run_dir, journal)
    run_context.use(context)
    os.environ["KAFKA_BOOTSTRAP_SERVERS"] = spec.kafka_bootstrap_servers
    memory.limit_workers(spec.memory_mib)
    heartbeat.start(run_dir, spec.configuration)
    _obey(context)
    journal.report(events.Started(os.getpid(), spec.master, _versions()))
    try:
        return _run(spec, context, journal, PlainQueries(context))
    finally:
        program_entry.remove(run_dir)


def _run(spec: JobSpec, context: RunContext, journal: Journal, plain: PlainQueries) -> int:
    try:
        try:
            check_checkpoints(spec)
            _restore(context)
            _run_program(spec, context.run_dir)
            run_context.wait_for_jobs()
        finally:
            plain.settle()
        failure = context.failure or plain.failure
        if failure is not None:
            raise failure  # the program caught it; the job failed all the same
        if not journal.planned and not plain.used:
            raise JobFailed(
                f"{Path(spec.entry).name} ended without running a job; call execute() on its "
                "StreamExecutionEnvironment, or start a query of its SparkSession",
                cause=Cause.PROGRAM,
            )
    except BaseException as error:
        if context.stop.asked.is_set():
            logging.warning("error while stopping, the next start recovers", exc_info=error)
        else:
            failed = _failed(error, journal, spec, context.run_dir)
            logging.error("job failed: %s\n%s", failed.error, failed.traceback)
            _close(context, f"the job failed before: {failed.error}", journal)
            journal.report(failed)
            return 1
    _close(context, "the job ended before", journal)
    reason = context.stop.reason or "finished"
    journal.report(events.Stopped(reason, retention.apply(context, reason)))
    return 0


def _close(context: RunContext, why: str, journal: Journal) -> None:
    """Answer what was asked for and will not be made."""
    context.savepoints.close(why, journal.report)
    context.checkpoints.close(why, journal.report)


def check_checkpoints(spec: JobSpec) -> None:
    """A job that has checkpoints does not begin anew where they are not. Raises JobFailed."""
    directory = Path(spec.checkpoint_dir)
    if spec.has_checkpoints and not (directory.is_dir() and any(directory.iterdir())):
        raise JobFailed(
            f"the job has completed checkpoints, and {directory} is empty: they were removed, or "
            "its storage is not mounted here. Nothing was read or written; to begin anew would "
            "process all input a second time. Restart the job when its checkpoints are there, or "
            "submit it as a new job, with a savepoint if there is one",
            cause=Cause.IN_DOUBT,
        )


def _restore(context: RunContext) -> None:
    """At the job's first start, from the savepoint it is to begin with. Nothing has been started
    yet. Raises JobFailed."""
    if context.restore is None:
        return
    try:
        found = savepoints.restore(context.restore, context.checkpoint_dir)
    except BadSavepoint as error:
        raise JobFailed(str(error), restartable=False) from error
    except savepoints.Superseded as error:
        raise JobFailed(str(error), cause=Cause.SUPERSEDED) from error
    except OSError as error:
        raise JobFailed(f"the savepoint could not be copied: {error}") from error
    if found is not None:
        logging.info("begins with savepoint %s, checkpoint %d", found.savepoint_id, found.batch + 1)


def _run_program(spec: JobSpec, run_dir: Path) -> None:
    try:
        entry_class = spec.configuration.get(packages.ENTRY_CLASS, "")
        program_entry.run(Path(spec.entry), spec.arguments, run_dir, entry_class)
    except SystemExit as end:
        if end.code not in (None, 0):
            raise JobFailed(f"the program called exit({end.code})", cause=Cause.PROGRAM) from end


def _failed(error: BaseException, journal: Journal, spec: JobSpec, run_dir: Path) -> events.Failed:
    """Errors of a running job are worth another attempt; those of a program before it are not,
    unless they say so themselves."""
    if isinstance(error, StreamingQueryException):
        error = from_spark(str(error))
    cause = causes.of(error, planned=journal.planned)
    if isinstance(error, JobFailed):
        headline, trace = str(error).splitlines()[0], error.traceback
    else:
        name, trace = type(error).__name__, _trace(error, Path(spec.entry), run_dir)
        headline = traceback.format_exception_only(error)[-1].strip()
        if isinstance(error, SinkError):
            headline = f"{name}: {error}"
    short = memory.shortage(headline, spec.memory_mib, SparkContext._gateway)
    if short is not None:
        return events.Failed(short, trace, cause=str(Cause.MEMORY))
    return events.Failed(headline, trace, cause.restartable, str(cause))


def _trace(error: BaseException, entry: Path, run_dir: Path) -> str:
    """The traceback from the program's own files on."""
    entries = traceback.TracebackException.from_exception(error)
    files = [frame.filename for frame in entries.stack]
    own = [i for i, file in enumerate(files) if program_entry.is_own(file, entry, run_dir)]
    if own:
        entries.stack = traceback.StackSummary.from_list(list(entries.stack)[own[0] :])
    return "".join(entries.format())


def _obey(context: RunContext) -> None:
    """Carry out signals and commands."""
    signal.signal(signal.SIGTERM, lambda *_: context.stop.ask("suspended"))
    signal.signal(signal.SIGINT, lambda *_: context.stop.ask("suspended"))

    def watch() -> None:
        while True:
            for path, command in commands.pending(context.run_dir):
                _carry_out(context, command)
                path.unlink(missing_ok=True)
            context.savepoints.give_up_overdue(context.reporter.report)
            context.checkpoints.give_up_overdue(context.reporter.report)
            time.sleep(COMMAND_SECONDS)

    threading.Thread(target=watch, name="commands", daemon=True).start()


def _carry_out(context: RunContext, command: commands.Command) -> None:
    if command.verb == "savepoint":
        _take_savepoint(context, command)
        return
    if command.verb == "checkpoint":
        _take_checkpoint(context, command)
        return
    reasons = {"cancel": "canceled", "suspend": "suspended"}
    reason = reasons.get(command.verb)
    if reason is None:
        error = f"this driver knows no command {command.verb!r}; it runs on"
        context.reporter.report(events.CommandDone(command.command_id, error))
        return
    context.stop.ask(reason)
    context.reporter.report(events.CommandDone(command.command_id))


def _take_savepoint(context: RunContext, command: commands.Command) -> None:
    try:
        wish = commands.SavepointOptions(**command.options)
    except TypeError as error:
        context.reporter.report(events.CommandDone(command.command_id, str(error)))
        return
    context.reporter.report(events.CommandDone(command.command_id))
    context.savepoints.ask(SavepointRequest(wish), context.reporter.report)


def _take_checkpoint(context: RunContext, command: commands.Command) -> None:
    try:
        wish = commands.CheckpointOptions(**command.options)
    except TypeError as error:
        context.reporter.report(events.CommandDone(command.command_id, str(error)))
        return
    context.checkpoints.ask(command.command_id, wish.timeout_ms, context.reporter.report)


def _versions() -> dict[str, str]:
    return {
        "python": machine.python_version(),
        **{name: version(name) for name in ("pyspark", "confluent-kafka")},
    }


if __name__ == "__main__":
    sys.exit(main(Path(sys.argv[1])))
