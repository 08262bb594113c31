"""One PostgreSQL for the tests of this folder; no connection is left behind."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from headrace.connectors.kafka import coordinator, pool
from headrace.connectors.postgres import server
from tests.driving import drive
from tests.twophase import postgresql
from tests.twophase.postgresql import Server

__all__ = ["drive"]


@pytest.fixture(scope="session")
def postgres() -> Iterator[Server]:
    """It is shared: use tables of your own."""
    with postgresql.running("max_prepared_transactions=30") as running:
        yield running


@pytest.fixture(autouse=True)
def connections_closed() -> Iterator[None]:
    yield
    server.close_all()
    pool.close_all()
    coordinator.close_all()
