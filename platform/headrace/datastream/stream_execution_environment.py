"""Where a job begins; PyFlink's `pyflink.datastream.stream_execution_environment`."""

from __future__ import annotations

import os
import sys
from collections.abc import Callable
from typing import Any

from headrace.common.configuration import Configuration
from headrace.common.job_client import JobClient
from headrace.common.job_execution_result import JobExecutionResult
from headrace.common.type_base import HIDDEN_VARIABLE
from headrace.datastream.borrowed import borrowed
from headrace.datastream.closeable_iterator import CloseableIterator
from headrace.datastream.configured_environment import ConfiguredEnvironment
from headrace.datastream.environment_sources import EnvironmentSources
from headrace.datastream.stream_graph import StreamGraph
from headrace.runtime import context as run_context
from headrace.runtime import executors, program_files
from headrace.runtime.background_job import BackgroundJob
from headrace.runtime.compiler import compile_graph
from headrace.runtime.context import RunContext, StopRequest
from headrace.runtime.executors import Execution
from headrace.runtime.program import Program
from headrace.runtime.transformations import GraphError, SinkTransformation, Transformation

__getattr__ = borrowed(
    __name__, "headrace.datastream.data_stream", "headrace.datastream.connectors"
)

DEFAULT_JOB_NAME = "Flink Streaming Job"
NAME_KEY = "pipeline.name"
#: `false`: errors tell the operator and the traceback, not the record. What messages of the job's
#: own exceptions hold is the job's affair.
SHOW_RECORDS_KEY = "headrace.errors.show-records"

TookUp = Callable[[Execution, StopRequest, str], None]


