"""How streams begin."""

from __future__ import annotations

from collections.abc import Iterable
from typing import TYPE_CHECKING, Any

from headrace.common.type_hints import type_of
from headrace.common.typeinfo import TypeInformation
from headrace.common.watermark_strategy import WatermarkStrategy
from headrace.connectors.kafka import security
from headrace.datastream.connectors.base import DeliveryGuarantee, Source
from headrace.datastream.connectors.file_system import FileSource, StreamFormat
from headrace.datastream.connectors.kafka import (
    FlinkKafkaConsumerBase,
    KafkaSink,
    KafkaSource,
)
from headrace.datastream.connectors.number_seq import NumberSequenceSource
from headrace.datastream.data_stream import DataStream
from headrace.datastream.dataframes import DataFrameSource
from headrace.datastream.output_tag import OutputTag
from headrace.runtime.sources import (
    DEAD_LETTERS,
    CollectionSource,
    DeadLetterSchema,
    SocketSource,
    dead_letter_prefix,
)
from headrace.runtime.transformations import (
    Edge,
    SinkTransformation,
    SourceTransformation,
    TimestampsTransformation,
)

if TYPE_CHECKING:
    from pyspark.sql import DataFrame

    from headrace.datastream.stream_execution_environment import StreamExecutionEnvironment


class EnvironmentSources:
    """What `StreamExecutionEnvironment` has of sources."""

    def _add_sink_node(self, transformation: SinkTransformation) -> None:
        raise NotImplementedError

    def from_source(
        self,
        source: Source,
        watermark_strategy: WatermarkStrategy,
        source_name: str,
        type_info: TypeInformation | None = None,
    ) -> DataStream:
        """`type_info` is what the source says of its values where it is not given."""
        if not isinstance(source, Source):
            raise TypeError(f"a {type(source).__name__} is no source: {source!r}"[:200])
        declared = type_of(type_info) or _produced_type(source)
        transformation = SourceTransformation(
            name=f"Source: {source_name}", output_type=declared, source=source
        )
        stream = DataStream(self._environment, [Edge(transformation)])
        if isinstance(source, KafkaSource):
            self._route_dead_letters(source, transformation)
        if watermark_strategy != WatermarkStrategy.no_watermarks():
            timestamps = TimestampsTransformation(
                name=f"Timestamps: {source_name}",
                inputs=[Edge(transformation)],
                output_type=declared,
                strategy=watermark_strategy,
            )
            stream = DataStream(self._environment, [Edge(timestamps)])
        return stream

    def add_source(
        self,
        source_func: Source,
        source_name: str = "Custom Source",
        type_info: TypeInformation | None = None,
    ) -> DataStream:
        """As `from_source` without watermarks."""
        if isinstance(source_func, FlinkKafkaConsumerBase):
            source_func = source_func.source()
        return self.from_source(
            source_func, WatermarkStrategy.no_watermarks(), source_name, type_info
        )

    def from_dataframe(
        self,
        dataframe: DataFrame,
        watermark_strategy: WatermarkStrategy | None = None,
        source_name: str = "DataFrame",
    ) -> DataStream:
        """The rows of a Spark DataFrame as Rows of its columns; a streaming one does not end.
        Timestamps are Instants. Event time is what the strategy's timestamp assigner takes from a
        row; the DataFrame is one split, whatever it reads. What Spark can do itself (parsing,
        filters, joins with tables) is best done before. The job runs in the DataFrame's own
        SparkSession and leaves it open."""
        strategy = watermark_strategy or WatermarkStrategy.no_watermarks()
        return self.from_source(DataFrameSource(dataframe), strategy, source_name)

    def create_input(
        self, input_format: Any, type_info: TypeInformation | None = None
    ) -> DataStream:
        """The records of an input format, as `AvroInputFormat`."""
        if not isinstance(input_format, Source):
            raise TypeError(f"a {type(input_format).__name__} is no input format")
        return self.add_source(input_format, "Custom File Source", type_info)

    def from_collection(
        self, collection: Iterable[Any], type_info: TypeInformation | None = None
    ) -> DataStream:
        """Bounded: the job finishes at its end. Values are pickled with the program."""
        values = list(collection)
        declared = type_of(type_info)
        if declared is not None:
            values = [declared.check(each, f"value {at}") for at, each in enumerate(values)]
        return self.from_source(
            CollectionSource(tuple(values)),
            WatermarkStrategy.no_watermarks(),
            "Collection Source",
            declared,
        )

    def from_elements(self, *elements: Any, type_info: TypeInformation | None = None) -> DataStream:
        """As `from_collection`."""
        return self.from_collection(elements, type_info)

    def from_sequence(self, start: int, end: int) -> DataStream:
        """All whole numbers from `start` to `end`, both included; bounded."""
        source = NumberSequenceSource(start, end)
        return self.from_source(source, WatermarkStrategy.no_watermarks(), "Sequence Source")

    generate_sequence = from_sequence

    def read_text_file(self, file_path: str, charset_name: str = "UTF-8") -> DataStream:
        """The lines of a file or of all files of a folder; bounded."""
        lines = StreamFormat.text_line_format(charset_name)
        source = FileSource.for_record_stream_format(lines, file_path).build()
        return self.from_source(source, WatermarkStrategy.no_watermarks(), f"Text {file_path}")

    def socket_text_stream(
        self, hostname: str, port: int, delimiter: str = "\n", max_retry: int = 0
    ) -> DataStream:
        """The lines a TCP server sends. A socket cannot be read again: lines of a micro-batch
        that fails are lost, as in Flink."""
        if delimiter != "\n":
            raise NotImplementedError("lines of a socket end with a line feed")
        return self.from_source(
            SocketSource(hostname, port), WatermarkStrategy.no_watermarks(), "Socket Stream"
        )

    @property
    def _environment(self) -> StreamExecutionEnvironment:
        from headrace.datastream.stream_execution_environment import StreamExecutionEnvironment

        assert isinstance(self, StreamExecutionEnvironment)
        return self

    def _route_dead_letters(self, source: KafkaSource, node: SourceTransformation) -> None:
        if source.on_error is None or source.on_error.topic is None:
            return
        topic = source.on_error.topic
        sink = KafkaSink(
            bootstrap_servers=source.bootstrap_servers,
            serializer=DeadLetterSchema(topic),
            guarantee=DeliveryGuarantee.EXACTLY_ONCE,
            transactional_id_prefix=dead_letter_prefix(source.group_id),
            transaction_timeout_ms=source.on_error.transaction_timeout_ms,
            properties=security.for_librdkafka(source.properties),
        )
        self._add_sink_node(
            SinkTransformation(
                name=f"Sink: Dead letters {topic}",
                inputs=[Edge(node, OutputTag(DEAD_LETTERS))],
                sink=sink,
            )
        )


def _produced_type(source: Source) -> TypeInformation | None:
    """What a source, or the schema it reads with, says of its values."""
    known: TypeInformation | None = getattr(source, "produced_type", None)
    schema = getattr(source, "deserializer", None)
    return known or getattr(schema, "produced_type", None)
