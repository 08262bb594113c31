"""Files and records of text, and Parquet, as rows and back."""

from __future__ import annotations

import gzip
import json
import pickle
from collections.abc import Iterable
from dataclasses import dataclass
from datetime import UTC, date, datetime, time
from decimal import Decimal
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from pyspark.sql.streaming.datasource import ReadAllAvailable

from headrace.common import Configuration, Duration, Instant, Row, Types, WatermarkStrategy
from headrace.common.serialization import DeserializationError
from headrace.datastream import StreamExecutionEnvironment
from headrace.datastream.connectors.file_source import FileFormat
from headrace.datastream.connectors.file_system import FileSource, StreamFormat
from headrace.datastream.connectors.python_source import SourceContext, Timestamped
from headrace.datastream.formats.csv import (
    CsvBulkWriters,
    CsvReaderFormat,
    CsvRowDeserializationSchema,
    CsvRowSerializationSchema,
    CsvSchema,
)
from headrace.datastream.formats.json import (
    JsonRowDeserializationSchema,
    JsonRowSerializationSchema,
)
from headrace.datastream.formats.json_lines import JsonLinesFormat
from headrace.datastream.formats.parquet import ParquetBulkWriters, ParquetColumnarRowInputFormat
from headrace.runtime import spark_python_source
from headrace.table import DataTypes

NONE = WatermarkStrategy.no_watermarks()
PERSON = Types.ROW_NAMED(
    ["name", "age", "tags"], [Types.STRING(), Types.INT(), Types.LIST(Types.STRING())]
)


def rows_of(format_: FileFormat, path: Path) -> list[Any]:
    source = FileSource.for_record_stream_format(format_, str(path)).build()  # type: ignore[arg-type]
    settings = Configuration({"headrace.executor": "in-process", "parallelism.default": "1"})
    env = StreamExecutionEnvironment.get_execution_environment(settings)
    stream = env.from_source(source, NONE, "files")
    # typed as the format says, so that a program needs not to
    assert stream.get_type() == format_.produced_type
    return list(stream.map(lambda row: row).execute_and_collect())


SCHEMA = (
    CsvSchema.builder()
    .add_number_column("id", number_type=DataTypes.INT())
    .add_string_column("name")
    .add_array_column("list", ",", element_type=DataTypes.DOUBLE())
    .add_boolean_column("ok")
    .add_column("day", Types.SQL_DATE())
    .set_column_separator("|")
    .set_escape_char("\\")
    .set_null_value("-")
    .set_use_header()
    .set_strict_headers()
    .set_allow_comments()
    .build()
)


def test_csv_files_are_rows_of_the_schema(tmp_path: Path) -> None:
    text = 'id|name|list|ok|day\n# no row\n1|"a|b\nc"|1,2.5|true|2021-02-03\n\n2|d\\|e|-|false|-\n'
    with gzip.open(tmp_path / "rows.csv.gz", "wt") as file:
        file.write(text)
    assert rows_of(CsvReaderFormat.for_schema(SCHEMA), tmp_path) == [
        Row(1, "a|b\nc", [1.0, 2.5], True, date(2021, 2, 3)),
        Row(2, "d|e", None, False, None),
    ]
    assert str(SCHEMA.get_type_info().get_field_types()[0]) == "Integer"


@pytest.mark.parametrize(
    ("line", "reason"),
    [
        ("x|a|1|true|-", "line 2: field id is 'x', which is no Integer"),
        ("1|a|1,x|true|-", "line 2: field list is '1,x', which is no ListTypeInfo<Double>"),
        ("3000000000|a|1|true|-", "line 2: field id is 3000000000, which is no INT"),
        ("1|a", "line 2: 2 fields, not 5"),
        ("1|a|1|true|soon", "line 2: field day is 'soon', which is no SQL_DATE"),
    ],
)
def test_a_row_that_does_not_fit_is_found(tmp_path: Path, line: str, reason: str) -> None:
    (tmp_path / "rows.csv").write_text(f"id|name|list|ok|day\n{line}\n")
    with pytest.raises(ValueError, match=r"rows\.csv") as failure:
        list(CsvReaderFormat(SCHEMA).read(str(tmp_path / "rows.csv")))
    assert reason in str(failure.value)


