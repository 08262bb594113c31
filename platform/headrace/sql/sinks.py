"""INSERT INTO: rows of a query into a table."""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import dataclass
from datetime import datetime
from typing import Any

from pyspark.errors import AnalysisException
from pyspark.sql import Column as SparkColumn
from pyspark.sql import DataFrame
from pyspark.sql import functions as F
from pyspark.sql.streaming.query import StreamingQuery

from headrace.sql import files, kafka
from headrace.sql.errors import SqlError, reason
from headrace.sql.options import Options
from headrace.sql.statements import Insert
from headrace.sql.tables import Column, Table

_UPDATABLE = ("upsert-kafka", "print", "blackhole")


@dataclass(frozen=True)
class Trigger:
    """`interval_ms` 0: a batch as soon as there is something. `once`: what there is, and end."""

    interval_ms: int = 0
    once: bool = False


@dataclass(frozen=True)
class Prepared:
    """An INSERT that has been checked as far as it can be before it runs."""

    name: str
    table: Table
    rows: DataFrame
    kind: str
    options: dict[str, str]
    trigger: Trigger
    overwrite: bool
    changing: bool

    @property
    def is_stream(self) -> bool:
        return self.rows.isStreaming

    def start(self) -> StreamingQuery:
        writer = self.rows.writeStream.queryName(self.name)
        writer = writer.outputMode("update" if self.changing else "append").options(**self.options)
        if self.table.partitioned_by:
            writer = writer.partitionBy(*self.table.partitioned_by)
        if self.trigger.once:
            writer = writer.trigger(availableNow=True)
        elif self.trigger.interval_ms:
            writer = writer.trigger(processingTime=f"{self.trigger.interval_ms} milliseconds")
        if self.kind == "print":
            return writer.foreachBatch(_printing(self.table)).start()
        return writer.format(self.kind).start()

    def write(self) -> None:
        """A batch: done when this returns."""
        if self.kind == "print":
            _printing(self.table)(self.rows, 0)
            return
        writer = self.rows.write.format(self.kind).options(**self.options)
        if self.table.partitioned_by:
            writer = writer.partitionBy(*self.table.partitioned_by)
        writer.mode("overwrite" if self.overwrite else "append").save()


def prepare(
    statement: Insert, table: Table, rows: DataFrame, name: str, updating: bool, trigger: Trigger
) -> Prepared:
    """Nothing begins. Raises SqlError."""
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
    if not rows.isStreaming and options.get("deliveryGuarantee") == "exactly-once":
        raise SqlError(
            f"table {table.name}: rows that do not come as a stream cannot be written "
            "exactly-once to Kafka, as there is no checkpoint; set 'sink.delivery-guarantee' = "
            "'at-least-once', or read the source as a stream ('source.monitor-interval')",
            table.line,
        )
    if rows.isStreaming:
        _check_stream(rows, "Update" if changing else "Append", line)
    return Prepared(name, table, rows, kind, options, trigger, statement.overwrite, changing)


def _check_stream(rows: DataFrame, mode: str, line: int) -> None:
    """What Spark would say when the query starts, while other queries run already."""
    jvm: Any = rows.sparkSession._jvm
    plan = rows._jdf.queryExecution().analyzed()
    output = getattr(jvm.org.apache.spark.sql.streaming.OutputMode, mode)()
    catalyst = jvm.org.apache.spark.sql.catalyst
    try:
        catalyst.analysis.UnsupportedOperationChecker.checkForStreaming(plan, output)
    except AnalysisException as error:
        raise SqlError(f"Spark does not run this as a stream: {reason(error)}", line) from None


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
        value = _precise(value.cast(each.kind), each)
        if each.not_null or each.name in table.primary_key:
            value = _never_null(value, f"{table.name}.{each.name}")
        columns.append(value.alias(each.name))
    try:
        return numbered.select(*columns)
    except AnalysisException as error:
        raise SqlError(f"INSERT INTO {table.name}: {reason(error)}", line) from None


def _precise(value: SparkColumn, column: Column) -> SparkColumn:
    """A TIMESTAMP(3) has three digits of a second, as in Flink; Spark's have six."""
    found = re.search(r"\((\d)\)", column.written) if column.kind == "TIMESTAMP" else None
    unit = {"0": "SECOND", "3": "MILLISECOND"}.get(found[1]) if found is not None else None
    return F.date_trunc(unit, value) if unit is not None else value


def _never_null(value: SparkColumn, name: str) -> SparkColumn:
    """The query fails as it does in Flink."""
    words = f"column {name} is NOT NULL, and a NULL came: filter such rows, or let it be NULL"
    return F.when(value.isNull(), F.raise_error(F.lit(words))).otherwise(value)


def _sink(table: Table, name: str) -> tuple[str, dict[str, str], Callable[[DataFrame], DataFrame]]:
    if table.connector in ("kafka", "upsert-kafka"):
        return kafka.sink(table, name)
    if table.connector == "filesystem":
        return files.sink(table)
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
