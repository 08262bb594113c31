"""Where a job begins; PyFlink's `pyflink.datastream.stream_execution_environment`."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from headrace.common.configuration import Configuration
from headrace.common.job_execution_result import JobExecutionResult
from headrace.common.typeinfo import TypeInformation
from headrace.common.watermark_strategy import WatermarkStrategy
from headrace.connectors.kafka import security
from headrace.datastream.checkpointing_mode import CheckpointingMode
from headrace.datastream.connectors.base import DeliveryGuarantee, Source
from headrace.datastream.connectors.file_system import FileSource
from headrace.datastream.connectors.kafka import KafkaSink, KafkaSource
from headrace.datastream.data_stream import DataStream
from headrace.datastream.output_tag import OutputTag
from headrace.runtime import context as run_context
from headrace.runtime.compiler import compile_graph
from headrace.runtime.program import Program
from headrace.runtime.sources import (
    DEAD_LETTERS,
    CollectionSource,
    DeadLetterSchema,
    SocketSource,
    dead_letter_prefix,
)
from headrace.runtime.transformations import (
    Edge,
    GraphError,
    SinkTransformation,
    SourceTransformation,
    TimestampsTransformation,
    Transformation,
)

DEFAULT_MAX_PARALLELISM = 128
PARALLELISM_KEY = "parallelism.default"
INTERVAL_KEY = "execution.checkpointing.interval"
DEFAULT_JOB_NAME = "Flink Streaming Job"


class StreamExecutionEnvironment:
    """Collects the stream graph of one job and runs it.

    The same program runs by `python job.py`, in a test, and on the platform."""

    def __init__(self, configuration: Configuration | None = None) -> None:
        self._configuration = configuration or Configuration()
        launched = run_context.launched()
        self._launched = launched
        self._parallelism = launched.parallelism if launched else self._configured_parallelism()
        self._max_parallelism = DEFAULT_MAX_PARALLELISM
        interval = self._configuration.get_integer(INTERVAL_KEY, 0)
        self._checkpoint_interval: int | None = interval or None
        self._checkpointing_mode = CheckpointingMode.EXACTLY_ONCE
        self._sinks: list[Transformation] = []

    def _configured_parallelism(self) -> int:
        default = run_context.laptop_parallelism()
        return self._configuration.get_integer(PARALLELISM_KEY, default)

    @staticmethod
    def get_execution_environment(
        configuration: Configuration | None = None,
    ) -> StreamExecutionEnvironment:
        return StreamExecutionEnvironment(configuration)

    # --- settings

    def set_parallelism(self, parallelism: int) -> StreamExecutionEnvironment:
        """On the platform the slots of the job decide; this is for running without it."""
        if parallelism < 1:
            raise ValueError(f"parallelism must be positive, not {parallelism}")
        if self._launched is None:
            self._parallelism = parallelism
        return self

    def get_parallelism(self) -> int:
        return self._parallelism

    def set_max_parallelism(self, max_parallelism: int) -> StreamExecutionEnvironment:
        """The number of key groups: fixed for the life of the job's state."""
        if not 1 <= max_parallelism <= 32768:
            raise ValueError(f"max parallelism must be in 1..32768, not {max_parallelism}")
        self._max_parallelism = max_parallelism
        return self

    def get_max_parallelism(self) -> int:
        return self._max_parallelism

    def enable_checkpointing(
        self, interval: int, mode: CheckpointingMode = CheckpointingMode.EXACTLY_ONCE
    ) -> StreamExecutionEnvironment:
        """A micro-batch, and so a checkpoint and a commit of the sinks, each `interval` ms at
        the most; one follows the other at once where it takes longer."""
        if interval < 1:
            raise ValueError(f"the checkpoint interval must be positive, not {interval}")
        self._checkpoint_interval = interval
        self._checkpointing_mode = mode
        return self

    def get_checkpoint_interval(self) -> int:
        """Milliseconds, -1 when checkpointing was not enabled (micro-batches run on end)."""
        return -1 if self._checkpoint_interval is None else self._checkpoint_interval

    def get_checkpointing_mode(self) -> CheckpointingMode:
        return self._checkpointing_mode

    # --- sources

    def from_source(
        self,
        source: Source,
        watermark_strategy: WatermarkStrategy,
        source_name: str,
        type_info: TypeInformation | None = None,
    ) -> DataStream:
        transformation = SourceTransformation(
            name=f"Source: {source_name}", output_type=type_info, source=source
        )
        stream = DataStream(self, [Edge(transformation)])
        if isinstance(source, KafkaSource):
            self._route_dead_letters(source, transformation)
        if watermark_strategy != WatermarkStrategy.no_watermarks():
            timestamps = TimestampsTransformation(
                name=f"Timestamps: {source_name}",
                inputs=[Edge(transformation)],
                output_type=type_info,
                strategy=watermark_strategy,
            )
            stream = DataStream(self, [Edge(timestamps)])
        return stream

    def from_collection(
        self, collection: Iterable[Any], type_info: TypeInformation | None = None
    ) -> DataStream:
        """Bounded: the job finishes at its end. Values are pickled with the program."""
        values = list(collection)
        if type_info is not None:
            values = [type_info.check(value, "collection") for value in values]
        return self.from_source(
            CollectionSource(tuple(values)),
            WatermarkStrategy.no_watermarks(),
            "Collection Source",
            type_info,
        )

    def read_text_file(self, file_path: str, charset_name: str = "UTF-8") -> DataStream:
        """The lines of a file or of all files of a folder; bounded."""
        return self.from_source(
            FileSource((file_path,)), WatermarkStrategy.no_watermarks(), f"Text {file_path}"
        )

    def socket_text_stream(self, hostname: str, port: int) -> DataStream:
        """The lines a TCP server sends. A socket cannot be read again: lines of a micro-batch
        that fails are lost, as in Flink."""
        return self.from_source(
            SocketSource(hostname, port), WatermarkStrategy.no_watermarks(), "Socket Stream"
        )

    def _route_dead_letters(self, source: KafkaSource, node: SourceTransformation) -> None:
        if source.on_error is None or source.on_error.topic is None:
            return
        topic = source.on_error.topic
        sink = KafkaSink(
            bootstrap_servers=source.bootstrap_servers,
            serializer=DeadLetterSchema(topic),
            guarantee=DeliveryGuarantee.EXACTLY_ONCE,
            transactional_id_prefix=dead_letter_prefix(source.group_id),
            properties=security.for_librdkafka(source.properties),
        )
        self.add_sink(
            SinkTransformation(
                name=f"Sink: Dead letters {topic}",
                inputs=[Edge(node, OutputTag(DEAD_LETTERS))],
                sink=sink,
            )
        )

    # --- running

    def add_sink(self, transformation: SinkTransformation) -> None:
        self._sinks.append(transformation)

    _add_sink_node = add_sink

    def compile(self, job_name: str) -> Program:
        """The program that `execute` would run. Raises GraphError for a graph that cannot."""
        return compile_graph(
            self._sinks,
            name=job_name,
            parallelism=self._parallelism,
            max_parallelism=self._max_parallelism,
        )

    def get_execution_plan(self) -> str:
        """The job graph as JSON, in the form of Flink's plan."""
        from headrace.runtime.plan import plan_json

        return plan_json(self.compile(DEFAULT_JOB_NAME))

    def execute(self, job_name: str | None = None) -> JobExecutionResult:
        """Run the job until it ends (bounded sources), is cancelled, or fails.

        Raises JobFailed when it fails, with the traceback of the function at fault."""
        return self._run(job_name or DEFAULT_JOB_NAME)[0]

    def run_and_collect(self, job_name: str) -> list[Any]:
        return self._run(job_name)[1]

    def _run(self, job_name: str) -> tuple[JobExecutionResult, list[Any]]:
        from headrace.runtime.job_run import JobRun

        program = self.compile(job_name)
        self._sinks = []
        with run_context.for_run(job_name, self._parallelism) as context:
            context.jobs += 1
            if context.jobs > 1:
                raise GraphError(
                    "the program runs a second job; on the platform one program is one job, "
                    "because one checkpoint is. Put all streams before one execute()"
                )
            program.attempt = context.attempt
            context.configuration |= self._configuration.to_dict()
            run = JobRun(program, context, self._checkpoint_interval)
            try:
                return run.execute(), run.collected
            except Exception as error:
                context.failure = error
                raise
