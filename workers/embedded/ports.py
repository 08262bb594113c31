"""Ports of this machine."""

from __future__ import annotations

import socket


def free() -> int:
    """A port nobody listens on at this moment."""
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return int(probe.getsockname()[1])


def taken(port: int, host: str = "127.0.0.1") -> bool:
    """Whether a server could not listen there, because another does."""
    with socket.socket() as probe:
        # As servers do: connections that linger after a close are no hindrance.
        probe.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        try:
            probe.bind((host, port))
        except OSError:
            return True
    return False
