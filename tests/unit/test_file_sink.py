"""The file sink: what is in its files, where they are, and when they can be seen."""

from __future__ import annotations

import csv
import json
import re
import shutil
from pathlib import Path
from typing import Any

import pyarrow.parquet as pq
import pytest

from headrace.common import Encoder, Instant, Row, Types
from headrace.connectors.files.buckets import BucketAssigner as Assigner
from headrace.connectors.files.staging import HIDDEN, Staging
from headrace.connectors.twophase import errors, writer
from headrace.connectors.twophase.messages import Prepared, Resume, TaskIdentity
from headrace.datastream.connectors.file_system import (
    BucketAssigner,
    FileSink,
    OutputFileConfig,
    RollingPolicy,
)
from headrace.datastream.formats.csv import CsvBulkWriters, CsvSchema
from headrace.datastream.formats.json import JsonRowSerializationSchema
from headrace.datastream.formats.parquet import ParquetBulkWriters

ROOT = "job-files"
ROW = Types.ROW_NAMED(["id", "name"], [Types.INT(), Types.STRING()])
FLAT = BucketAssigner.base_path_bucket_assigner()


def prepared(sink: FileSink, values: list[Any], batch: int = 3, attempt: int = 0) -> Prepared:
    sink.check(ROOT)
    task = TaskIdentity(batch, 1, attempt)
    opened = writer.open_writer(sink, "files", ROOT, task, Resume(epoch=1))
    opened.write([(None, value) for value in values])
    message = opened.prepare()
    assert isinstance(message, Prepared)
    return message


def write(sink: FileSink, values: list[Any]) -> None:
    sink.commit(prepared(sink, values).handle)


def seen(base: Path) -> list[Path]:
    return sorted(p for p in base.rglob("*") if p.is_file() and HIDDEN not in p.parts)


def test_lines_are_seen_when_they_are_committed(tmp_path: Path) -> None:
    encoder = Encoder.simple_string_encoder()
    sink = FileSink.for_row_format(str(tmp_path), encoder).with_bucket_assigner(FLAT).build()
    message = prepared(sink, ["a", "ü"])
    assert seen(tmp_path) == []

    sink.commit(message.handle)
    sink.commit(message.handle)

    [path] = seen(tmp_path)
    assert re.fullmatch(r"part-[0-9a-f]{8}-3-1-0", path.name)
    assert path.read_text("utf-8") == "a\nü\n"


def test_json_rows(tmp_path: Path) -> None:
    schema = JsonRowSerializationSchema.builder().with_type_info(ROW).build()
    config = OutputFileConfig.builder().with_part_prefix("out").with_part_suffix(".json").build()
    write(
        FileSink.for_row_format(f"file://{tmp_path}", schema)
        .with_bucket_assigner(FLAT)
        .with_output_file_config(config)
        .build(),
        [Row(id=1, name="a"), Row(id=2, name=None)],
    )
    [path] = seen(tmp_path)
    assert path.name.startswith("out-")
    assert path.suffix == ".json"
    lines = path.read_text().splitlines()
    assert [json.loads(line) for line in lines] == [{"id": 1, "name": "a"}, {"id": 2, "name": None}]


def test_parquet(tmp_path: Path) -> None:
    kind = Types.ROW_NAMED(
        ["id", "at", "tags", "inner", "share"],
        [
            Types.NOT_NULL(Types.LONG()),
            Types.INSTANT(),
            Types.LIST(Types.STRING()),
            ROW,
            Types.MAP(Types.STRING(), Types.DOUBLE()),
        ],
    )
    sink = (
        FileSink.for_bulk_format(str(tmp_path), ParquetBulkWriters.for_row_type(kind))
        .with_bucket_assigner(FLAT)
        .build()
    )
    write(sink, [Row(1, Instant(1, 5000), ["x"], Row(2, "b"), {"k": 0.5}), (2, None, [], None, {})])
    [path] = seen(tmp_path)
    assert path.suffix == ".parquet"
    table = pq.read_table(path)
    assert [str(field.type).partition("<")[0] for field in table.schema] == [
        "int64",
        "timestamp[us, tz=UTC]",
        "list",
        "struct",
        "map",
    ]
    assert not table.schema.field("id").nullable
    first, second = table.to_pylist()
    assert first["at"].timestamp() == pytest.approx(1.000005)
    assert (first["tags"], first["inner"]) == (["x"], {"id": 2, "name": "b"})
    assert first["share"] == [("k", 0.5)]
    assert second == {"id": 2, "at": None, "tags": [], "inner": None, "share": []}


