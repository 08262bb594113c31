"""HTTP that is over at a time, however slowly the other side answers: a socket's own time-out
begins anew with each byte."""

from __future__ import annotations

import contextlib
import http.client
import socket
import threading
import time
import urllib.request
from types import TracebackType
from typing import Any


class Deadline:
    """Of all connections that `handlers` make within the block; they are shut when it is reached.
    Names are looked up in the system's own time, which nothing can cut short."""

    def __init__(self, seconds: float) -> None:
        self._until = time.monotonic() + seconds
        self._timer = threading.Timer(seconds, self._shut)
        self._timer.daemon = True
        #: Of the same connections as the sockets in use, also while TLS takes those over.
        self._watched: list[socket.socket] = []

    def __enter__(self) -> Deadline:
        self._timer.start()
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self._timer.cancel()
        self._timer.join()
        for each in self._watched:
            each.close()

    @property
    def over(self) -> bool:
        return self.left <= 0

    @property
    def left(self) -> float:
        """Seconds."""
        return self._until - time.monotonic()

    @property
    def handlers(self) -> list[urllib.request.BaseHandler]:
        return [_Http(self), _Https(self)]

    def connect(
        self, address: tuple[str, int], timeout: Any = None, source: tuple[str, int] | None = None
    ) -> socket.socket:
        """As socket.create_connection does, within what is left for all of a name's addresses."""
        error = OSError(f"{address[0]} has no address")
        for *_, where in socket.getaddrinfo(*address, type=socket.SOCK_STREAM):
            try:
                connection = socket.create_connection(
                    (str(where[0]), int(where[1])), max(self.left, 0.001), source
                )
            except OSError as refused:
                error = refused
            else:
                self._watched.append(connection.dup())
                if self.over:  # the timer may have looked before
                    self._shut()
                return connection
        raise error

    def _shut(self) -> None:
        for each in list(self._watched):
            with contextlib.suppress(OSError):
                each.shutdown(socket.SHUT_RDWR)


class _Http(urllib.request.HTTPHandler):
    def __init__(self, deadline: Deadline) -> None:
        super().__init__()
        self._deadline = deadline

    def http_open(self, request: urllib.request.Request) -> http.client.HTTPResponse:
        def connection(host: str, **options: Any) -> http.client.HTTPConnection:
            return _within(self._deadline, http.client.HTTPConnection(host, **options))

        return self.do_open(connection, request)


class _Https(urllib.request.HTTPSHandler):
    def __init__(self, deadline: Deadline) -> None:
        super().__init__()
        self._deadline = deadline

    def https_open(self, request: urllib.request.Request) -> http.client.HTTPResponse:
        def connection(host: str, **options: Any) -> http.client.HTTPConnection:
            return _within(self._deadline, http.client.HTTPSConnection(host, **options))

        return self.do_open(connection, request)


def _within(
    deadline: Deadline, connection: http.client.HTTPConnection
) -> http.client.HTTPConnection:
    # The one place where http.client makes sockets, for proxies and before TLS, too.
    connection._create_connection = deadline.connect  # type: ignore[attr-defined]
    return connection
