"""A driver notices that another one has taken its job over, without a batch."""

from __future__ import annotations

from pathlib import Path
from types import SimpleNamespace
from typing import Any, cast

import pytest

from headrace.connectors.twophase import errors
from headrace.connectors.twophase.ownership import OwnerStore
from headrace.runtime.context import RunContext
from headrace.runtime.program import Program
from headrace.runtime.run_sinks import RunSinks
from headrace.runtime.spark_offsets import SparkOffsets
from headrace.runtime.takeover import CHECK_SECONDS, Takeover


def test_who_was_replaced_stops_with_the_next_look(tmp_path: Path) -> None:
    now = 0.0
    owners = OwnerStore(tmp_path)
    takeover = Takeover(owners, owners.claim(), lambda: now)
    takeover.check()

    successor = Takeover(owners, owners.claim())
    takeover.check()  # not yet
    now = CHECK_SECONDS
    with pytest.raises(errors.SecondDriver, match="epoch 1 here, epoch 2 took over"):
        takeover.check()
    successor.check()


def test_who_has_not_taken_the_job_over_yet_stops_for_nobody(tmp_path: Path) -> None:
    owners = OwnerStore(tmp_path)
    owners.claim()

    Takeover(owners, 0).check()


def test_a_job_without_transactions_is_taken_over_too(tmp_path: Path) -> None:
    first, second = sinks(tmp_path), sinks(tmp_path)
    first.recover()
    first.takeover().check()

    second.recover()

    with pytest.raises(errors.SecondDriver):
        first.takeover().check()
    with pytest.raises(errors.SecondDriver):
        first.recover()
    second.takeover().check()
    second.finish()


def sinks(folder: Path) -> RunSinks:
    """Of a job that has none."""
    nothing: dict[Any, Any] = {}
    program = Program("words", nothing, nothing, nothing, nothing, 1, 8, 1)
    context = SimpleNamespace(checkpoint_dir=folder)
    offsets = SimpleNamespace(completed=None)
    return RunSinks(program, cast(RunContext, context), cast(SparkOffsets, offsets))
