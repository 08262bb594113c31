"""INSERT INTO: rows of a query into a table."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from datetime import datetime
from typing import Any

from pyspark.sql import DataFrame
from pyspark.sql import functions as F
from pyspark.sql.streaming.query import StreamingQuery

from headrace.sql import files, kafka
from headrace.sql.errors import SqlError
from headrace.sql.options import Options
from headrace.sql.statements import Insert
from headrace.sql.tables import Table

_UPDATABLE = ("upsert-kafka", "print", "blackhole")


@dataclass(frozen=True)
class Trigger:
    """`interval_ms` 0: a batch as soon as there is something. `once`: what there is, and end."""

    interval_ms: int = 0
    once: bool = False


def insert(
    statement: Insert, table: Table, rows: DataFrame, name: str, updating: bool, trigger: Trigger
) -> StreamingQuery | None:
    """Start it; None when it was a batch and is done. Raises SqlError before anything begins."""
    line = statement.query.line
    rows = _fitted(statement, table, rows)
    changing = updating and rows.isStreaming
    if changing and table.connector not in _UPDATABLE:
        raise SqlError(
            f"the query's rows change again and again (an aggregate without a window), and "
            f"'{table.connector}' takes each row once: aggregate in a window (TUMBLE, HOP, "
            "SESSION), or write to 'upsert-kafka' with a PRIMARY KEY",
            line,
        )
    if statement.overwrite and (rows.isStreaming or table.connector != "filesystem"):
        raise SqlError("INSERT OVERWRITE is for files and queries that end", line)
    kind, options, shaped = _sink(table, name)
    rows = shaped(rows)
    if not rows.isStreaming:
        _write(kind, options, rows, table, statement.overwrite)
        return None
    writer = rows.writeStream.queryName(name).outputMode("update" if changing else "append")
    writer = writer.options(**options)
    if table.partitioned_by:
        writer = writer.partitionBy(*table.partitioned_by)
    if trigger.once:
        writer = writer.trigger(availableNow=True)
    elif trigger.interval_ms:
        writer = writer.trigger(processingTime=f"{trigger.interval_ms} milliseconds")
    if kind == "print":
        return writer.foreachBatch(_printing(table)).start()
    return writer.format(kind).start()


def _write(
    kind: str, options: dict[str, str], rows: DataFrame, table: Table, overwrite: bool
) -> None:
    if kind == "print":
        _printing(table)(rows, 0)
        return
    if options.get("deliveryGuarantee") == "exactly-once":
        raise SqlError(
            f"table {table.name}: rows that do not come as a stream cannot be written "
            "exactly-once to Kafka, as there is no checkpoint; set 'sink.delivery-guarantee' = "
            "'at-least-once', or read the source as a stream ('source.monitor-interval')",
            table.line,
        )
    writer = rows.write.format(kind).options(**options)
    if table.partitioned_by:
        writer = writer.partitionBy(*table.partitioned_by)
    writer.mode("overwrite" if overwrite else "append").save()


def _fitted(statement: Insert, table: Table, rows: DataFrame) -> DataFrame:
    """By position, as SQL has it, and cast to the table's types."""
    stored = [each for each in table.columns if each.stored]
    given = statement.columns or [each.name for each in stored]
    line = statement.query.line
    if len(given) != len(rows.columns):
        raise SqlError(
            f"INSERT INTO {table.name}: the query has {len(rows.columns)} columns "
            f"({', '.join(rows.columns)}), {len(given)} are written ({', '.join(given)})",
            line,
        )
    unknown = [name for name in given if name not in {each.name for each in stored}]
    if unknown:
        raise SqlError(f"table {table.name} has no column {unknown[0]} to write to", line)
    numbered = rows.toDF(*(f"c{n}" for n in range(len(given))))
    at = {name: f"c{n}" for n, name in enumerate(given)}
    columns = []
    for each in stored:
        if each.name not in at and each.not_null:
            raise SqlError(f"column {each.name} of {table.name} is NOT NULL and not given", line)
        value = F.col(at[each.name]) if each.name in at else F.lit(None)
        columns.append(value.cast(each.kind).alias(each.name))
    return numbered.select(*columns)


def _sink(table: Table, name: str) -> tuple[str, dict[str, str], Callable[[DataFrame], DataFrame]]:
    if table.connector in ("kafka", "upsert-kafka"):
        return kafka.sink(table, name)
    if table.connector == "filesystem":
        return *files.sink(table), lambda rows: rows
    options = Options(table)
    if table.connector not in ("print", "blackhole"):
        raise options.wrong(f"connector '{table.connector}' can be read, not written")
    options.ignore("print-identifier", "standard-error", "sink.parallelism")
    options.done()
    return ("print" if table.connector == "print" else "noop"), {}, lambda rows: rows


def _printing(table: Table) -> Callable[[DataFrame, int], None]:
    """Rows as Flink prints them, into the driver's log. A batch that is run again prints again."""
    begin = f"{table.options['print-identifier']}> " if "print-identifier" in table.options else ""

    def printed(rows: DataFrame, number: int) -> None:
        for row in rows.toLocalIterator():
            print(f"{begin}+I[{', '.join(map(_shown, row))}]", flush=True)

    return printed


def _shown(value: Any) -> str:
    if isinstance(value, datetime):
        return value.isoformat(timespec="milliseconds")
    return "null" if value is None else str(value)