def test_another_head_is_refused(tmp_path: Path) -> None:
    (tmp_path / "rows.csv").write_text("id|other\n")
    with pytest.raises(ValueError, match="the columns are"):
        list(CsvReaderFormat(SCHEMA).read(str(tmp_path / "rows.csv")))


def test_csv_files_that_are_written_are_read(tmp_path: Path) -> None:
    row = Row(7, "it's | \\ this", [0.5], True, None)
    schema = CsvSchema.builder().add_columns_from(SCHEMA).set_null_value("-").build()
    part = CsvBulkWriters.for_schema(schema).open(tmp_path / "part.csv")
    part.write(row)
    part.close()
    assert list(CsvReaderFormat(schema).read(str(tmp_path / "part.csv"))) == [row]


def test_csv_records() -> None:
    read = CsvRowDeserializationSchema.Builder(PERSON).set_null_literal("n/a").build()
    assert read.deserialize(b'"Ada, Countess",36,a;b') == Row("Ada, Countess", 36, ["a", "b"])
    assert read.deserialize(b"Ada,n/a,n/a") == Row("Ada", None, None)
    for data, reason in (
        (b"Ada,x,", "field age is 'x'"),
        (b"Ada", "no field age"),
        (b"Ada,1,a,b", "4 fields, not 3"),
        (b"", "0 fields, not 3"),
    ):
        with pytest.raises(DeserializationError, match=reason):
            read.deserialize(data)
    lenient = CsvRowDeserializationSchema.Builder(PERSON).set_ignore_parse_errors(True).build()
    assert lenient.deserialize(b"Ada,x,a") == Row("Ada", None, ["a"])
    assert lenient.deserialize(b"Ada") == Row("Ada", None, None)
    assert lenient.deserialize(b"Ada,1,a,b") is None
    assert lenient.deserialize(None) is None
    assert pickle.loads(pickle.dumps(read)).deserialize(b"A,1,n/a") == Row("A", 1, None)


@pytest.mark.parametrize(
    ("row", "line"),
    [
        (Row("Ada", 36, ["a", "b"]), b"Ada,36,a;b\n"),
        (Row("Ada Lovelace", None, None), b'"Ada Lovelace",,\n'),
        (Row('say "hi"', 1, []), b'"say ""hi""",1,\n'),
        (Row("Abcdefghijklmnopqrstuvwxy", 1, []), b'"Abcdefghijklmnopqrstuvwxy",1,\n'),
    ],
)
def test_csv_records_are_quoted_as_flinks(row: Row, line: bytes) -> None:
    assert CsvRowSerializationSchema.Builder(PERSON).build().serialize(row) == line


