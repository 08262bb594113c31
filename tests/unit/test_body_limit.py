"""Bodies that are too large, with and without a length that says so."""

from __future__ import annotations

import asyncio
from typing import Any

import pytest
from django.core.handlers.asgi import ASGIHandler

from config.body_limit import MOST, BodyLimit
from jobs import artifacts


def asked(headers: list[tuple[bytes, bytes]], pieces: list[bytes]) -> list[int]:
    """The status of the answer, from 10 bytes on; Django reads the body."""
    sent: list[int] = []
    left = [{"type": "http.request", "body": each, "more_body": True} for each in pieces]
    left.append({"type": "http.request", "body": b"", "more_body": False})

    async def application(scope: Any, receive: Any, send: Any) -> None:
        try:
            file = await ASGIHandler.read_body(None, receive)  # type: ignore[arg-type]
        except Exception:  # as Django does: nobody waits for an answer
            return
        file.close()
        await send({"type": "http.response.start", "status": 200})

    async def receive() -> Any:
        return left.pop(0)

    async def send(message: Any) -> None:
        if "status" in message:
            sent.append(message["status"])

    scope = {"type": "http", "headers": headers}
    asyncio.run(BodyLimit(application, 10)(scope, receive, send))
    return sent


@pytest.mark.parametrize(
    ("headers", "pieces", "status"),
    [
        ([(b"content-length", b"10")], [b"x" * 10], 200),
        ([(b"content-length", b"11")], [], 413),
        ([], [b"x" * 5, b"x" * 5], 200),
        ([], [b"x" * 5, b"x" * 6], 413),
        ([(b"content-length", b"-1")], [b"x" * 11], 413),
    ],
)
def test_what_is_too_large(
    headers: list[tuple[bytes, bytes]], pieces: list[bytes], status: int
) -> None:
    assert asked(headers, pieces) == [status]


def test_the_largest_program_fits() -> None:
    assert artifacts.MAX_PACKAGE_BYTES + 512 * 1024 <= MOST
