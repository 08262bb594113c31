"""Runs a SQL script: `python -m headrace.runtime.sql_program script.sql`, and as a job's program.

Each INSERT is a streaming query of its own with a checkpoint of its own, as of any plain PySpark
program; the whole script is read and checked before the first of them starts.
"""

from __future__ import annotations

import logging
import re
import sys
from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from pyspark.sql import DataFrame, SparkSession

from headrace.runtime import context as run_context
from headrace.runtime import plain_progress
from headrace.runtime.plain_writer import Described
from headrace.sql import datagen, dialect, files, kafka, sinks, statements
from headrace.sql.catalog import Catalog
from headrace.sql.errors import SqlError
from headrace.sql.statements import CreateTable, CreateView, Drop, Insert, Set
from headrace.sql.tables import Table
from headrace.sql.tokens import Piece

log = logging.getLogger(__name__)

INTERVAL = "execution.checkpointing.interval"
ZONE = "table.local-time-zone"
MODE = "execution.runtime-mode"
#: Flink's settings that say what holds here anyway, or what the platform decides.
_SILENT = ("pipeline.name", "parallelism.default", "sql-client.", "execution.checkpointing.mode")
_UNITS = {"ms": 1, "s": 1000, "sec": 1000, "min": 60_000, "m": 60_000, "h": 3_600_000}


@dataclass
class _Settings:
    """What SET has said up to a statement."""

    values: dict[str, str] = field(default_factory=dict)

    def apply(self, statement: Set) -> None:
        if statement.value is None:
            self.values.pop(statement.key, None)
        else:
            self.values[statement.key] = statement.value

    @property
    def interval_ms(self) -> int:
        """Raises SqlError."""
        text = self.values.get(INTERVAL, "0").strip().lower()
        found = re.fullmatch(r"(\d+)\s*([a-z]*)", text)
        unit = (found[2] or "ms") if found else ""
        unit = {"seconds": "s", "second": "s", "minutes": "min", "minute": "min"}.get(unit, unit)
        if found is None or unit not in _UNITS:
            raise SqlError(f"{INTERVAL}: {text!r} is no duration; '10 s' is one")
        return int(found[1]) * _UNITS[unit]


@dataclass(frozen=True)
class _Planned:
    """An INSERT, ready to be started."""

    statement: Insert
    table: Table
    rows: DataFrame
    name: str
    updating: bool
    trigger: sinks.Trigger


def run(script: str, configuration: Mapping[str, str], spark: SparkSession | None = None) -> None:
    """Until its queries have ended. Raises SqlError, and what a query fails with."""
    parsed = statements.parse(script)
    if not any(isinstance(each, Insert) for each in parsed):
        raise SqlError("the script has no INSERT INTO: nothing would run")
    session = spark or SparkSession.builder.appName("sql").getOrCreate()
    planned = _plan(parsed, session, dict(configuration))
    _refuse_shared(planned)
    kafka.register(session)
    queries = []
    for each in planned:
        started = sinks.insert(
            each.statement, each.table, each.rows, each.name, each.updating, each.trigger
        )
        if started is not None:
            queries.append(started)
    for query in queries:
        query.awaitTermination()


def _plan(
    parsed: list[statements.Statement], spark: SparkSession, configuration: dict[str, str]
) -> list[_Planned]:
    catalog, settings, names = Catalog(spark), _Settings(configuration), Counter[str]()
    planned: list[_Planned] = []
    for each in parsed:
        match each:
            case Set():
                settings.apply(each)
                _tell_spark(each, spark)
            case CreateTable():
                catalog.create_table(each)
            case CreateView():
                catalog.create_view(each)
            case Drop():
                catalog.drop(each)
            case Insert():
                table = catalog.table(each.table, each.query.line)
                rows, updating = catalog.query(each.query)
                bounded = settings.values.get(MODE, "").lower() == "batch"
                once = bounded or _bounded(each.query, _known(parsed))
                trigger = sinks.Trigger(settings.interval_ms, once)
                name = _name(each.table, names)
                planned.append(_Planned(each, table, rows, name, updating, trigger))
    return planned


