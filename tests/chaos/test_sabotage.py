"""A sink that breaks its promise is found out: runs whose memory somebody meddles with."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from headrace.connectors.twophase.manifest import DIRECTORY
from headrace.connectors.twophase.steps import Step
from tests.chaos.broker import Broker
from tests.chaos.faults import Fault, Kind
from tests.chaos.miniature import Miniature


@pytest.fixture
def small(tmp_path: Path, jar_folder: Path) -> Iterator[Miniature]:
    broker = Broker(tmp_path / "broker", jar_folder)
    yield Miniature(tmp_path / "jobs", broker, print)
    broker.stop()


def manifests(small: Miniature) -> list[Path]:
    assert small.plan is not None
    return sorted((small.plan.home / DIRECTORY).iterdir())


def test_a_job_that_forgets_what_it_committed_writes_it_twice(small: Miniature) -> None:
    assert small.inject(Fault(Kind.COMMIT_POINT, Step.COMMITTED))
    for path in manifests(small):
        path.unlink()
    small.finish()
    assert len([each for each in small.problems if "lost {}, more than once {'" in each]) == 2


def test_a_job_that_believes_it_has_committed_loses_records(small: Miniature) -> None:
    assert small.inject(Fault(Kind.COMMIT_POINT, Step.DECIDED))
    manifests(small)[-1].with_suffix(".done").touch()
    small.finish()
    assert len([each for each in small.problems if "lost {'" in each]) == 2
