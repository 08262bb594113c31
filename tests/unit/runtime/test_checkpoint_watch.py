"""Batches that take longer than the checkpoint timeout, and the pause between them."""

from __future__ import annotations

import os
import time
from pathlib import Path

from headrace.runtime.checkpoint_watch import CheckpointWatch, Expired
from headrace.runtime.python_sources import STOPPING, _ControlReader


def test_a_batch_expires_once_and_goes_on() -> None:
    watch = CheckpointWatch(timeout_ms=1000, tolerable=0)
    assert watch.observe(None, None, 0.0) is None
    assert watch.observe(4, 3, 10.0) is None
    assert watch.observe(4, 3, 11.0) is None
    assert watch.observe(4, 3, 11.1) == Expired(4, 1, too_many=True)
    assert watch.observe(4, 3, 12.0) is None
    assert watch.observe(4, 4, 13.0) is None


def test_failures_count_in_a_row() -> None:
    watch = CheckpointWatch(timeout_ms=1000, tolerable=1)
    watch.observe(0, None, 0.0)
    assert watch.observe(0, None, 2.0) == Expired(0, 1, too_many=False)
    watch.observe(0, 0, 3.0)
    watch.observe(1, 0, 3.0)
    watch.observe(1, 1, 3.5)  # completed in time: the count begins anew
    watch.observe(2, 1, 4.0)
    assert watch.observe(2, 1, 6.0) == Expired(2, 1, too_many=False)
    watch.observe(3, 2, 6.5)
    assert watch.observe(3, 2, 8.0) == Expired(3, 2, too_many=True)


def test_settings_have_flinks_names_and_defaults() -> None:
    assert CheckpointWatch.of({}).timeout_ms == 600_000
    configured = CheckpointWatch.of(
        {
            "execution.checkpointing.timeout": "2 min",
            "execution.checkpointing.tolerable-failed-checkpoints": "3",
        }
    )
    assert (configured.timeout_ms, configured._tolerable) == (120_000, 3)


def test_a_batch_begins_behind_the_pause_unless_the_job_stops(tmp_path: Path) -> None:
    path = tmp_path / "headrace" / "control.json"
    commit = tmp_path / "spark" / "commits" / "3"
    for folder in (path.parent, commit.parent):
        folder.mkdir(parents=True)
    commit.touch()

    def waited(pause_ms: int) -> float:
        begun = time.monotonic()
        assert _ControlReader(path, pause_ms).position(0) == 0
        return time.monotonic() - begun

    assert waited(300) > 0.2
    os.utime(commit, (0, 0))
    assert waited(600_000) < 300  # the last batch ended long ago
    commit.touch()
    (path.parent / STOPPING).touch()
    assert waited(600_000) < 300
