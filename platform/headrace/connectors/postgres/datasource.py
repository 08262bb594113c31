"""PostgreSQL, exactly once, from any PySpark program: `df.writeStream.format("headrace-postgres")`.

    spark.dataSource.register(PostgresDataSource)
    (df.writeStream.format("headrace-postgres")
       .option("url", "jdbc:postgresql://localhost:5432/shop").option("user", "writer")
       .option("password", ...).option("dbtable", "sales")
       .option("checkpointLocation", "/data/checkpoints/my-query").start())

Options, beside those of every two-phase format (`twophase.datasource`):

    url user password      required, as of Spark's own JDBC format
    dbtable                the rows' columns are inserted into it, by name
    statement              instead of dbtable: SQL with a ? for each column
    transactionalIdPrefix  unique to the query on its server; else the checkpoint's own name
    batchsize              rows sent at a time
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from headrace.common.types import Row
from headrace.connectors.postgres.settings import PostgresSettings
from headrace.connectors.postgres.sink import DEFAULT_BATCH_SIZE, PostgresSink
from headrace.connectors.twophase import errors
from headrace.connectors.twophase.datasource import SinkWriter, TwoPhaseDataSource
from headrace.connectors.twophase.sink import TwoPhaseCommitSink

if TYPE_CHECKING:
    from pyspark.sql.types import StructType

FORMAT = "headrace-postgres"


class PostgresDataSource(TwoPhaseDataSource):
    @classmethod
    def name(cls) -> str:
        return FORMAT

    def streamWriter(self, schema: StructType, overwrite: bool) -> SinkWriter:
        self._columns = list(schema.names)
        return super().streamWriter(schema, overwrite)

    def sink(self) -> TwoPhaseCommitSink[Row, Any]:
        """Raises `InvalidSettings`."""
        options = self.options
        settings = PostgresSettings.from_url(
            options.get("url", ""), options.get("user", ""), options.get("password", "")
        )
        size = options.get("batchsize", str(DEFAULT_BATCH_SIZE))
        if not size.isdigit() or int(size) < 1:
            raise errors.InvalidSettings(f"batchsize is {size!r}, not a number above 0")
        return PostgresSink(
            settings,
            self._statement(),
            batch_size=int(size),
            transactional_id_prefix=options.get("transactionalIdPrefix", ""),
        )

    def _statement(self) -> str:
        table, statement = self.options.get("dbtable"), self.options.get("statement")
        if (table is None) == (statement is None):
            raise errors.InvalidSettings("give one of the options dbtable and statement")
        if statement is not None:
            return statement
        columns = ", ".join('"' + name.replace('"', '""') + '"' for name in self._columns)
        return f"INSERT INTO {table} ({columns}) VALUES ({', '.join('?' * len(self._columns))})"
