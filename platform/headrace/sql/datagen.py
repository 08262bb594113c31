"""Connector `datagen`: rows made up, as Flink's makes them."""

from __future__ import annotations

from pyspark.sql import Column as SparkColumn
from pyspark.sql import DataFrame, SparkSession
from pyspark.sql import functions as F

from headrace.sql.options import Options
from headrace.sql.tables import Column, Table

_RATE = 10_000
_WHOLE = {"TINYINT": 7, "SMALLINT": 15, "INT": 31, "BIGINT": 62}
_LENGTH = 100


def bounded(table: Table) -> bool:
    """By the number of rows, or by a sequence, which ends the source."""
    kinds = (value for key, value in table.options.items() if key.endswith(".kind"))
    return "number-of-rows" in table.options or "sequence" in kinds


def source(spark: SparkSession, table: Table, *, batch: bool = False) -> DataFrame:
    """A stream; one that ends is rows, all at once. Raises SqlError."""
    options = Options(table)
    rate = options.number("rows-per-second", _RATE)
    if bounded(table):
        numbers = spark.range(_rows(table, options))
        frame = numbers.select(F.col("id").alias("n"), F.current_timestamp().alias("at"))
    elif batch:
        raise options.wrong("it never ends: give 'number-of-rows', or a field that is a sequence")
    else:
        made = spark.readStream.format("rate").option("rowsPerSecond", max(1, rate)).load()
        frame = made.select(F.col("value").alias("n"), F.col("timestamp").alias("at"))
    columns = [_made(each, options) for each in table.columns if each.physical]
    options.ignore("scan.parallelism")
    options.done()
    return frame.select(*columns)


def _rows(table: Table, options: Options) -> int:
    """As many as the shortest sequence has."""
    own = [f"fields.{each.name}." for each in table.columns]
    lengths = [
        int(table.options[f"{each}end"]) - int(table.options[f"{each}start"]) + 1
        for each in own
        if table.options.get(f"{each}kind") == "sequence"
        and all(table.options.get(f"{each}{end}", "").isdecimal() for end in ("start", "end"))
    ]
    if "number-of-rows" in table.options:
        lengths.append(options.number("number-of-rows"))
    return max(0, min(lengths, default=0))


def _made(column: Column, options: Options) -> SparkColumn:
    own = f"fields.{column.name}."
    kind = options.one_of(f"{own}kind", ("random", "sequence"), "random")
    if kind == "sequence":
        start, end = options.number(f"{own}start"), options.number(f"{own}end")
        if end < start:
            raise options.wrong(f"'{own}end' is before its start")
        value = F.lit(start) + F.col("n") % F.lit(end - start + 1)
        return value.cast(column.kind).alias(column.name)
    return _random(column, own, options).cast(column.kind).alias(column.name)


def _random(column: Column, own: str, options: Options) -> SparkColumn:
    """The same again when a batch is run again: of the row's number, not of chance."""
    chance = (F.abs(F.xxhash64(F.col("n"), F.lit(column.name))) % F.lit(1 << 40)) / F.lit(1 << 40)
    if column.kind in _WHOLE:
        most = 2 ** _WHOLE[column.kind] - 1
        least, most = _bounds(own, options, 0, most)
        return F.floor(F.lit(least) + chance * F.lit(most - least + 1))
    if column.kind in ("FLOAT", "DOUBLE") or column.kind.startswith("DECIMAL"):
        least, most = _bounds(own, options, 0, 1_000_000)
        return F.lit(least) + chance * F.lit(most - least)
    if column.kind == "STRING":
        length = options.number(f"{own}length", _LENGTH)
        digits = F.sha2(F.concat(F.col("n").cast("string"), F.lit(column.name)), 512)
        return F.substring(F.repeat(digits, length // 128 + 1), 1, length)
    if column.kind == "BOOLEAN":
        return chance < F.lit(0.5)
    if column.kind == "TIMESTAMP":
        options.ignore(f"{own}max-past")
        return F.col("at")
    raise options.wrong(f"column {column.name}: datagen makes no {column.written or column.kind}")


def _bounds(own: str, options: Options, least: int, most: int) -> tuple[int, int]:
    return options.number(f"{own}min", least), options.number(f"{own}max", most)
