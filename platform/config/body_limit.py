"""No request has a body without end: Django writes bodies to the disk before it knows who sends."""

from __future__ import annotations

import json
from typing import Any

#: A program of the largest size, and what is around it in a form.
MOST = 100 * 1024 * 1024 + 1024 * 1024


class BodyLimit:
    """An ASGI application before another one. A body of more than `most` bytes answers 413, at once
    where the request says its length."""

    def __init__(self, application: Any, most: int = MOST) -> None:
        self._application = application
        self._most = most

    async def __call__(self, scope: Any, receive: Any, send: Any) -> None:
        if scope["type"] != "http":
            await self._application(scope, receive, send)
            return
        if _length(scope) > self._most:
            await self._refuse(send)
            return
        seen, answered = 0, False

        async def counted() -> Any:
            nonlocal seen
            message = await receive()
            seen += len(message.get("body", b""))
            return message if seen <= self._most else {"type": "http.disconnect"}

        async def noted(message: Any) -> None:
            nonlocal answered
            answered = True
            await send(message)

        await self._application(scope, counted, noted)
        if seen > self._most and not answered:
            await self._refuse(send)

    async def _refuse(self, send: Any) -> None:
        why = f"The request has more than {self._most} bytes; nothing of it was used."
        body = json.dumps({"errors": [why]}).encode()
        headers = [(b"content-type", b"application/json"), (b"connection", b"close")]
        await send({"type": "http.response.start", "status": 413, "headers": headers})
        await send({"type": "http.response.body", "body": body})


def _length(scope: Any) -> int:
    said = next((value for name, value in scope["headers"] if name == b"content-length"), b"0")
    return int(said) if said.isdigit() and len(said) < 20 else 0
