"""A driver does not begin a job anew where its checkpoints are not."""

from __future__ import annotations

from pathlib import Path

import pytest

from headrace.runtime import driver
from headrace.runtime.errors import JobFailed
from headrace.wire.failures import Cause
from headrace.wire.spec import JobSpec


def spec(directory: Path, *, has_checkpoints: bool) -> JobSpec:
    names = {"job_id": "0" * 32, "name": "job", "attempt": 2, "entry": "job.py"}
    return JobSpec(**names, checkpoint_dir=str(directory), has_checkpoints=has_checkpoints)  # type: ignore[arg-type]


@pytest.mark.parametrize("there", [True, False])
def test_they_are_gone(tmp_path: Path, there: bool) -> None:
    directory = tmp_path / "checkpoints"
    if there:
        directory.mkdir()

    with pytest.raises(JobFailed, match="is empty: they were removed") as failed:
        driver.check_checkpoints(spec(directory, has_checkpoints=True))

    assert failed.value.cause is Cause.IN_DOUBT
    driver.check_checkpoints(spec(directory, has_checkpoints=False))


def test_they_are_there(tmp_path: Path) -> None:
    (tmp_path / "spark").mkdir()

    driver.check_checkpoints(spec(tmp_path, has_checkpoints=True))
