"""Runs a SQL script: `python -m headrace.runtime.sql_program script.sql`, and as a job's program.

Each INSERT is a streaming query of its own with a checkpoint of its own, as of any plain PySpark
program; the whole script is read and checked before the first of them starts.
"""

from __future__ import annotations

import logging
import sys
from collections import Counter
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from pyspark.sql import SparkSession

from headrace.runtime import context as run_context
from headrace.runtime import plain_progress, sql_done, sql_settings
from headrace.runtime.plain_writer import Described
from headrace.runtime.sql_settings import ZONE, Settings
from headrace.sql import datagen, dialect, files, kafka, secrets, sinks, statements
from headrace.sql.catalog import Catalog
from headrace.sql.errors import SqlError
from headrace.sql.statements import CreateTable, CreateView, Drop, Insert, Set
from headrace.sql.tables import Table
from headrace.sql.tokens import Piece
from headrace.wire import events

log = logging.getLogger(__name__)

_LOOK_SECONDS = 1


class _Catalogs:
    """The script's tables as streams, and as what there is: an INSERT that ends reads the latter,
    so that its last windows are complete. A definition is looked at when an INSERT needs it."""

    def __init__(self, spark: SparkSession) -> None:
        self._spark = spark
        self._said: list[Set | CreateTable | CreateView | Drop] = []
        #: By whether it is batch: the catalog, and how much of `_said` it knows.
        self._known: dict[bool, tuple[Catalog, SparkSession, int]] = {}

    def say(self, statement: Set | CreateTable | CreateView | Drop) -> None:
        self._said.append(statement)

    def of(self, *, batch: bool) -> Catalog:
        """Raises SqlError for what is wrong among the definitions so far."""
        if batch not in self._known:
            session = self._spark.newSession() if batch else self._spark
            session.conf.set("spark.sql.caseSensitive", "true")  # as names are in Flink
            kafka.register(session)
            self._known[batch] = (Catalog(session, batch=batch), session, 0)
        catalog, session, begin = self._known[batch]
        for each in self._said[begin:]:
            match each:
                case Set():
                    sql_settings.tell_spark(each, session)
                case CreateTable():
                    table = secrets.given(each.table)
                    catalog.create_table(CreateTable(table, each.if_not_exists))
                case CreateView():
                    catalog.create_view(each)
                case Drop():
                    catalog.drop(each)
        self._known[batch] = (catalog, session, len(self._said))
        return catalog

    def finish(self) -> None:
        """What follows the last INSERT may be wrong, too."""
        for batch in list(self._known):
            self.of(batch=batch)


def run(script: str, configuration: Mapping[str, str], spark: SparkSession | None = None) -> None:
    """Until its queries have ended. Raises SqlError, and what a query fails with."""
    parsed = statements.parse(script)
    if not any(isinstance(each, Insert) for each in parsed):
        raise SqlError("the script has no INSERT INTO: nothing would run")
    session = spark or SparkSession.builder.appName("sql").getOrCreate()
    prepared = _prepared(parsed, session, dict(configuration))
    context = run_context.launched()
    if context is not None and not any(each.is_stream for each, _ in prepared):
        _report(context, script, session)
    done = sql_done.Done(context)
    running = []
    for each, identity in prepared:
        if each.is_stream:
            running.append(each.start())
        elif identity in done:
            log.info("INSERT INTO %s was done by an earlier attempt", each.table.name)
        else:
            each.write()
            done.add(identity)
    while running:  # whichever fails first, raises
        running = [query for query in running if not query.awaitTermination(_LOOK_SECONDS)]


def _report(context: run_context.RunContext, script: str, spark: SparkSession) -> None:
    """Nobody else does where no streaming query is started."""
    graph = plan(script, context.parallelism)
    context.reporter.report(events.Planned(plan=graph))
    application = spark.sparkContext.applicationId
    context.reporter.report(events.Running(application_id=application))


def _prepared(
    parsed: list[statements.Statement], spark: SparkSession, configuration: dict[str, str]
) -> list[tuple[sinks.Prepared, str]]:
    """Each INSERT as it can be started, and what it is known by. Raises SqlError."""
    catalogs, settings, names = _Catalogs(spark), Settings(configuration), Counter[str]()
    if ZONE in configuration:
        catalogs.say(Set(ZONE, configuration[ZONE]))
    found: list[tuple[sinks.Prepared, str]] = []
    known: dict[str, Table | CreateView] = {}
    for each in parsed:
        known |= _known([each])
        if not isinstance(each, Insert):
            if isinstance(each, Set):
                settings.apply(each)
            catalogs.say(each)
            continue
        ends = settings.is_batch or _bounded(each.query, known)
        catalog = catalogs.of(batch=ends and _stateful(each.query, known))
        table = catalog.table(each.table, each.query.line)
        rows, updating = catalog.query(each.query)
        trigger = sinks.Trigger(settings.interval_ms, ends)
        name = _name(each.table, names)
        prepared = sinks.prepare(each, table, rows, name, updating, trigger)
        found.append((prepared, sql_done.identity(name, each, _written(known, each.table))))
    catalogs.finish()
    inserts = [each for each in parsed if isinstance(each, Insert)]
    written = [prepared.table for prepared, _ in found]
    _refuse_shared(list(zip(inserts, written, strict=True)))
    return found


def _written(known: Mapping[str, Table | CreateView], name: str) -> dict[str, str]:
    """Options of a table as the script has them: a secret may change."""
    table = known[name]
    return table.options if isinstance(table, Table) else {}


def _refuse_shared(inserts: list[tuple[Insert, Table]]) -> None:
    """Two queries would take each other's place: in a folder that has a log of what is in it, and
    under one prefix of transactions. Raises SqlError."""
    places = [
        table.options.get("path") or table.options.get("sink.transactional-id-prefix")
        for _, table in inserts
    ]
    for (insert, _), place in zip(inserts, places, strict=True):
        if place is not None and places.count(place) > 1:
            raise SqlError(
                f"two INSERT statements write to {place!r}, and each would drop what the other "
                "has written: join them by UNION ALL, or give each a path or a "
                "'sink.transactional-id-prefix' of its own",
                insert.query.line,
            )


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


def _stateful(query: Piece, known: Mapping[str, Table | CreateView]) -> bool:
    """Whether rows are kept for later: windows, aggregates, joins; its views' too."""
    found = dialect.query(query)
    views = (known[name] for name in found.tables if isinstance(known.get(name), CreateView))
    return found.stateful or any(
        _stateful(each.query, known) for each in views if isinstance(each, CreateView)
    )


def _described(table: Table) -> str:
    options = table.options
    which = options.get("topic") or options.get("topic-pattern") or options.get("path")
    return f"{table.connector}:{which}" if which else f"{table.connector}:{table.name}"


def read(script: Path) -> str:
    """Its text. Raises SqlError."""
    try:
        return script.read_text(encoding="utf-8-sig")  # some editors begin with a mark
    except UnicodeDecodeError as error:
        raise SqlError(f"{script.name} is not UTF-8: {error}") from None


def main(arguments: list[str]) -> None:
    script = arguments[0] if arguments[0].endswith(".sql") else arguments[1]
    context = run_context.launched()
    configuration = context.configuration if context is not None else {}
    run(read(Path(script)), configuration)


if __name__ == "__main__":
    main(sys.argv)