def _refuse_shared(planned: list[_Planned]) -> None:
    """Two queries would take each other's place: in a folder that has a log of what is in it, and
    under one prefix of transactions. Raises SqlError."""
    places = [
        each.table.options.get("path") or each.table.options.get("sink.transactional-id-prefix")
        for each in planned
    ]
    for each, place in zip(planned, places, strict=True):
        if place is not None and places.count(place) > 1:
            raise SqlError(
                f"two INSERT statements write to {place!r}, and each would drop what the other "
                "has written: join them by UNION ALL, or give each a path or a "
                "'sink.transactional-id-prefix' of its own",
                each.statement.query.line,
            )


def _tell_spark(statement: Set, spark: SparkSession) -> None:
    key, value = statement.key, statement.value
    if key == ZONE:
        spark.conf.set("spark.sql.session.timeZone", value or "UTC")
    elif key.startswith("spark.") and value is not None:
        spark.conf.set(key, value)
    elif key not in (INTERVAL, MODE) and not key.startswith(_SILENT):
        log.warning("SET '%s' has no effect here: nothing reads it", key)


def _name(table: str, names: Counter[str]) -> str:
    """Of a query, and so of its checkpoint: the same at each start while the script's INSERTs into
    one table keep their order."""
    names[table] += 1
    return table if names[table] == 1 else f"{table}-{names[table]}"


# --- without Spark -------------------------------------------------------------------------------


def plan(script: str, parallelism: int) -> dict[str, Any]:
    """The graph of a script that is not run, as `runtime.plan.plan`. Raises SqlError."""
    parsed = statements.parse(script)
    known, names = _known(parsed), Counter[str]()
    described = []
    for each in parsed:
        if not isinstance(each, Insert):
            continue
        table = known.get(each.table)
        if not isinstance(table, Table):
            raise SqlError(f"there is no table {each.table}", each.query.line)
        sources = [_described(source) for source in _read_by(each.query, known)]
        described.append(Described(_name(each.table, names), sources, _described(table)))
    if not described:
        raise SqlError("the script has no INSERT INTO: nothing would run")
    return plain_progress.plan(described, parallelism)


def _known(parsed: list[statements.Statement]) -> dict[str, Table | CreateView]:
    known: dict[str, Table | CreateView] = {}
    for each in parsed:
        if isinstance(each, CreateTable):
            known[each.table.name] = each.table
        elif isinstance(each, CreateView):
            known[each.name] = each
    return known


def _read_by(query: Piece, known: Mapping[str, Table | CreateView]) -> list[Table]:
    """Tables that a query reads, those of its views too. Raises SqlError."""
    found: dict[str, Table] = {}
    for name in dialect.query(query).tables:
        one = known.get(name)
        if one is None:
            raise SqlError(f"there is no table {name}", query.line)
        for table in [one] if isinstance(one, Table) else _read_by(one.query, known):
            found[table.name] = table
    return list(found.values())


def _bounded(query: Piece, known: Mapping[str, Table | CreateView]) -> bool:
    """Whether all that it reads ends."""
    of = {"kafka": kafka.bounded, "filesystem": files.bounded, "datagen": datagen.bounded}
    return all(of.get(each.connector, kafka.bounded)(each) for each in _read_by(query, known))


def _described(table: Table) -> str:
    options = table.options
    which = options.get("topic") or options.get("topic-pattern") or options.get("path")
    return f"{table.connector}:{which}" if which else f"{table.connector}:{table.name}"


def main(arguments: list[str]) -> None:
    script = arguments[0] if arguments[0].endswith(".sql") else arguments[1]
    context = run_context.launched()
    configuration = context.configuration if context is not None else {}
    run(Path(script).read_text(encoding="utf-8"), configuration)


if __name__ == "__main__":
    main(sys.argv)