@pytest.mark.parametrize(
    ("declared", "cell", "value", "written"),
    [
        (Types.STRING(), "", "", ""),
        (Types.STRING(), " a ", " a ", '" a "'),
        (Types.STRING(), "a\\b", "a\\b", '"a\\b"'),
        (Types.BOOLEAN(), " TRUE ", True, "true"),
        (Types.INT(), " 7 ", 7, "7"),
        (Types.INT(), "", None, ""),
        (Types.DOUBLE(), "1e7", 1e7, "1.0E7"),
        (Types.BIG_DEC(), "1.50", Decimal("1.50"), "1.50"),
        (Types.BIG_DEC(), "1e3", Decimal("1E+3"), "1E+3"),
        (Types.SQL_DATE(), "2021-02-03", date(2021, 2, 3), "2021-02-03"),
        (Types.SQL_TIME(), "12:34:56", time(12, 34, 56), "12:34:56"),
        (
            Types.SQL_TIMESTAMP(),
            "2021-02-03 04:05:06",
            datetime(2021, 2, 3, 4, 5, 6),
            '"2021-02-03 04:05:06.0"',
        ),
        (
            Types.INSTANT(),
            "2021-02-03 04:05:06.5Z",
            Instant(1612325106, 500_000_000),
            '"2021-02-03 04:05:06.5Z"',
        ),
        (Types.PRIMITIVE_ARRAY(Types.BYTE()), "YWI=", b"ab", "YWI="),
        (Types.BASIC_ARRAY(Types.STRING()), "a;", ["a", ""], "a;"),
        (Types.BASIC_ARRAY(Types.INT()), "", [], ""),
        (Types.ROW([Types.INT(), Types.STRING()]), "1;b", Row(1, "b"), "1;b"),
        (Types.ROW([Types.INT(), Types.STRING()]), "", None, ""),
    ],
)
def test_cells_are_read_and_written_as_flink_does(
    declared: Any, cell: str, value: Any, written: str
) -> None:
    row = Types.ROW_NAMED(["a", "z"], [declared, Types.STRING()])
    read = CsvRowDeserializationSchema.Builder(row).build()
    assert read.deserialize(f"\ufeff{cell},z\n".encode()) == Row(value, "z")
    write = CsvRowSerializationSchema.Builder(row).build()
    assert write.serialize(Row(value, "z")).decode() == f"{written},z\n"


def test_parts_of_cells_that_cannot_be_read_are_none_if_errors_are_ignored() -> None:
    kinds = [Types.BASIC_ARRAY(Types.INT()), Types.ROW([Types.INT(), Types.STRING()])]
    builder = CsvRowDeserializationSchema.Builder(Types.ROW([*kinds, Types.BIG_DEC()]))
    lenient = builder.set_ignore_parse_errors(True).build()
    assert lenient.deserialize(b"1;x,x;b,NaN") == Row([1, None], Row(None, "b"), None)
    assert lenient.deserialize(b"1_0,1;b;c,") == Row([None], Row(1, "b"), None)
    assert lenient.deserialize(b"1,1,") == Row([1], Row(1, None), None)
    full = Types.ROW([Types.NOT_NULL(Types.INT())])
    strict = CsvRowDeserializationSchema.Builder(full).set_ignore_parse_errors(True).build()
    assert strict.deserialize(b"x") is None


def test_an_escape_character_escapes_itself() -> None:
    row = Types.ROW([Types.STRING()])
    write = CsvRowSerializationSchema.Builder(row).set_escape_character("\\").build()
    assert write.serialize(Row('a\\"b')) == b'"a\\\\""b"\n'
    assert write.serialize(Row("n/a")) == b"n/a\n"


def test_csv_records_have_other_characters() -> None:
    builder = CsvRowSerializationSchema.Builder(PERSON).set_field_delimiter("|")
    builder.set_array_element_delimiter(":").set_line_delimiter("").disable_quote_character()
    assert builder.build().serialize(Row("A b", 1, ["x", "y"])) == b"A b|1|x:y"
    with pytest.raises(ValueError, match="one character"):
        builder.set_field_delimiter("||")


@settings(derandomize=True, deadline=None)
@given(
    st.text(st.characters(exclude_categories=["Cs"])).filter(bool),
    st.none() | st.integers(-(2**31), 2**31 - 1),
    st.lists(st.text("ab,\"'", min_size=1)),
)
def test_csv_records_that_are_written_are_read(name: str, age: Any, tags: Any) -> None:
    row = Row(name, age, tags)
    line = CsvRowSerializationSchema.Builder(PERSON).build().serialize(row)
    assert CsvRowDeserializationSchema.Builder(PERSON).build().deserialize(line) == row


