"""A receiver that is slow holds up neither its sender nor other channels."""

from __future__ import annotations

import contextlib
import socket
import threading
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from datetime import datetime

import pytest

from workers import tasks
from workers.alerts import rounds, sending

#: A status line, and a record of TLS's, that are never complete.
ANSWERS = {"http": b"H" * 300, "https": b"\x16\x03\x03\x3f\xff" + bytes(300)}


@contextmanager
def dripping(answer: bytes) -> Iterator[int]:
    """The port of a receiver that answers byte by byte."""
    server = socket.create_server(("127.0.0.1", 0))
    server.settimeout(240)
    closing = threading.Event()

    def serve() -> None:
        with contextlib.suppress(OSError), server.accept()[0] as connection:
            for byte in answer:
                connection.sendall(bytes([byte]))
                if closing.wait(0.1):
                    return

    thread = threading.Thread(target=serve, daemon=True)
    thread.start()
    try:
        yield server.getsockname()[1]
    finally:
        closing.set()
        thread.join()
        server.close()


@pytest.mark.parametrize("scheme", ["http", "https"])
def test_a_message_has_one_time_limit(scheme: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sending, "TIMEOUT_SECONDS", 1)
    with (
        dripping(ANSWERS[scheme]) as port,
        pytest.raises(sending.NotSent, match="has not answered within 1 s"),
    ):
        sending._post(f"{scheme}://127.0.0.1:{port}/x", b"{}", {})


def test_a_channel_that_hangs_holds_up_no_other(monkeypatch: pytest.MonkeyPatch) -> None:
    """Messages 1 and 2 go to channel 7, which hangs, and 3 to channel 8; Redis is away."""
    waiting = {1: 7, 2: 7, 3: 8}
    hanging, other = threading.Event(), threading.Event()
    asked: list[list[int]] = []

    def due(now: datetime, busy: Iterable[int]) -> list[tuple[int, datetime, int]]:
        asked.append(list(busy))
        return [(pk, now, channel) for pk, channel in waiting.items() if channel not in asked[-1]]

    def deliver(pk: int) -> None:
        assert waiting[pk] == 8 or hanging.wait(240)
        del waiting[pk]
        if pk == 3:
            other.set()

    monkeypatch.setattr(rounds, "_due", due)
    monkeypatch.setattr(tasks, "send_deliver", lambda pk: False)
    monkeypatch.setattr(sending, "deliver", deliver)
    senders = rounds.Rounds()
    senders._send_due()
    try:
        assert other.wait(240)
        senders._senders[8].join(240)
        senders._send_due()
        assert asked == [[], [7]]
        assert waiting == {1: 7, 2: 7}
    finally:
        hanging.set()
    senders._senders[7].join(240)
    assert not waiting
