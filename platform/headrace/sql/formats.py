"""Flink's formats of records, by functions of Spark's: json, csv, raw."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from pyspark.sql import Column as SparkColumn
from pyspark.sql import functions as F

from headrace.sql.options import Options
from headrace.sql.tables import Column

KNOWN = ("json", "csv", "raw")
_SQL, _ISO = "SQL", "ISO-8601"
_BROKEN = "__broken"


@dataclass(frozen=True)
class Format:
    """Of a table's key or value. `lenient`: what cannot be read is left out."""

    kind: str
    lenient: bool = False
    strict_fields: bool = False
    iso: bool = False
    separator: str = ","
    omit_nulls: bool = False


def of(options: Options, prefix: str = "") -> Format:
    """By `format`, or `key.format`, and the options of that format. Raises SqlError."""
    kind = options.one_of(f"{prefix}format", KNOWN, options.take("format") or "")
    own = f"{prefix}{kind}."
    standard = options.one_of(f"{own}timestamp-format.standard", (_SQL, _ISO), _SQL)
    if kind == "json":
        options.ignore(f"{own}encode.decimal-as-plain-number")
        if options.take(f"{own}map-null-key.mode", "FAIL") != "FAIL":
            raise options.wrong("'json.map-null-key.mode' is FAIL here")
    separator = options.take(f"{own}field-delimiter", ",").replace("\\t", "\t")
    return Format(
        kind,
        options.flag(f"{own}ignore-parse-errors"),
        kind == "json" and options.flag(f"{own}fail-on-missing-field"),
        standard == _ISO,
        separator,
        kind == "json" and options.flag(f"{own}encode.ignore-null-fields"),
    )


def readable(found: Format, record: str, raw: str) -> str:
    """Condition that what `read` has put into column `record`, of the bytes in column `raw`, is a
    record. One whose fields are partly wrong is: those are NULL, as in Flink."""
    text = f"CAST({raw} AS STRING)"
    is_object = f"startswith(ltrim({text}), '{{')"
    if found.kind == "json" and not found.lenient:  # Spark would make a row of NULLs of some
        return f"if({is_object}, true, raise_error('a record of format json is no JSON object'))"
    if not found.lenient or found.kind == "raw":
        return "true"
    whole = f"{record}.{_BROKEN} IS NULL"
    if found.kind == "json":
        whole = f"{is_object} AND ({whole} OR get_json_object({text}, '$') IS NOT NULL)"
    return f"{record} IS NOT NULL AND {whole}"


def read(
    value: SparkColumn, found: Format, columns: Sequence[Column], record: str
) -> tuple[SparkColumn, list[SparkColumn]]:
    """The record as a struct named `record`, and the table's columns out of it."""
    if found.kind == "raw":
        return value.alias(record), [_raw(columns[0], record)]
    text = value.cast("string")
    fields = [f"`{_safe(each.name)}` {_as_read(each)}" for each in columns]
    mode = "PERMISSIVE" if found.lenient else "FAILFAST"
    if found.lenient:
        fields.append(f"{_BROKEN} STRING")
    options = {"mode": mode, "columnNameOfCorruptRecord": _BROKEN}
    schema = ", ".join(fields)
    if found.kind == "json":
        whole = F.from_json(text, schema, options)
    else:
        whole = F.from_csv(text, schema, {**options, "sep": found.separator})
    return whole.alias(record), [_column(each, record, found) for each in columns]


def _as_read(column: Column) -> str:
    """Times come as text, in either standard, and bytes in Base64."""
    return "STRING" if column.kind in ("TIMESTAMP", "BINARY") else column.kind


def _column(column: Column, record: str, found: Format) -> SparkColumn:
    field = F.col(f"{record}.`{_safe(column.name)}`")
    if column.kind == "BINARY":
        field = F.unbase64(field)
    elif column.kind == "TIMESTAMP":
        field = field.try_cast("timestamp") if found.lenient else field.cast("timestamp")
    elif column.kind == "STRING" and found.kind == "csv":
        field = F.coalesce(field, F.lit(""))  # Flink has no NULL there without csv.null-literal
    return field.alias(column.name)


def _raw(column: Column, record: str) -> SparkColumn:
    whole = F.col(record)
    value = whole if column.kind == "BINARY" else whole.cast("string").cast(column.kind)
    return value.alias(column.name)


def write(found: Format, columns: Sequence[Column], prefix: str = "") -> SparkColumn:
    """One value of the columns of a row; fields are called as they, without `prefix`."""
    if found.kind == "raw":
        return F.col(f"`{_safe(columns[0].name)}`")
    fields = F.struct(
        *(as_written(each, iso=found.iso).alias(each.name.removeprefix(prefix)) for each in columns)
    )
    if found.kind == "csv":
        return F.to_csv(fields, {"sep": found.separator})
    return F.to_json(fields, {"ignoreNullFields": str(found.omit_nulls).lower()})


def as_written(column: Column, *, iso: bool) -> SparkColumn:
    """A value as text of JSON and CSV has it in Flink, where Spark's would be another."""
    value = F.col(f"`{_safe(column.name)}`")
    if column.kind == "TIMESTAMP":
        # TIMESTAMP_LTZ, or TIMESTAMP WITH LOCAL TIME ZONE
        value = _time(value, in_utc="L" in column.written, iso=iso)
    elif column.kind == "BINARY":
        value = F.base64(value)
    return value


def _time(value: SparkColumn, *, in_utc: bool, iso: bool) -> SparkColumn:
    """With as many digits of a second as it has, like CAST to STRING in Spark."""
    if in_utc:
        value = F.to_utc_timestamp(value, F.current_timezone())
    text = value.cast("string")
    text = F.replace(text, F.lit(" "), F.lit("T")) if iso else text
    return F.concat(text, F.lit("Z")) if in_utc else text


def _safe(name: str) -> str:
    return name.replace("`", "``")
