"""Options of a table: read one by one, and what nobody has read is an error, as in Flink."""

from __future__ import annotations

from headrace.sql.errors import SqlError
from headrace.sql.tables import Table


class Options:
    def __init__(self, table: Table) -> None:
        self._table = table
        self._left = dict(table.options)
        self._left.pop("connector", None)

    def take(self, key: str, default: str = "") -> str:
        return self._left.pop(key, default)

    def need(self, key: str) -> str:
        if key not in self._left:
            raise self.wrong(f"'{key}' is missing")
        return self._left.pop(key)

    def one_of(self, key: str, allowed: tuple[str, ...], default: str) -> str:
        value = self.take(key, default)
        if value not in allowed:
            known = ", ".join(allowed)
            raise self.wrong(f"'{key}' = '{value}' is not known; it is one of {known}")
        return value

    def flag(self, key: str, default: bool = False) -> bool:
        return self.one_of(key, ("true", "false"), str(default).lower()) == "true"

    def number(self, key: str, default: int | None = None) -> int:
        """Whole, and not negative."""
        value = self.take(key, "" if default is None else str(default))
        if not value.isdecimal():
            raise self.wrong(f"'{key}' = '{value}' is no whole number")
        return int(value)

    def prefixed(self, prefix: str) -> dict[str, str]:
        """All that begin so, without the prefix."""
        found = [key for key in self._left if key.startswith(prefix)]
        return {key.removeprefix(prefix): self._left.pop(key) for key in found}

    def ignore(self, *keys: str) -> None:
        """What has a meaning for the other end, or none here."""
        for key in keys:
            self._left.pop(key, None)

    def ignore_prefixed(self, *prefixes: str) -> None:
        for prefix in prefixes:
            self.prefixed(prefix)

    def done(self) -> None:
        """Raises SqlError for what was not read."""
        if self._left:
            names = ", ".join(f"'{key}'" for key in sorted(self._left))
            raise self.wrong(f"{names}: no option of connector '{self._table.connector}' here")

    def wrong(self, what: str) -> SqlError:
        return SqlError(f"table {self._table.name}: {what}", self._table.line)
