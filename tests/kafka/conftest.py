"""Tests of the transactional sink leave no connection behind."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from headrace.connectors.kafka import coordinator


@pytest.fixture(autouse=True)
def connections_closed() -> Iterator[None]:
    yield
    coordinator.close_all()
