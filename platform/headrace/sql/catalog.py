"""The tables and views of a script, as Spark sees them."""

from __future__ import annotations

from pyspark.errors import AnalysisException, ParseException
from pyspark.sql import DataFrame, SparkSession

from headrace.sql import datagen, dialect, files, kafka
from headrace.sql.errors import SqlError
from headrace.sql.statements import CreateTable, CreateView, Drop
from headrace.sql.tables import Table
from headrace.sql.tokens import Piece

_SOURCES = {
    "kafka": kafka.source,
    "upsert-kafka": kafka.source,
    "filesystem": files.source,
    "datagen": datagen.source,
}
SINKS = ("kafka", "upsert-kafka", "filesystem", "print", "blackhole")


class Catalog:
    """Tables become views of Spark's when the first query reads them."""

    def __init__(self, spark: SparkSession) -> None:
        self._spark = spark
        self._tables: dict[str, Table] = {}
        #: View -> whether its rows may change later.
        self._views: dict[str, bool] = {}
        self._read: set[str] = set()

    def create_table(self, statement: CreateTable) -> None:
        table = statement.table
        if table.name in self._tables or table.name in self._views:
            if statement.if_not_exists:
                return
            raise SqlError(f"{table.name} exists already; DROP it before", table.line)
        known = sorted({*_SOURCES, *SINKS})
        if table.connector not in known:
            raise SqlError(
                f"table {table.name}: connector '{table.connector}' is not known here; "
                f"there are {', '.join(known)}",
                table.line,
            )
        self._tables[table.name] = table

    def create_view(self, statement: CreateView) -> None:
        frame, updating = self.query(statement.query)
        if statement.columns:
            if len(statement.columns) != len(frame.columns):
                raise SqlError(
                    f"view {statement.name} names {len(statement.columns)} columns, its query has "
                    f"{len(frame.columns)}",
                    statement.query.line,
                )
            frame = frame.toDF(*statement.columns)
        frame.createOrReplaceTempView(_quoted(statement.name))
        self._views[statement.name] = updating

    def drop(self, statement: Drop, line: int = 0) -> None:
        known = self._tables if statement.kind == "TABLE" else self._views
        if statement.name not in known and not statement.if_exists:
            raise SqlError(f"there is no {statement.kind.lower()} {statement.name}", line)
        self._tables.pop(statement.name, None)
        self._views.pop(statement.name, None)
        self._read.discard(statement.name)
        self._spark.catalog.dropTempView(statement.name)

    def table(self, name: str, line: int) -> Table:
        """Raises SqlError."""
        if name not in self._tables:
            known = ", ".join(sorted(self._tables)) or "none"
            raise SqlError(f"there is no table {name}; the script has created {known}", line)
        return self._tables[name]

    def query(self, piece: Piece) -> tuple[DataFrame, bool]:
        """What it selects, and whether its rows may change later. Raises SqlError."""
        translated = dialect.query(piece)
        updating = translated.updating
        for name in translated.tables:
            updating = updating or self._views.get(name, False)
            if name not in self._views:
                self._open(self.table(name, piece.line))
        return self._analysed(translated.text, piece.line), updating

    def _analysed(self, text: str, line: int) -> DataFrame:
        try:
            return self._spark.sql(text)
        except (AnalysisException, ParseException) as error:
            raise SqlError(_reason(error), line) from None

    def _open(self, table: Table) -> None:
        if table.name in self._read:
            return
        source = _SOURCES.get(table.connector)
        if source is None:
            raise SqlError(
                f"table {table.name}: connector '{table.connector}' can be written, not read",
                table.line,
            )
        frame = source(self._spark, table)
        for column in table.columns:
            if column.expression is not None:
                text = dialect.expression(column.expression)
                try:
                    frame = frame.selectExpr("*", f"{text} AS {_quoted(column.name)}")
                except (AnalysisException, ParseException) as error:
                    raise SqlError(_reason(error), column.expression.line) from None
        frame = frame.select(*(_quoted(column.name) for column in table.columns))
        if table.watermark is not None and frame.isStreaming:
            milliseconds = round(table.watermark.delay * 1000)
            frame = frame.withWatermark(table.watermark.column, f"{milliseconds} milliseconds")
        frame.createOrReplaceTempView(_quoted(table.name))
        self._read.add(table.name)


def _reason(error: Exception) -> str:
    """Spark's words without the plan that follows them."""
    return str(error).split(";\n", 1)[0].split("\n\nJVM stacktrace", 1)[0].strip().splitlines()[0]


def _quoted(name: str) -> str:
    return "`" + name.replace("`", "``") + "`"
