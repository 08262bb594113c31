"""DataFrames as streams and streams as DataFrames, and functions of many rows at a time."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import TYPE_CHECKING, Any

from headrace.common.time import Duration, Time, to_millis
from headrace.common.type_hints import type_of
from headrace.common.typeinfo import RowTypeInfo, TypeInformation
from headrace.datastream.connectors.base import Source
from headrace.datastream.function import Function
from headrace.datastream.streams.refusals import refuse
from headrace.runtime.transformations import AsyncTransformation, Edge, SinkTransformation

if TYPE_CHECKING:
    import pandas as pd
    import pyarrow as pa
    from pyspark.sql import DataFrame
    from pyspark.sql.types import StructType

    from headrace.datastream.data_stream import DataStream
    from headrace.datastream.stream_execution_environment import StreamExecutionEnvironment

    ArrowFunction = Callable[[Iterator[pa.RecordBatch]], Iterator[pa.RecordBatch]] | Function
    PandasFunction = Callable[[Iterator[pd.DataFrame]], Iterator[pd.DataFrame]] | Function


class DataFrameSource(Source):
    """The rows of a DataFrame, with Row's as the stream's values."""

    def __init__(self, dataframe: DataFrame) -> None:
        from headrace.runtime import spark_types

        self.dataframe = dataframe
        self.columns = list(dataframe.columns)
        self.bounded = not dataframe.isStreaming
        twice = sorted({name for name in self.columns if self.columns.count(name) > 1})
        if twice:
            raise ValueError(f"the DataFrame has several columns {', '.join(twice)}; rename them")
        self.produced_type: RowTypeInfo = spark_types.row_type(dataframe.schema)

    @property
    def described(self) -> str:
        return "dataframe"

    def __getstate__(self) -> dict[str, Any]:
        """Workers get its rows, not the DataFrame."""
        return {name: value for name, value in self.__dict__.items() if name != "dataframe"}


class DataFrames:
    """What `DataStream` has of DataFrames and columns."""

    _environment: StreamExecutionEnvironment

    @property
    def _edges(self) -> list[Edge]:
        raise NotImplementedError

    def get_type(self) -> TypeInformation | None:
        raise NotImplementedError

    @staticmethod
    def from_dataframe(
        dataframe: DataFrame, environment: StreamExecutionEnvironment | None = None
    ) -> DataStream:
        """`environment.from_dataframe(dataframe)`, of a new environment where none is given."""
        from headrace.datastream.stream_execution_environment import StreamExecutionEnvironment

        environment = environment or StreamExecutionEnvironment.get_execution_environment()
        return environment.from_dataframe(dataframe)

    def to_dataframe(
        self, schema: StructType | str | None = None, *, ticks: Duration | Time | int | None = None
    ) -> DataFrame:
        """The stream as a streaming DataFrame. What leads to it becomes part of each query that is
        started from it: its state, timers and watermarks are in the query's own checkpoint, and
        the query's writer is its only one. `env.execute` has nothing to do with it.

        `schema` is Spark's, also as DDL ("user string, n long"); without it the declared type says
        it. `ticks`: how often a batch is to run without data, so that processing-time timers fire
        and idle splits are found; otherwise they wait for the next record. Raises GraphError,
        and NotImplementedError for sources whose positions only a job keeps."""
        from pyspark.sql.types import StructType

        from headrace.runtime import dataframe_output, spark_types

        spark = dataframe_output.session([edge.source for edge in self._edges])
        if schema is None:
            try:
                kind, _ = spark_types.columns_of(self.get_type())
                schema = spark_types.struct_type(kind)
            except TypeError as error:
                refuse(f"{error}; give to_dataframe a schema, or the operator an output_type")
        columns = StructType.fromDDL(schema) if isinstance(schema, str) else schema
        assert isinstance(columns, StructType)
        sink = dataframe_output.DataFrameSink(spark_types.row_type(columns))
        end = SinkTransformation(name="DataFrame", inputs=self._edges, sink=sink)
        program = self._environment.compile("DataFrame", [end])
        every = None if ticks is None else to_millis(ticks)
        return dataframe_output.dataframe(spark, program, columns, every)

    def map_in_arrow(self, func: ArrowFunction, output_type: Any) -> DataStream:
        """As Spark's `mapInArrow`: `func` gets an iterator of pyarrow.RecordBatch and yields such,
        as many rows as it likes; their columns are the fields of the stream's type, and of
        `output_type`. It is called for each batch of at most 10,000 rows; what it needs at hand
        is kept by a MapFunction, whose `open` is called once and whose `map` is this function.
        Rows keep their timestamps where as many come out as went in; others have none."""
        from headrace.runtime.operators.batches import MapBatches

        return self._batches("Map In Arrow", MapBatches, func, output_type)

    def map_in_pandas(self, func: PandasFunction, output_type: Any) -> DataStream:
        """As Spark's `mapInPandas`, and as `map_in_arrow` with pandas.DataFrame in place of the
        record batches."""
        from headrace.runtime.operators.batches import MapPandas

        return self._batches("Map In Pandas", MapPandas, func, output_type)

    def _batches(self, name: str, operator: Any, function: Any, output_type: Any) -> DataStream:
        from headrace.datastream.data_stream import DataStream
        from headrace.datastream.formats.columns import arrow_schema
        from headrace.runtime import spark_types

        declared, wanted = type_of(self.get_type()), type_of(output_type)
        for what, kind in (("the stream's", declared), ("the output's", wanted)):
            try:
                arrow_schema(spark_types.columns_of(kind)[0])
            except TypeError as error:
                refuse(f"{name} works on columns, which {what} type has to tell: {error}")
        transformation = AsyncTransformation(
            name=name,
            inputs=self._edges,
            output_type=wanted,
            operator=operator(function, declared, wanted),
        )
        return DataStream(self._environment, [Edge(transformation)])