def test_many_rows_of_parquet_are_one_file(tmp_path: Path) -> None:
    sink = (
        FileSink.for_bulk_format(str(tmp_path), ParquetBulkWriters.for_row_type(ROW))
        .with_bucket_assigner(FLAT)
        .build()
    )
    write(sink, [(i, str(i)) for i in range(25_000)])
    [path] = seen(tmp_path)
    assert pq.read_table(path).column("id").to_pylist() == list(range(25_000))


def test_csv(tmp_path: Path) -> None:
    schema = (
        CsvSchema.builder()
        .add_number_column("id")
        .add_string_column("name")
        .add_boolean_column("ok")
        .set_column_separator(";")
        .set_null_value("NULL")
        .set_use_header()
        .build()
    )
    sink = (
        FileSink.for_bulk_format(str(tmp_path), CsvBulkWriters.for_schema(schema))
        .with_bucket_assigner(FLAT)
        .build()
    )
    write(sink, [Row(1, 'a;"b"', True), (2, None, False)])
    [path] = seen(tmp_path)
    with path.open(newline="") as file:
        rows = list(csv.reader(file, delimiter=";"))
    assert rows == [["id", "name", "ok"], ["1", 'a;"b"', "true"], ["2", "NULL", "false"]]


def test_a_full_file_is_followed_by_another(tmp_path: Path) -> None:
    sink = (
        FileSink.for_row_format(str(tmp_path), Encoder.simple_string_encoder())
        .with_bucket_assigner(FLAT)
        .with_rolling_policy(RollingPolicy.default_rolling_policy(part_size=10))
        .build()
    )
    write(sink, [f"{i:04d}" for i in range(5)])
    assert [len(path.read_text().splitlines()) for path in seen(tmp_path)] == [2, 2, 1]
    assert [path.name[-1] for path in seen(tmp_path)] == ["0", "1", "2"]


class ByFirstLetter(Assigner):
    def get_bucket_id(self, element: Any, timestamp: int | None) -> str:
        return f"letter={element[0]}"


def test_buckets_of_ones_own(tmp_path: Path) -> None:
    sink = (
        FileSink.for_row_format(str(tmp_path), Encoder.simple_string_encoder())
        .with_bucket_assigner(ByFirstLetter())
        .build()
    )
    write(sink, ["aa", "b", "ab"])
    found = {path.parent.name: path.read_text() for path in seen(tmp_path)}
    assert found == {"letter=a": "aa\nab\n", "letter=b": "b\n"}


def test_buckets_by_the_hour(tmp_path: Path) -> None:
    write(FileSink.for_row_format(str(tmp_path), Encoder.simple_string_encoder()).build(), ["a"])
    [path] = seen(tmp_path)
    assert re.fullmatch(r"\d{4}-\d\d-\d\d--\d\d", path.parent.name)
    assigner = BucketAssigner.date_time_bucket_assigner("yyyy/MM'm'", "UTC")
    assert re.fullmatch(r"\d{4}/\d\dm", assigner.get_bucket_id("a", None))
    with pytest.raises(ValueError, match="'Q' is none of"):
        BucketAssigner.date_time_bucket_assigner("Q")


class Outside(Assigner):
    def get_bucket_id(self, element: Any, timestamp: int | None) -> str:
        return "../elsewhere"


