"""Connector `filesystem`: folders of files, by Spark's own readers and writers."""

from __future__ import annotations

from collections.abc import Callable

from pyspark.sql import DataFrame, SparkSession

from headrace.sql import formats
from headrace.sql.options import Options
from headrace.sql.tables import Table

#: Flink's formats, and Spark's of the same files.
_FORMATS = {"json": "json", "csv": "csv", "parquet": "parquet", "orc": "orc", "raw": "text"}


def bounded(table: Table) -> bool:
    """It is read once, unless it is looked at again and again."""
    return "source.monitor-interval" not in table.options


def source(spark: SparkSession, table: Table, *, batch: bool = False) -> DataFrame:
    """A stream of its files if it is monitored, else their rows. Raises SqlError."""
    options = Options(table)
    path, kind, reading = _common(options)
    monitored = options.take("source.monitor-interval")
    options.ignore("source.report-statistics", "source.path.regex-pattern")
    options.ignore_prefixed("sink.", "auto-compaction", "compaction.", "partition.")
    options.done()
    physical = [each for each in table.columns if each.physical]
    if len(physical) != len([each for each in table.columns if each.expression is None]):
        raise options.wrong("files have no metadata columns here")
    schema = ", ".join(f"`{each.name}` {each.kind}" for each in physical)
    reader = spark.readStream if monitored and not batch else spark.read
    if kind == "text":
        if len(physical) != 1:
            raise options.wrong("format 'raw' is for one column")
        frame = reader.format("text").load(path)
        return frame.selectExpr(f"CAST(value AS {physical[0].kind}) AS `{physical[0].name}`")
    return reader.format(kind).schema(schema).options(**reading).load(path)


def sink(table: Table) -> tuple[str, dict[str, str], Callable[[DataFrame], DataFrame]]:
    """Spark's format, its options, and what makes a file's rows of a table's. Raises SqlError."""
    options = Options(table)
    iso = (
        table.options.get(f"{table.options.get('format')}.timestamp-format.standard") == "ISO-8601"
    )
    path, kind, writing = _common(options)
    options.ignore_prefixed("sink.", "auto-compaction", "compaction.", "source.", "partition.")
    options.done()
    writing["path"] = path
    if kind not in ("json", "csv"):
        return kind, writing, lambda rows: rows
    writing["ignoreNullFields"] = "false"
    stored = [each for each in table.columns if each.stored]
    columns = [formats.as_written(each, iso=iso).alias(each.name) for each in stored]
    return kind, writing, lambda rows: rows.select(*columns)


def _common(options: Options) -> tuple[str, str, dict[str, str]]:
    path = options.need("path")
    name = options.one_of("format", tuple(_FORMATS), "")
    given: dict[str, str] = {}
    if name == "csv":
        given["sep"] = options.take("csv.field-delimiter", ",").replace("\\t", "\t")
        given["quote"] = options.take("csv.quote-character", '"')
        if (null := options.take("csv.null-literal")) != "":
            given["nullValue"] = null
    if name in ("csv", "json"):
        lenient = options.flag(f"{name}.ignore-parse-errors")
        given["mode"] = "DROPMALFORMED" if lenient else "FAILFAST"
        options.one_of(f"{name}.timestamp-format.standard", ("SQL", "ISO-8601"), "SQL")
        options.ignore(f"{name}.fail-on-missing-field", f"{name}.encode.ignore-null-fields")
    return path, _FORMATS[name], given
