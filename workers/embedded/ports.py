"""Ports of this machine."""

from __future__ import annotations

import random
import socket

#: Below those that systems give to outgoing connections: a server that is down for a moment finds
#: its port free when it comes back.
_SERVERS = range(20_000, 32_768)


def free() -> int:
    """A port nobody listens on at this moment, and no outgoing connection takes later."""
    while taken(port := random.choice(_SERVERS)):
        pass
    return port


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
