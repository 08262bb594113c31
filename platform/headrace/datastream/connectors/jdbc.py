"""Databases as a sink; PyFlink's `pyflink.datastream.connectors.jdbc`. PostgreSQL only."""

from __future__ import annotations

from dataclasses import dataclass, replace

from headrace.common.typeinfo import RowTypeInfo, TypeInformation
from headrace.connectors.postgres.settings import PostgresSettings
from headrace.connectors.postgres.sink import DEFAULT_BATCH_SIZE, PostgresSink

__all__ = [
    "JdbcConnectionOptions",
    "JdbcExactlyOnceOptions",
    "JdbcExecutionOptions",
    "JdbcSink",
]

DRIVER = "org.postgresql.Driver"


@dataclass(frozen=True, repr=False)
class JdbcConnectionOptions:
    """Which database, and who writes."""

    url: str
    driver_name: str = DRIVER
    user_name: str | None = None
    password: str | None = None

    def get_db_url(self) -> str:
        return self.url

    def get_driver_name(self) -> str:
        return self.driver_name

    def get_user_name(self) -> str | None:
        return self.user_name

    def get_password(self) -> str | None:
        return self.password

    def settings(self) -> PostgresSettings:
        return PostgresSettings.from_url(self.url, self.user_name or "", self.password or "")

    def __repr__(self) -> str:
        return f"JdbcConnectionOptions({self.settings()!r})"

    class JdbcConnectionOptionsBuilder:
        def __init__(self) -> None:
            self._options = JdbcConnectionOptions("")

        def with_url(self, url: str) -> JdbcConnectionOptions.JdbcConnectionOptionsBuilder:
            """jdbc:postgresql://host:port/database"""
            self._options = replace(self._options, url=url)
            return self

        def with_driver_name(
            self, driver_name: str
        ) -> JdbcConnectionOptions.JdbcConnectionOptionsBuilder:
            """PostgreSQL's; nothing of Java is used."""
            if driver_name != DRIVER:
                raise ValueError(f"{driver_name} is not {DRIVER}: PostgreSQL only")
            return self

        def with_user_name(
            self, user_name: str
        ) -> JdbcConnectionOptions.JdbcConnectionOptionsBuilder:
            self._options = replace(self._options, user_name=user_name)
            return self

        def with_password(
            self, password: str
        ) -> JdbcConnectionOptions.JdbcConnectionOptionsBuilder:
            self._options = replace(self._options, password=password)
            return self

        def build(self) -> JdbcConnectionOptions:
            """Raises InvalidSettings."""
            self._options.settings()
            return self._options


@dataclass(frozen=True)
class JdbcExecutionOptions:
    """How rows are sent."""

    batch_interval_ms: int = 0
    batch_size: int = DEFAULT_BATCH_SIZE
    max_retries: int = 3

    @staticmethod
    def defaults() -> JdbcExecutionOptions:
        return JdbcExecutionOptions()

    @staticmethod
    def builder() -> JdbcExecutionOptions.Builder:
        return JdbcExecutionOptions.Builder()

    def get_batch_interval_ms(self) -> int:
        return self.batch_interval_ms

    def get_batch_size(self) -> int:
        return self.batch_size

    def get_max_retries(self) -> int:
        return self.max_retries

    class Builder:
        def __init__(self) -> None:
            self._options = JdbcExecutionOptions()

        def with_batch_interval_ms(self, interval_ms: int) -> JdbcExecutionOptions.Builder:
            """No effect: rows become visible with their micro-batch."""
            self._options = replace(self._options, batch_interval_ms=interval_ms)
            return self

        def with_batch_size(self, size: int) -> JdbcExecutionOptions.Builder:
            """Rows sent at a time."""
            if size < 1:
                raise ValueError("a batch has one row at least")
            self._options = replace(self._options, batch_size=size)
            return self

        def with_max_retries(self, max_retries: int) -> JdbcExecutionOptions.Builder:
            """No effect: what fails is run again with its task or micro-batch."""
            self._options = replace(self._options, max_retries=max_retries)
            return self

        def build(self) -> JdbcExecutionOptions:
            return self._options


@dataclass(frozen=True)
class JdbcExactlyOnceOptions:
    """Of prepared transactions."""

    timeout_sec: int = 120
    transactional_id_prefix: str = ""

    @staticmethod
    def defaults() -> JdbcExactlyOnceOptions:
        return JdbcExactlyOnceOptions()

    @staticmethod
    def builder() -> JdbcExactlyOnceOptions.Builder:
        return JdbcExactlyOnceOptions.Builder()

    class Builder:
        def __init__(self) -> None:
            self._options = JdbcExactlyOnceOptions()

        def with_timeout_sec(self, timeout_sec: int) -> JdbcExactlyOnceOptions.Builder:
            """How long a commit is tried before the job fails; it goes on at the next start."""
            self._options = replace(self._options, timeout_sec=timeout_sec)
            return self

        def with_transactional_id_prefix(self, prefix: str) -> JdbcExactlyOnceOptions.Builder:
            """Headrace's own: what the names of prepared transactions begin with, unique to the
            job on its server. With it, a job started without its checkpoint rolls back what its
            earlier life left prepared; else the checkpoint's own name is used."""
            self._options = replace(self._options, transactional_id_prefix=prefix)
            return self

        def with_transaction_per_connection(self, enabled: bool) -> JdbcExactlyOnceOptions.Builder:
            """No effect: PostgreSQL needs no connection for a prepared transaction."""
            return self

        def build(self) -> JdbcExactlyOnceOptions:
            return self._options


class JdbcSink:
    """For `DataStream.add_sink` or `sink_to`: runs a statement for each row."""

    @staticmethod
    def sink(
        sql: str,
        type_info: TypeInformation,
        jdbc_connection_options: JdbcConnectionOptions,
        jdbc_execution_options: JdbcExecutionOptions | None = None,
    ) -> PostgresSink:
        """At least once: rows of a micro-batch that is run again are written again. Use a
        statement that may be repeated (INSERT ... ON CONFLICT), or `exactly_once_sink`. Raises
        InvalidSettings."""
        options = jdbc_execution_options or JdbcExecutionOptions.defaults()
        return PostgresSink(
            jdbc_connection_options.settings(),
            _checked(sql, type_info),
            exactly_once=False,
            batch_size=options.batch_size,
        )

    @staticmethod
    def exactly_once_sink(
        sql: str,
        type_info: TypeInformation,
        jdbc_connection_options: JdbcConnectionOptions,
        jdbc_execution_options: JdbcExecutionOptions | None = None,
        jdbc_exactly_once_options: JdbcExactlyOnceOptions | None = None,
    ) -> PostgresSink:
        """In a prepared transaction per task, committed with all other sinks of the job. The
        server needs max_prepared_transactions above 0. Raises InvalidSettings."""
        options = jdbc_execution_options or JdbcExecutionOptions.defaults()
        once = jdbc_exactly_once_options or JdbcExactlyOnceOptions.defaults()
        return PostgresSink(
            jdbc_connection_options.settings(),
            _checked(sql, type_info),
            batch_size=options.batch_size,
            transactional_id_prefix=once.transactional_id_prefix,
            commit_timeout_seconds=float(once.timeout_sec),
        )


def _checked(sql: str, type_info: TypeInformation) -> str:
    if not isinstance(type_info, RowTypeInfo):
        raise TypeError("the type of rows for a database is Types.ROW or Types.ROW_NAMED")
    return sql
