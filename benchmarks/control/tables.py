"""What PostgreSQL says of the tables that grow: their size, and how they were read."""

from __future__ import annotations

from dataclasses import dataclass

from django.db import connection

from benchmarks.control import history

NAMES = [model._meta.db_table for model in history.FILLED]


@dataclass(frozen=True)
class Tables:
    bytes: int
    #: Times that one was read from end to end, by table.
    scans: dict[str, int]

    def since(self, before: Tables) -> Tables:
        scans = {name: number - before.scans[name] for name, number in self.scans.items()}
        return Tables(self.bytes - before.bytes, scans)


def look() -> Tables | None:
    """None in another database. Statistics are a second old at most."""
    if connection.vendor != "postgresql":
        return None
    with connection.cursor() as cursor:
        cursor.execute(
            "SELECT relname, seq_scan, pg_total_relation_size(relid) FROM pg_stat_user_tables "
            "WHERE relname = ANY(%s)",
            [NAMES],
        )
        rows = cursor.fetchall()
    return Tables(sum(size for _, _, size in rows), {name: scans for name, scans, _ in rows})


def analyse() -> None:
    """Have the planner know them, as it does some time after they were filled."""
    with connection.cursor() as cursor:
        cursor.execute("ANALYZE")
