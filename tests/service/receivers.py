"""Real servers of this machine that take messages: HTTP and SMTP."""

from __future__ import annotations

import http.server
import socket
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import Any

from aiosmtpd.controller import Controller


@dataclass
class Posted:
    path: str
    headers: dict[str, str]
    body: bytes


@dataclass
class Receiver:
    """Answers with the statuses given, in order, then with 200; keeps what came."""

    port: int
    statuses: list[int] = field(default_factory=list)
    posted: list[Posted] = field(default_factory=list)

    @property
    def url(self) -> str:
        return f"http://127.0.0.1:{self.port}/hooks/secret-path"


@contextmanager
def webhook() -> Iterator[Receiver]:
    class Handler(http.server.BaseHTTPRequestHandler):
        def do_POST(self) -> None:
            body = self.rfile.read(int(self.headers["Content-Length"]))
            headers = {name.lower(): value for name, value in self.headers.items()}
            receiver.posted.append(Posted(self.path, headers, body))
            self.send_response(receiver.statuses.pop(0) if receiver.statuses else 200)
            self.send_header("Location", "/elsewhere")
            self.end_headers()

        def log_message(self, format: str, *args: Any) -> None:
            pass

    server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    receiver = Receiver(server.server_port)
    thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.02})
    thread.start()
    try:
        yield receiver
    finally:
        server.shutdown()
        server.server_close()
        thread.join()


@dataclass
class Mailbox:
    """Answers each message with the replies given, in order, then takes it."""

    port: int
    replies: list[str] = field(default_factory=list)
    envelopes: list[Any] = field(default_factory=list)

    async def handle_DATA(self, server: Any, session: Any, envelope: Any) -> str:
        if self.replies:
            return self.replies.pop(0)
        self.envelopes.append(envelope)
        return "250 taken"


class _Controller(Controller):
    """Takes over the port as it was bound, so that nobody else gets it in between."""

    def __init__(self, mailbox: Mailbox, listening: socket.socket) -> None:
        super().__init__(mailbox, hostname="127.0.0.1", port=mailbox.port, ready_timeout=240)
        self._listening = listening

    def _create_server(self) -> Any:
        return self.loop.create_server(self._factory_invoker, sock=self._listening)


@contextmanager
def mail_server() -> Iterator[Mailbox]:
    with socket.create_server(("127.0.0.1", 0)) as listening:
        mailbox = Mailbox(listening.getsockname()[1])
        controller = _Controller(mailbox, listening)
        controller.start()
        try:
            yield mailbox
        finally:
            controller.stop()
