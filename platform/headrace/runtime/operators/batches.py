"""map_in_arrow and map_in_pandas: functions that take many rows at a time, as columns."""

from __future__ import annotations

import traceback
from collections.abc import Iterator
from typing import Any

import pyarrow as pa

from headrace.common.typeinfo import TypeInformation
from headrace.datastream.formats.columns import arrow_schema
from headrace.datastream.function import Function, RuntimeContext
from headrace.runtime import spark_types
from headrace.runtime.arrow_rows import ColumnsToRows, RowsToColumns, out_of_row
from headrace.runtime.operators.operator import (
    Element,
    OperatorError,
    Output,
    StatelessOperator,
    method,
)

#: Rows of a batch at most, as of Spark's own.
BATCH_ROWS = 10_000


class MapBatches(StatelessOperator):
    """Holds elements back until they fill a batch, or nothing more comes in the micro-batch."""

    name = "batches"

    def __init__(
        self, function: Any, input_type: TypeInformation, output_type: TypeInformation
    ) -> None:
        self.function = function
        self.input_type = input_type
        self.output_type = output_type

    def open(self, context: RuntimeContext) -> None:
        self.name = context.get_task_name()
        self._waiting: list[Element] = []
        self._call = method(self.function, "map")
        kind, into_row = spark_types.columns_of(self.input_type)
        self._columns = RowsToColumns(kind, arrow_schema(kind), into_row)
        wanted, _ = spark_types.columns_of(self.output_type)
        self._wanted = arrow_schema(wanted)
        self._rows = ColumnsToRows(wanted)
        self._value = out_of_row(self.output_type)
        if isinstance(self.function, Function):
            self.function.open(context)

    def close(self) -> None:
        if isinstance(self.function, Function):
            self.function.close()

    def begin(self) -> None:
        """What a batch that failed has left is of no use to the next one."""
        self._waiting = []

    def process(self, elements: list[Element], output: Output) -> None:
        self._waiting += elements
        while len(self._waiting) >= BATCH_ROWS:
            self._send(self._waiting[:BATCH_ROWS], output)
            del self._waiting[:BATCH_ROWS]

    def finish(self, output: Output) -> None:
        if self._waiting:
            self._send(self._waiting, output)
            self._waiting = []

    def _send(self, elements: list[Element], output: Output) -> None:
        try:
            batch = self._columns.batch(value for _, value in elements)
            values = [value for result in self._results(batch) for value in self._taken(result)]
        except Exception as error:
            what = f"a batch of {len(elements)} rows, the first of them {elements[0][1]!r:.150}"
            raise OperatorError(self.name, what, traceback.format_exc()) from error
        if len(values) == len(elements):
            times = [timestamp for timestamp, _ in elements]
            output.emit(list(zip(times, values, strict=True)))
        else:
            output.emit([(None, value) for value in values])

    def _results(self, batch: pa.RecordBatch) -> Iterator[Any]:
        yield from self._call(iter((batch,)))

    def _taken(self, result: Any) -> list[Any]:
        if not isinstance(result, pa.RecordBatch | pa.Table):
            raise TypeError(f"the function has to yield pyarrow.RecordBatch, not {_kind(result)}")
        missing = [name for name in self._wanted.names if name not in result.schema.names]
        if missing:
            raise ValueError(
                f"the function's batches have no column {', '.join(missing)}: they have "
                f"{', '.join(result.schema.names)}"
            )
        rows = self._rows.rows(result.column(f.name).cast(f.type) for f in self._wanted)
        return rows if self._value is None else [self._value(row) for row in rows]


class MapPandas(MapBatches):
    """As MapBatches, for a function of pandas DataFrames."""

    def _results(self, batch: pa.RecordBatch) -> Iterator[Any]:
        import pandas as pd

        for result in self._call(iter((batch.to_pandas(),))):
            if not isinstance(result, pd.DataFrame):
                raise TypeError(f"the function has to yield pandas.DataFrame, not {_kind(result)}")
            yield pa.Table.from_pandas(result, preserve_index=False)


def _kind(value: Any) -> str:
    return f"a {type(value).__name__}; it gets an iterator and yields, as in Spark"
