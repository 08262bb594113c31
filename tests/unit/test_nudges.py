"""A Redis that accepts connections and does not answer holds up nobody who holds a lease."""

from __future__ import annotations

import socket
import threading
import time
from collections.abc import Iterator

import pytest

from workers import nudges, tasks
from workers.app import app


@pytest.fixture
def silent() -> Iterator[str]:
    """The URL of one."""
    with socket.create_server(("127.0.0.1", 0), backlog=50) as server:
        yield f"redis://127.0.0.1:{server.getsockname()[1]}/0"


def test_who_waits_for_word_waits_little_longer_than_it_asked_to(silent: str) -> None:
    line = nudges.Line(silent)
    ear = nudges.Ear(line, silent)

    began = time.monotonic()
    ear.wait(0.01, threading.Event())

    assert time.monotonic() - began < 30
    assert not line.is_open()


def test_who_sends_word_goes_on(silent: str, monkeypatch: pytest.MonkeyPatch) -> None:
    line = nudges.Line(silent)
    monkeypatch.setattr(nudges, "line", lambda: line)
    monkeypatch.setattr(app.conf, "broker_url", silent)
    app.finalize()

    began = time.monotonic()
    assert not tasks.send_look("taskmanager.tm")

    assert time.monotonic() - began < 30
    assert not line.is_open()
    assert not line.publish()
