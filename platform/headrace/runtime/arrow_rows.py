"""Values of a stream as Arrow's columns, and back."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import Any

import pyarrow as pa

from headrace.common.typeinfo import (
    BasicTypeInfo,
    DataclassTypeInfo,
    ListTypeInfo,
    NotNullTypeInfo,
    RowTypeInfo,
    TupleTypeInfo,
    TypeInformation,
    Types,
)
from headrace.common.types import Row
from headrace.datastream.formats.columns import arrow_row

#: Types whose values Arrow gives as they are.
_PLAIN = {
    *("STRING", "BOOLEAN", "BYTE", "SHORT", "INT", "LONG", "FLOAT", "DOUBLE"),
    *("BIG_DEC", "SQL_DATE", "SQL_TIME", "SQL_TIMESTAMP"),
}


class RowsToColumns:
    """Record batches of values that `into_row` makes rows, tuples or dicts of."""

    def __init__(
        self, kind: RowTypeInfo, schema: pa.Schema, into_row: Callable[[Any], Any]
    ) -> None:
        self._schema = schema
        self._into_row = into_row
        self._row = arrow_row(kind)

    def batch(self, values: Iterable[Any]) -> pa.RecordBatch:
        """Raises TypeMismatch for a value that does not fit."""
        rows = [self._row(self._into_row(value)) for value in values]
        columns: Iterable[Any] = zip(*rows, strict=True) if rows else [()] * len(self._schema)
        arrays = [
            pa.array(column, field.type)
            for column, field in zip(columns, self._schema, strict=True)
        ]
        return pa.RecordBatch.from_arrays(arrays, schema=self._schema)


class ColumnsToRows:
    """Rows of record batches with these columns, whatever else is in them."""

    def __init__(self, kind: RowTypeInfo) -> None:
        self._names = kind.field_names
        self._kinds = kind.field_types
        self._checks = [None if _is_plain(each) else each.check for each in kind.field_types]

    def rows(self, columns: Iterable[pa.Array]) -> list[Row]:
        """`columns` in the order of the fields."""
        lists = [
            _values(column, check) for column, check in zip(columns, self._checks, strict=True)
        ]
        return [Row._named(self._names, values) for values in zip(*lists, strict=True)]


def out_of_row(kind: TypeInformation) -> Callable[[Row], Any] | None:
    """How a value of this type is made of the row of its columns (`spark_types.columns_of`);
    None: it is the row."""
    if isinstance(kind, NotNullTypeInfo):
        return out_of_row(kind.type_info)
    if isinstance(kind, RowTypeInfo):
        return None
    if isinstance(kind, DataclassTypeInfo):
        check = kind.check
        return lambda row: check(row.as_dict())
    return tuple if isinstance(kind, TupleTypeInfo) else _first


def _first(row: Row) -> Any:
    return row[0]


def _values(column: pa.Array, check: Callable[[Any], Any] | None) -> list[Any]:
    values: list[Any] = column.to_pylist(maps_as_pydicts="strict")
    return values if check is None else [check(value) for value in values]


def _is_plain(kind: TypeInformation) -> bool:
    if isinstance(kind, ListTypeInfo):
        return _is_plain(kind.elem_type)
    if isinstance(kind, BasicTypeInfo):
        return kind.name in _PLAIN
    return kind == Types.PRIMITIVE_ARRAY(Types.BYTE())
