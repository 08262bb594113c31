"""Where a PostgreSQL sink writes to: a picklable value whose password is never shown."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any
from urllib.parse import parse_qsl, unquote, urlsplit

from headrace.connectors.twophase import errors

_SCHEMES = ("postgresql", "postgres")
#: What JDBC's driver calls otherwise than libpq, as far as the two mean the same.
_JDBC_NAMES = {
    "ApplicationName": "application_name",
    "connectTimeout": "connect_timeout",
    "sslrootcert": "sslrootcert",
    "sslmode": "sslmode",
    "sslcert": "sslcert",
    "sslkey": "sslkey",
    "user": "user",
    "password": "password",
    "currentSchema": "currentSchema",
}
#: A server that is gone without a word is noticed within half a minute, also in mid-answer.
_KEEPALIVE = {
    "keepalives_idle": "10",
    "keepalives_interval": "5",
    "keepalives_count": "4",
    "tcp_user_timeout": "30000",
}


@dataclass(frozen=True)
class PostgresSettings:
    """One server and database, and who writes."""

    host: str
    port: int
    database: str
    user: str
    password: str = field(default="", repr=False)
    #: Of libpq, as they are.
    options: dict[str, str] = field(default_factory=dict, repr=False, hash=False)

    @classmethod
    def from_url(cls, url: str, user: str = "", password: str = "") -> PostgresSettings:
        """`jdbc:postgresql://host:port/database?parameters`, or without `jdbc:`. Raises
        `InvalidSettings`, without the URL, which may hold a password."""
        parts = urlsplit(url.removeprefix("jdbc:"))
        if parts.scheme not in _SCHEMES or not parts.hostname or not parts.path.strip("/"):
            raise errors.InvalidSettings(
                "the URL of a database is jdbc:postgresql://host:port/database; of those with a "
                "JDBC driver, only PostgreSQL can be written to"
            )
        options = {_option(name): value for name, value in parse_qsl(parts.query)}
        if "currentSchema" in options:
            options["options"] = f"-c search_path={options.pop('currentSchema')}"
        user = user or options.pop("user", "") or unquote(parts.username or "")
        password = password or options.pop("password", "") or unquote(parts.password or "")
        options.pop("user", None)
        options.pop("password", None)
        database = unquote(parts.path.strip("/"))
        return cls(parts.hostname, _port(parts.netloc, url), database, user, password, options)

    @property
    def address(self) -> str:
        """To be shown."""
        return f"{self.host}:{self.port}/{self.database}"

    def connect_arguments(self) -> dict[str, Any]:
        given = {"user": self.user, "password": self.password}
        return {
            "connect_timeout": "10",
            "application_name": "headrace",
            **_KEEPALIVE,
            **self.options,
            "host": self.host,
            "port": self.port,
            "dbname": self.database,
            **{name: value for name, value in given.items() if value},
        }


def _option(name: str) -> str:
    if name in _JDBC_NAMES:
        return _JDBC_NAMES[name]
    known = ", ".join(sorted(_JDBC_NAMES))
    raise errors.InvalidSettings(f"URL parameter {name!r} of PostgreSQL is none of {known}")


def _port(netloc: str, url: str) -> int:
    try:
        return urlsplit(url.removeprefix("jdbc:")).port or 5432
    except ValueError:
        raise errors.InvalidSettings(
            f"the port in {netloc.rpartition('@')[2]!r} is no number"
        ) from None