def test_a_bucket_outside_the_base_path_is_refused(tmp_path: Path) -> None:
    sink = (
        FileSink.for_row_format(str(tmp_path), Encoder.simple_string_encoder())
        .with_bucket_assigner(Outside())
        .build()
    )
    with pytest.raises(ValueError, match="not below the base path"):
        prepared(sink, ["a"])


def test_an_abort_is_final(tmp_path: Path) -> None:
    sink = FileSink.for_row_format(str(tmp_path), Encoder.simple_string_encoder()).build()
    message = prepared(sink, ["a"])
    [(name, listed)] = sink.list_transactions(ROOT)
    assert name == message.handle["name"]
    sink.recover_and_abort(listed)
    sink.abort(message.handle)
    with pytest.raises(errors.TransactionLost):
        sink.commit(message.handle)
    assert list(sink.list_transactions(ROOT)) == []
    assert seen(tmp_path) == []


def test_a_commit_that_died_on_its_way_is_finished_and_not_aborted(tmp_path: Path) -> None:
    sink = (
        FileSink.for_row_format(str(tmp_path), Encoder.simple_string_encoder())
        .with_bucket_assigner(ByFirstLetter())
        .build()
    )
    message = prepared(sink, ["a", "b"])
    staging = Staging(tmp_path, ROOT)
    folder = staging.directory / message.handle["name"]
    claimed = folder.rename(f"{folder}.commit")
    hidden, path = message.handle["files"][0]
    (tmp_path / path).parent.mkdir()
    (claimed / hidden).rename(tmp_path / path)

    assert list(sink.list_transactions(ROOT)) == []
    sink.abort(message.handle)
    sink.commit(message.handle)

    assert [path.read_text() for path in seen(tmp_path)] == ["a\n", "b\n"]


def test_a_folder_that_was_emptied_gives_no_certain_answer(tmp_path: Path) -> None:
    sink = FileSink.for_row_format(str(tmp_path), Encoder.simple_string_encoder()).build()
    message = prepared(sink, ["a"])
    shutil.rmtree(tmp_path / HIDDEN)
    sink.check(ROOT)
    with pytest.raises(errors.OutcomeUnknown, match="not the one it was prepared in"):
        sink.commit(message.handle)


def test_a_file_of_somebody_else_is_not_overwritten(tmp_path: Path) -> None:
    sink = (
        FileSink.for_row_format(str(tmp_path), Encoder.simple_string_encoder())
        .with_bucket_assigner(FLAT)
        .build()
    )
    message = prepared(sink, ["a"])
    [(_, path)] = message.handle["files"]
    (tmp_path / path).write_text("mine")
    with pytest.raises(errors.CommitRefused, match="exists already"):
        sink.commit(message.handle)
    assert (tmp_path / path).read_text() == "mine"


def test_what_earlier_batches_left_behind_is_forgotten(tmp_path: Path) -> None:
    sink = FileSink.for_row_format(str(tmp_path), Encoder.simple_string_encoder()).build()
    for batch in range(4):
        sink.commit(prepared(sink, ["a"], batch).handle)
    left = [path.name for path in Staging(tmp_path, ROOT).directory.iterdir()]
    assert [re.sub(r"[0-9a-f]{8}", "", name) for name in sorted(left)] == [
        "job-files-1.3.1.0..done",
        "ledger",
    ]


def test_paths_of_other_systems_are_refused(tmp_path: Path) -> None:
    builder = FileSink.for_row_format("s3://bucket/out", Encoder.simple_string_encoder())
    with pytest.raises(ValueError, match="not to s3://"):
        builder.build()
    with pytest.raises(ValueError, match="cannot begin the name"):
        OutputFileConfig.builder().with_part_prefix("_out")


def test_a_base_path_that_is_not_shared_is_said(tmp_path: Path) -> None:
    sink = FileSink.for_row_format(str(tmp_path), Encoder.simple_string_encoder()).build()
    opened = writer.open_writer(sink, "files", ROOT, TaskIdentity(0, 0), Resume(epoch=1))
    with pytest.raises(errors.WriteFailed, match="tasks and driver have to share"):
        opened.write([(None, "a")])
