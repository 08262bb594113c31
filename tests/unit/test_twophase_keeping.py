"""What a job holds is renewed for as long as it runs."""

from __future__ import annotations

import threading
from pathlib import Path

import pytest

from headrace.connectors.twophase import errors, keeping
from headrace.connectors.twophase.committer import Committer


def test_trouble_does_not_end_the_renewals(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(keeping, "KEEP_SECONDS", 0.01)
    troubles: list[Exception] = [OSError("disk"), LookupError("?"), errors.Unreachable("broker")]
    renewed = threading.Event()

    class Job(Committer):
        def hold(self) -> None:
            if troubles:
                raise troubles.pop()
            renewed.set()

    with keeping.kept(Job([], tmp_path)):
        assert renewed.wait(240)
