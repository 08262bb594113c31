"""Tests of the transactional sink leave no connection behind."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from headrace.connectors.kafka import coordinator, pool


@pytest.fixture(autouse=True)
def connections_closed() -> Iterator[None]:
    yield
    pool.close_all()
    coordinator.close_all()
