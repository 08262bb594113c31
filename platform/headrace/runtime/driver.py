"""The process that the platform launches for one attempt: `python -m headrace.runtime.driver DIR`.

It runs the job's program as `python job.py` would, with the platform behind
`StreamExecutionEnvironment`, and ends with an event that says how: exit code 0 after Stopped, 1
after Failed. SIGTERM suspends: the job goes on from its checkpoint at the next start.
"""

from __future__ import annotations

import contextlib
import logging
import os
import platform as machine
import runpy
import signal
import sys
import threading
import time
import traceback
from importlib.metadata import version
from pathlib import Path

from pyspark.errors import StreamingQueryException

from headrace.connectors.twophase.errors import SinkError
from headrace.runtime import context as run_context
from headrace.runtime.context import RunContext
from headrace.runtime.errors import JobFailed, UnknownTopic, from_spark, is_final
from headrace.runtime.plain_queries import PlainQueries
from headrace.runtime.transformations import GraphError
from headrace.wire import commands, events, rundir
from headrace.wire.journal import JournalWriter
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
        self._writer.append(event)


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
    _beat(run_dir)
    _obey(context)
    journal.report(events.Started(os.getpid(), spec.master, _versions()))
    return _run(spec, context, journal, PlainQueries(context))


def _run(spec: JobSpec, context: RunContext, journal: Journal, plain: PlainQueries) -> int:
    try:
        try:
            _run_program(spec)
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
                restartable=False,
            )
    except BaseException as error:
        if context.stop.asked.is_set():
            logging.warning("error while stopping, the next start recovers", exc_info=error)
        else:
            failed = _failed(error, journal, spec)
            logging.error("job failed: %s\n%s", failed.error, failed.traceback)
            journal.report(failed)
            return 1
    journal.report(events.Stopped(context.stop.reason or "finished"))
    return 0


def _run_program(spec: JobSpec) -> None:
    """As `python entry arguments...`: its folder first on the path, here and in the workers."""
    folder = str(Path(spec.entry).parent)
    sys.argv = [spec.entry, *spec.arguments]
    sys.path.insert(0, folder)
    os.environ["PYTHONPATH"] = os.pathsep.join(
        filter(None, [folder, os.environ.get("PYTHONPATH", "")])
    )
    try:
        runpy.run_path(spec.entry, run_name="__main__")
    except SystemExit as end:
        if end.code not in (None, 0):
            raise JobFailed(f"the program called exit({end.code})", restartable=False) from end


def _failed(error: BaseException, journal: Journal, spec: JobSpec) -> events.Failed:
    """Errors of a running job are worth another attempt; those of a program before it are not,
    unless they say so themselves."""
    if isinstance(error, JobFailed):
        headline = str(error).splitlines()[0]
        return events.Failed(headline, error.traceback, error.restartable)
    if isinstance(error, StreamingQueryException):
        failed = from_spark(str(error))
        trace = failed.traceback or _trace(error, spec)
        return events.Failed(str(failed).splitlines()[0], trace, failed.restartable)
    if isinstance(error, SinkError):
        headline = f"{type(error).__name__}: {error}"
        return events.Failed(headline, _trace(error, spec), not is_final(error))
    headline = traceback.format_exception_only(error)[-1].strip()
    restartable = journal.planned and not isinstance(error, UnknownTopic | GraphError)
    return events.Failed(headline, _trace(error, spec), restartable)


def _trace(error: BaseException, spec: JobSpec) -> str:
    """The traceback from the program's own file on."""
    entries = traceback.TracebackException.from_exception(error)
    own = [i for i, frame in enumerate(entries.stack) if frame.filename == spec.entry]
    if own:
        entries.stack = traceback.StackSummary.from_list(list(entries.stack)[own[0] :])
    return "".join(entries.format())


def _beat(run_dir: Path) -> None:
    """Touch the heartbeat file for as long as the process lives."""
    path = run_dir / rundir.HEARTBEAT

    def beat() -> None:
        while True:
            with contextlib.suppress(OSError):  # a full disk must not look like a dead driver
                path.touch()
            time.sleep(rundir.HEARTBEAT_SECONDS)

    threading.Thread(target=beat, name="heartbeat", daemon=True).start()


def _obey(context: RunContext) -> None:
    """Carry out signals and commands."""
    signal.signal(signal.SIGTERM, lambda *_: context.stop.ask("suspended"))
    signal.signal(signal.SIGINT, lambda *_: context.stop.ask("suspended"))

    def watch() -> None:
        while True:
            for path, command in commands.pending(context.run_dir):
                _carry_out(context, command)
                path.unlink(missing_ok=True)
            time.sleep(COMMAND_SECONDS)

    threading.Thread(target=watch, name="commands", daemon=True).start()


def _carry_out(context: RunContext, command: commands.Command) -> None:
    reasons = {"cancel": "canceled", "suspend": "suspended"}
    reason = reasons.get(command.verb)
    if reason is None:
        error = f"this driver knows no command {command.verb!r}; it runs on"
        context.reporter.report(events.CommandDone(command.command_id, error))
        return
    context.stop.ask(reason)
    context.reporter.report(events.CommandDone(command.command_id))


def _versions() -> dict[str, str]:
    return {
        "python": machine.python_version(),
        **{name: version(name) for name in ("pyspark", "confluent-kafka")},
    }


if __name__ == "__main__":
    sys.exit(main(Path(sys.argv[1])))
