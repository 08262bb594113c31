"""Which ends of a job take its checkpoints with them."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest

from headrace.datastream.checkpoint_config import RETENTION
from headrace.runtime import context, retention


@pytest.mark.parametrize(
    ("configured", "removed_after"),
    [
        ("", set()),
        ("RETAIN_ON_CANCELLATION", set()),
        ("DELETE_ON_CANCELLATION", {"canceled"}),
        ("no_externalized_checkpoints", {"canceled", "finished"}),
        ("nonsense", set()),
    ],
)
def test_checkpoints_go_only_where_that_is_configured(
    tmp_path: Path, configured: str, removed_after: set[str]
) -> None:
    for reason in ("canceled", "finished", "suspended"):
        with context.laptop("job", 1) as run:
            checkpoint = tmp_path / reason
            checkpoint.mkdir(exist_ok=True)
            (checkpoint / "state").touch()
            configuration = {RETENTION: configured}
            mine = replace(run, checkpoint_dir=checkpoint, configuration=configuration)
            assert retention.apply(mine, reason) == (reason in removed_after)
            assert checkpoint.exists() == (reason not in removed_after)
