"""Lines in packets that fit into any network's."""

from __future__ import annotations

import contextlib
import socket
from collections.abc import Iterable, Iterator

PACKET_BYTES = 1400


def send(host: str, port: int, lines: Iterable[bytes], timeout: float) -> None:
    """Raises OSError when the receiver's name or network is not known; whether somebody listens
    nobody says."""
    found = socket.getaddrinfo(host, port, type=socket.SOCK_DGRAM)
    family, kind, protocol, _, address = found[0]
    with contextlib.closing(socket.socket(family, kind, protocol)) as out:
        out.settimeout(timeout)
        for packet in packets(lines):
            out.sendto(packet, address)


def packets(lines: Iterable[bytes]) -> Iterator[bytes]:
    packet = b""
    for line in lines:
        if packet and len(packet) + 1 + len(line) > PACKET_BYTES:
            yield packet
            packet = b""
        packet = packet + b"\n" + line if packet else line
    if packet:
        yield packet