def test_json_has_every_type() -> None:
    kinds = {
        "decimal": (Types.BIG_DEC(), Decimal("1.5"), 1.5),
        "day": (Types.SQL_DATE(), date(2021, 2, 3), "2021-02-03"),
        "at": (Types.SQL_TIMESTAMP(), datetime(2021, 2, 3, 4), "2021-02-03T04:00:00Z"),
        "bytes": (Types.PRIMITIVE_ARRAY(Types.BYTE()), b"ab", "YWI="),
        "text": (Types.STRING(), "grün", "grün"),
        "array": (Types.BASIC_ARRAY(Types.INT()), [1, None], [1, None]),
    }
    declared = Types.ROW_NAMED(list(kinds), [kind for kind, _, _ in kinds.values()])
    writer = JsonRowSerializationSchema.builder().with_type_info(declared).build()
    text = writer.serialize(Row(*(value for _, value, _ in kinds.values())))
    assert json.loads(text) == {name: shown for name, (_, _, shown) in kinds.items()}
    assert "grün".encode() in text


def test_a_json_schema_says_the_type() -> None:
    schema = {
        "type": "object",
        "properties": {
            "id": {"type": "integer"},
            "price": {"type": ["number", "null"]},
            "at": {"type": "string", "format": "date-time"},
            "tags": {"type": "array", "items": {"type": "string"}},
            "in": {"type": "object", "properties": {"ok": {"type": "boolean"}}},
        },
    }
    reader = JsonRowDeserializationSchema.builder().json_schema(json.dumps(schema)).build()
    row = reader.deserialize(b'{"id":1,"price":1.5,"at":"2021-02-03T04:05:06","tags":["a"]}')
    assert row == Row(1, Decimal("1.5"), datetime(2021, 2, 3, 4, 5, 6), ["a"], None)
    with pytest.raises(ValueError, match=r"\$.x of the JSON schema has the types"):
        JsonRowDeserializationSchema.builder().json_schema(
            '{"type":"object","properties":{"x":{"type":["string","number"]}}}'
        )


@dataclass
class Animal:
    name: str
    legs: int | None = None


def test_a_dataclass_describes_rows() -> None:
    reader = JsonRowDeserializationSchema.builder().type_info(Types.OF(Animal)).build()
    assert reader.deserialize(b'{"name":"Ant","legs":6}') == Row("Ant", 6)
    with pytest.raises(DeserializationError, match="field name is null"):
        reader.deserialize(b"{}")


def test_json_lines(tmp_path: Path) -> None:
    (tmp_path / "a.json").write_text(
        '{"name":"Ada","age":36,"tags":["a"]}\n\nnull\n{"name":"Bob"}\n'
    )
    lines = JsonLinesFormat(PERSON)
    assert rows_of(lines, tmp_path) == [Row("Ada", 36, ["a"]), Row("Bob", None, None)]
    (tmp_path / "a.json").write_text('{"name":"Ada"}\n{"name":"Bob","age":"x"}\n')
    with pytest.raises(ValueError, match=r"a\.json, line 2: field age is 'x'"):
        list(lines.read(str(tmp_path / "a.json")))


def test_parquet_files_that_are_written_are_read(tmp_path: Path) -> None:
    declared = DataTypes.ROW(
        [
            DataTypes.FIELD("id", DataTypes.BIGINT()),
            DataTypes.FIELD("day", DataTypes.DATE()),
            DataTypes.FIELD("at", DataTypes.TIMESTAMP_LTZ()),
            DataTypes.FIELD("tags", DataTypes.ARRAY(DataTypes.STRING())),
            DataTypes.FIELD("sizes", DataTypes.MAP(DataTypes.STRING(), DataTypes.INT())),
            DataTypes.FIELD("in", DataTypes.ROW([DataTypes.FIELD("x", DataTypes.DOUBLE())])),
        ]
    )
    moment = datetime(2021, 2, 3, 4, 5, 6, 7, tzinfo=UTC)
    rows = [Row(1, date(2021, 2, 3), moment, ["a"], {"b": 1}, Row(0.5)), Row(*[None] * 6)]
    part = ParquetBulkWriters.for_row_type(declared).open(tmp_path / "a.parquet")
    for row in rows:
        part.write(row)
    part.close()
    format_ = ParquetColumnarRowInputFormat(declared)
    source = FileSource.for_bulk_file_format(format_, str(tmp_path)).build()
    read = list(format_.read(str(tmp_path / "a.parquet")))
    assert source.produced_type == declared.to_type_info()
    assert read == [declared.to_type_info().check(row) for row in rows]


