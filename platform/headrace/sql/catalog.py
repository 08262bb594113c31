"""The tables and views of a script, as Spark sees them."""

from __future__ import annotations

from pyspark.errors import AnalysisException, ParseException
from pyspark.sql import DataFrame, SparkSession
from sqlglot import exp

from headrace.sql import datagen, dialect, files, kafka, typed, windows
from headrace.sql.errors import SqlError, reason
from headrace.sql.statements import CreateTable, CreateView, Drop
from headrace.sql.tables import Table
from headrace.sql.tokens import Piece

_SOURCES = {
    "kafka": kafka.source,
    "upsert-kafka": kafka.source,
    "filesystem": files.source,
    "datagen": datagen.source,
}
#: No zone is apart from UTC by less: seconds.
_QUARTER = 900.0
SINKS = ("kafka", "upsert-kafka", "filesystem", "print", "blackhole")


class Catalog:
    """Tables become views of Spark's when the first query reads them."""

    def __init__(self, spark: SparkSession, *, batch: bool = False) -> None:
        """`batch`: what there is is read, once, whatever the table."""
        self._spark = spark
        self._batch = batch
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
        known = statement.name in self._tables or statement.name in self._views
        if known and statement.if_not_exists:
            return
        if known and not (statement.replace and statement.name in self._views):
            raise SqlError(f"{statement.name} exists already; DROP it before", statement.query.line)
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
        changing = {name for name, updating in self._views.items() if updating}
        translated = dialect.query(piece, changing)
        self._check_zone(translated.tree, piece.line)
        for name in translated.tables:
            if name not in self._views:
                self._open(self.table(name, piece.line))
        frame = self._analysed(translated.tree, piece.line)
        if translated.filtered and frame.isStreaming:
            raise SqlError(
                "rows that change again and again (an aggregate without a window) are filtered or "
                "joined (HAVING, WHERE, JOIN) after they were aggregated: a row that no longer "
                "passes could not be taken back; aggregate in a window, or filter where the "
                "result is read",
                piece.line,
            )
        return frame, translated.updating

    def _check_zone(self, tree: exp.Expr, line: int) -> None:
        """Spark counts windows from midnight in UTC."""
        zone = str(self._spark.conf.get("spark.sql.session.timeZone"))
        uneven = [each for each in windows.grid(tree) if _QUARTER % each]
        if uneven and zone not in ("UTC", "Etc/UTC", "GMT", "Z"):
            raise SqlError(
                f"windows every {uneven[0]:g} seconds begin at midnight in UTC here, and in Flink "
                f"at midnight in {zone}, 'table.local-time-zone': give the window's function an "
                "offset, or leave the zone at UTC",
                line,
            )

    def _analysed(self, tree: exp.Expr, line: int) -> DataFrame:
        try:
            typed.settle(tree, self._spark.sql)
            return self._spark.sql(tree.sql(dialect="spark"))
        except (AnalysisException, ParseException) as error:
            raise SqlError(reason(error), line) from None

    def _open(self, table: Table) -> None:
        if table.name in self._read:
            return
        source = _SOURCES.get(table.connector)
        if source is None:
            raise SqlError(
                f"table {table.name}: connector '{table.connector}' can be written, not read",
                table.line,
            )
        try:
            frame = source(self._spark, table, batch=self._batch)
        except AnalysisException as error:
            raise SqlError(f"table {table.name}: {reason(error)}", table.line) from None
        for column in table.columns:
            if column.expression is not None:
                frame = self._computed(frame, column.name, column.expression)
        frame = frame.select(*(_quoted(column.name) for column in table.columns))
        if table.watermark is not None and frame.isStreaming:
            milliseconds = round(table.watermark.delay * 1000)
            try:
                frame = frame.withWatermark(table.watermark.column, f"{milliseconds} milliseconds")
            except AnalysisException as error:
                raise SqlError(f"table {table.name}: {reason(error)}", table.line) from None
        frame.createOrReplaceTempView(_quoted(table.name))
        self._read.add(table.name)

    def _computed(self, frame: DataFrame, name: str, expression: Piece) -> DataFrame:
        tree = dialect.expression(expression)

        def rows(text: str) -> DataFrame:
            """Of a SELECT without a table, from the table's columns so far."""
            return frame.selectExpr("*", f"{text.removeprefix('SELECT ')} AS {_quoted(name)}")

        try:
            typed.settle(tree, rows)
            return rows(tree.sql(dialect="spark"))
        except (AnalysisException, ParseException) as error:
            raise SqlError(reason(error), expression.line) from None


def _quoted(name: str) -> str:
    return "`" + name.replace("`", "``") + "`"