class StreamExecutionEnvironment(ConfiguredEnvironment, EnvironmentSources):
    """Collects the stream graph of one job and runs it.

    The same program runs by `python job.py`, in a test, and on the platform. By `python job.py` it
    starts a Spark of its own; with `headrace.executor: in-process` (or HEADRACE_EXECUTOR in the
    process's environment) it runs in the program's process alone, in milliseconds."""

    def __init__(self, configuration: Configuration | None = None) -> None:
        super().__init__(configuration)
        self._sinks: list[Transformation] = []
        self._files = program_files.ProgramFiles()

    @staticmethod
    def get_execution_environment(
        configuration: Configuration | None = None,
    ) -> StreamExecutionEnvironment:
        return StreamExecutionEnvironment(configuration)

    # --- files of the program

    def add_python_file(self, file_path: str) -> None:
        """A module, a package's folder or a zip that functions import; with the program's own
        folder it is on the path of the workers."""
        self._files.add_python_file(file_path)

    def set_python_requirements(
        self, requirements_file_path: str, requirements_cache_dir: str | None = None
    ) -> None:
        """Workers run with the driver's Python: what the file names must be installed there, or
        the job is refused at its start, saying what is missing."""
        self._files.require(requirements_file_path)

    def add_python_archive(self, archive_path: str, target_dir: str | None = None) -> None:
        raise NotImplementedError(
            "archives are not shipped to the workers; use add_python_file for code and "
            "register_cached_file for data"
        )

    def set_python_executable(self, python_exec: str) -> None:
        """Workers run with the driver's Python: another one is refused."""
        if not program_files.is_this_python(python_exec):
            raise NotImplementedError(
                f"workers run with the driver's Python, {sys.executable}, not {python_exec}"
            )

    def add_jars(self, *jars_path: str) -> None:
        """Jars (`file:///...`) for Spark's class path. Flink's own are left out: the connectors
        that they bring are here already."""
        self._files.add_jars(jars_path)

    add_classpaths = add_jars

    def register_cached_file(self, file_path: str, name: str, executable: bool = False) -> None:
        """A file that functions find by its name, through their RuntimeContext."""
        self._files.register(file_path, name)

    # --- the graph

    def _add_sink_node(self, transformation: SinkTransformation) -> None:
        self._sinks.append(transformation)

    def compile(self, job_name: str, sinks: list[Transformation] | None = None) -> Program:
        """The program that `execute` would run, or that of other sinks. Raises GraphError for a
        graph that cannot run."""
        program = compile_graph(
            self._sinks if sinks is None else sinks,
            name=job_name,
            parallelism=self.get_parallelism(),
            max_parallelism=self.get_max_parallelism(),
            mode=self._runtime_mode,
            own_uids=not self.get_config().has_auto_generated_uids_enabled(),
        )
        program.chaining = self.is_chaining_enabled()
        program.cached_files = self._files.cached
        program.job_parameters = self.get_config().get_global_job_parameters()
        return program

    def generate_stream_graph(
        self, clear_transformations: bool = False, job_name: str | None = None
    ) -> StreamGraph:
        """The compiled graph, to be looked at."""
        graph = StreamGraph(self.compile(self._name(job_name)))
        if clear_transformations:
            self._sinks = []
        return graph

    get_stream_graph = generate_stream_graph

    def get_execution_plan(self) -> str:
        """The job graph as JSON, in the form of Flink's plan."""
        return self.generate_stream_graph().get_streaming_plan_as_json()

    # --- running

    def execute(self, job_name: str | None = None) -> JobExecutionResult:
        """Run the job until it ends (bounded sources), is cancelled, or fails.

        Raises JobFailed when it fails, with the traceback of the function at fault."""
        return self._prepared(job_name)(lambda *_: None)

    def execute_async(self, job_name: str = DEFAULT_JOB_NAME) -> JobClient:
        """Run the job beside the program. The process lives until the job has ended; an error of
        the program, and control-C, cancel it."""
        job = BackgroundJob(self._prepared(job_name), lasting=True)
        run_context.keep(job)
        return JobClient(job)

    def execute_to_iterator(self, job_name: str | None) -> CloseableIterator[Any]:
        """Run the job beside the program, and give what its `collect` sink gets."""
        job = BackgroundJob(self._prepared(job_name), lasting=False)
        if self._launched is not None:
            run_context.keep(job)

        def close() -> None:
            job.cancel()
            job.wait()

        return CloseableIterator(job.values(), close)

    def close(self) -> None:
        """Nothing is held between jobs."""

    def _name(self, job_name: str | None) -> str:
        return job_name or self._configuration.get_string(NAME_KEY, DEFAULT_JOB_NAME)

    def _prepared(self, job_name: str | None) -> Callable[[TookUp], JobExecutionResult]:
        """Compiled now, so that a graph that cannot run is refused here; run when called."""
        name = self._name(job_name)
        executor = executors.chosen(self._configuration.to_dict())
        program = self.compile(name)
        self._files.put_on_path()
        self._sinks = []
        configuration = self._configuration.to_dict()
        interval = self.get_checkpoint_interval()
        jars = self._files.jars

        def run(took_up: TookUp) -> JobExecutionResult:
            with run_context.for_run(name, program.parallelism) as context:
                _take(context)
                program.attempt = context.attempt
                program.job_id = context.job_id
                context.configuration |= configuration
                context.jars = [*context.jars, *jars]
                _hide_records(context.configuration)
                try:
                    execution = executors.execution(
                        program, context, interval if interval > 0 else None, executor
                    )
                    took_up(execution, context.stop, context.job_id)
                    return execution.execute()
                except Exception as error:
                    context.failure = error
                    raise

        return run


def _hide_records(configuration: dict[str, str]) -> None:
    """Whether the errors of this process and of its workers show the record at fault."""
    if Configuration(configuration).get_boolean(SHOW_RECORDS_KEY, True):
        os.environ.pop(HIDDEN_VARIABLE, None)
    else:
        os.environ[HIDDEN_VARIABLE] = "true"


def _take(context: RunContext) -> None:
    context.jobs += 1
    if context.jobs > 1:
        raise GraphError(
            "the program runs a second job; on the platform one program is one job, "
            "because one checkpoint is. Put all streams before one execute()"
        )
