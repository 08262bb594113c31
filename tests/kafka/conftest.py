"""Tests of the transactional sink leave no connection behind; some need a broker that lets only
some in."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from headrace.connectors.kafka import coordinator, pool
from tests.kafka import secure
from tests.kafka.secure import SecureKafka


@pytest.fixture(autouse=True)
def connections_closed() -> Iterator[None]:
    yield
    pool.close_all()
    coordinator.close_all()


@pytest.fixture(scope="package")
def cluster(tmp_path_factory: pytest.TempPathFactory, jar_folder: Path) -> Iterator[SecureKafka]:
    """One that asks who comes. It is shared: use names of your own."""
    with secure.started(tmp_path_factory.mktemp("secure"), jar_folder) as started:
        yield started
