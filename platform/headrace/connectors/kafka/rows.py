"""Rows of Spark as records of Kafka: the columns of Spark's own Kafka sink."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pyarrow as pa

from headrace.connectors.kafka import errors

if TYPE_CHECKING:
    from pyspark.sql.types import StructType

    from headrace.connectors.kafka.sending import Record

#: Spark's names of the types a column may have.
TYPES: dict[str, frozenset[str]] = {
    "key": frozenset({"string", "binary"}),
    "value": frozenset({"string", "binary"}),
    "topic": frozenset({"string"}),
    "partition": frozenset({"int"}),
    "timestamp": frozenset({"timestamp"}),
    "headers": frozenset({"array<struct<key:string,value:binary>>"}),
}
#: Columns whose nulls mean "not given"; null keys and values are said to Kafka.
_OPTIONAL = frozenset({"topic", "partition", "timestamp", "headers"})


def columns(schema: StructType, topic: str | None) -> list[str]:
    """The columns of `schema`, in order. Raises `InvalidSettings` for one that means nothing."""
    names = [field.name for field in schema.fields]
    for field in schema.fields:
        kind = field.dataType.simpleString()
        if field.name not in TYPES:
            raise errors.InvalidSettings(
                f"column {field.name!r} is none of {', '.join(TYPES)}: select what Kafka is to get"
            )
        if kind not in TYPES[field.name]:
            wanted = " or ".join(sorted(TYPES[field.name]))
            raise errors.InvalidSettings(f"column {field.name!r} is {kind}; it must be {wanted}")
    if "value" not in names:
        raise errors.InvalidSettings("there is no column 'value'")
    if topic is None and "topic" not in names:
        raise errors.InvalidSettings("give the option 'topic' or a column 'topic'")
    return names


def records(batch: pa.RecordBatch, names: list[str]) -> list[Record]:
    """One dict per row. Columns come in the order of `names`, as the schema has them."""
    values = [_values(batch.column(i), name) for i, name in enumerate(names)]
    if names == ["key", "value"]:
        return [{"key": key, "value": value} for key, value in zip(*values, strict=True)]
    rows = (dict(zip(names, row, strict=True)) for row in zip(*values, strict=True))
    if _OPTIONAL.isdisjoint(names):
        return list(rows)
    return [_without_nulls(row) for row in rows]


def _values(column: pa.Array, name: str) -> list[Any]:
    if name == "timestamp":
        milliseconds: list[Any] = (
            column.cast(pa.timestamp("ms"), safe=False).cast(pa.int64()).to_pylist()
        )
        return milliseconds
    found: list[Any] = column.to_pylist()
    if name == "headers":
        return [
            None if each is None else [(header["key"], header["value"]) for header in each]
            for each in found
        ]
    return found


def _without_nulls(row: Record) -> Record:
    return {
        name: value for name, value in row.items() if value is not None or name not in _OPTIONAL
    }