def test_parquet_columns_are_found_by_name(tmp_path: Path) -> None:
    table = pa.table({"Other": [1], "ID": [5]})
    pq.write_table(table, tmp_path / "a.parquet")
    declared = Types.ROW_NAMED(["id", "more"], [Types.INT(), Types.STRING()])
    path = str(tmp_path / "a.parquet")
    assert list(ParquetColumnarRowInputFormat(declared).read(path)) == [Row(None, None)]
    folded = ParquetColumnarRowInputFormat(declared, is_case_sensitive=False)
    assert list(folded.read(path)) == [Row(5, None)]


def test_text_in_another_character_set(tmp_path: Path) -> None:
    (tmp_path / "a.txt").write_bytes("grün\r\nblau".encode("latin-1"))
    assert rows_of(StreamFormat.text_line_format("latin-1"), tmp_path) == ["grün", "blau"]


def test_a_watched_folder_means_the_same_files_after_a_restart(tmp_path: Path) -> None:
    folder, state = tmp_path / "in", tmp_path / "state"
    folder.mkdir()
    state.mkdir()
    (folder / "b").write_text("1")
    watched = FileSource.for_record_stream_format(StreamFormat.text_line_format(), str(folder))
    builder = watched.monitor_continuously(Duration.of_millis(1))

    def reading() -> Any:
        source = builder.build().reading()
        source.open(SourceContext(state, 1))
        return source

    assert reading().latest(0) == 1
    (folder / "a").write_text("2")  # found later, so it is behind the other
    again = reading()
    assert again.latest(1) == 2
    assert [Path(piece).name for piece in again.pieces(0, 2)] == ["b", "a"]


def test_a_path_that_does_not_exist_is_refused(tmp_path: Path) -> None:
    source = FileSource.for_record_stream_format(
        StreamFormat.text_line_format(), str(tmp_path / "no")
    ).build()
    with pytest.raises(FileNotFoundError, match="no does not exist"):
        source.reading().open(SourceContext(tmp_path, 1))


class Stamps(FileFormat):
    def read(self, path: str) -> Iterable[Any]:  # type: ignore[override]
        return (Timestamped(n, n * 10) for n in range(2500))


def test_a_python_source_is_read_by_spark_in_chunks(tmp_path: Path) -> None:
    """The reader as Spark calls it: pickled on its way to the tasks."""
    (tmp_path / "in").mkdir()
    for name in "ab":
        (tmp_path / "in" / name).touch()
    source = FileSource((str(tmp_path / "in"),), Stamps()).reading()
    options = spark_python_source.options(source, tmp_path / "source-1.pickle", 2)
    reader = spark_python_source.PythonSourceData(options).streamReader(None)
    start = reader.initialOffset()
    end = reader.latestOffset(start, ReadAllAvailable())
    assert (start, end) == ({"position": 0}, {"position": 2})
    pieces = reader.partitions(start, end)
    assert len(pieces) == 2
    worker = pickle.loads(pickle.dumps(reader))
    batch = pa.RecordBatch.from_pydict({"values": [row[0] for row in worker.read(pieces[0])]})
    parts = list(spark_python_source.decode(batch))
    assert [len(part.elements) for part in parts] == [1000, 1000, 500]
    assert parts[2].elements[-1] == (24990, 2499)
    assert reader.latestOffset(end, ReadAllAvailable()) == end
    reader.commit(end)
    reader.stop()
