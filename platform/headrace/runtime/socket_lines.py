"""The lines that a TCP server sends, kept until they are not wanted any more."""

from __future__ import annotations

import socket
import threading


class SocketLines:
    """Lines are numbered from where the reader stands at the first call of `received`."""

    def __init__(self, host: str, port: int) -> None:
        self.address = (host, port)
        #: Whether the server has closed the connection; no line follows then.
        self.closed = False
        self._lines: list[str] = []
        self._first: int | None = None
        self._lock = threading.Lock()
        self._thread: threading.Thread | None = None

    def received(self, start: int) -> int:
        """The number behind the newest line; `start` is where the reader stands. Connects."""
        self._connect()
        with self._lock:
            if self._first is None:
                self._first = start
            return self._first + len(self._lines)

    def between(self, start: int, end: int) -> list[str]:
        """None of lines that an earlier process had received."""
        with self._lock:
            if self._first is None:  # a batch of an earlier driver, to be run again
                self._first = end
            return self._lines[max(0, start - self._first) : max(0, end - self._first)]

    def forget(self, end: int) -> None:
        with self._lock:
            if self._first is not None and end > self._first:
                del self._lines[: end - self._first]
                self._first = end

    def _connect(self) -> None:
        if self._thread is None:
            connection = socket.create_connection(self.address, timeout=10)
            connection.settimeout(None)
            self._thread = threading.Thread(target=self._receive, args=(connection,), daemon=True)
            self._thread.start()

    def _receive(self, connection: socket.socket) -> None:
        with connection, connection.makefile("r", encoding="utf-8", errors="replace") as stream:
            for line in stream:
                with self._lock:
                    self._lines.append(line.rstrip("\r\n"))
        self.closed = True
