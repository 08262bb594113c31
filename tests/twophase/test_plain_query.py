"""Two-phase sinks in plain streaming queries of Spark, without a program of Headrace's."""

from __future__ import annotations

import uuid
from pathlib import Path

import pytest
from pyspark.errors import StreamingQueryException
from pyspark.sql import SparkSession

from headrace.connectors.postgres.datasource import PostgresDataSource
from headrace.connectors.twophase import commitlog
from tests.twophase.postgresql import PASSWORD, Server


class Query:
    """Lines of a folder's files, one file a batch, into a table of PostgreSQL."""

    def __init__(self, spark: SparkSession, postgres: Server, folder: Path) -> None:
        self.spark = spark
        self.postgres = postgres
        self.table = f"query_{uuid.uuid4().hex[:8]}"
        self.source = folder / "source"
        self.source.mkdir()
        self.checkpoint = folder / "checkpoint"
        self.options = {
            "url": postgres.url,
            "user": postgres.user,
            "password": PASSWORD,
            "dbtable": self.table,
            "transactionalIdPrefix": self.table,
            "checkpointLocation": str(self.checkpoint),
        }
        postgres.execute(f'CREATE TABLE {self.table} ("Line" text, length int CHECK (length < 9))')
        spark.dataSource.register(PostgresDataSource)

    def add(self, name: str, *lines: str) -> None:
        (self.source / name).write_text("".join(f"{line}\n" for line in lines))

    def run(self) -> None:
        read = self.spark.readStream.option("maxFilesPerTrigger", 1).text(str(self.source))
        lines = read.selectExpr("value AS Line", "length(value) AS length")
        writer = lines.writeStream.format("headrace-postgres").options(**self.options)
        writer.trigger(availableNow=True).start().awaitTermination()

    def rows(self) -> list[tuple[object, ...]]:
        return self.postgres.query(f"SELECT * FROM {self.table} ORDER BY 1")

    def left(self) -> list[str]:
        return [gid for gid in self.postgres.prepared() if self.table in gid]


@pytest.fixture
def query(spark: SparkSession, postgres: Server, tmp_path: Path) -> Query:
    return Query(spark, postgres, tmp_path)


def test_a_query_goes_on_where_it_was(query: Query) -> None:
    query.add("1.txt", "a", "bb")
    query.add("2.txt", "ccc")
    query.run()
    assert query.rows() == [("a", 1), ("bb", 2), ("ccc", 3)]

    query.add("3.txt", "dddd")
    query.run()

    assert query.rows() == [("a", 1), ("bb", 2), ("ccc", 3), ("dddd", 4)]
    assert query.left() == []


def test_a_batch_whose_commit_spark_did_not_note_is_not_written_again(query: Query) -> None:
    query.add("1.txt", "a")
    query.run()
    query.add("2.txt", "bb")
    query.run()
    newest = commitlog.newest(query.checkpoint)
    (query.checkpoint / "commits" / str(newest)).unlink()
    (query.checkpoint / "commits" / f".{newest}.crc").unlink(missing_ok=True)

    query.run()

    assert query.rows() == [("a", 1), ("bb", 2)]
    assert commitlog.newest(query.checkpoint) == newest


def test_what_the_database_refuses_stops_the_query_and_leaves_nothing(query: Query) -> None:
    query.add("1.txt", "a", "much too long")
    with pytest.raises(StreamingQueryException, match="violates check constraint"):
        query.run()
    assert query.rows() == []
    assert query.left() == []

    query.postgres.execute(f"ALTER TABLE {query.table} DROP CONSTRAINT {query.table}_length_check")
    query.run()
    assert query.rows() == [("a", 1), ("much too long", 13)]
