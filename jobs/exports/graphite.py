"""Numbers to Graphite, in its plain text: `name value seconds`."""

from __future__ import annotations

import math
import socket
from collections.abc import Iterable

from jobs.exports import dotted, udp
from jobs.exports.configuration import Reporter
from jobs.exports.samples import Group

_LINES_AT_ONCE = 500


def send(reporter: Reporter, groups: Iterable[Group], at: float) -> None:
    """`at`: seconds since 1970. Raises OSError when the receiver cannot be reached."""
    numbers = dotted.numbers(groups, reporter.prefix, reporter.excludes)
    lines = [
        f"{name} {dotted.number(value)} {int(at)}".encode()
        for name, value in numbers
        if math.isfinite(value)
    ]
    if reporter.protocol == "udp":
        udp.send(reporter.host, reporter.port, lines, reporter.timeout)
        return
    address = (reporter.host, reporter.port)
    with socket.create_connection(address, timeout=reporter.timeout) as out:
        for begin in range(0, len(lines), _LINES_AT_ONCE):
            out.sendall(b"\n".join(lines[begin : begin + _LINES_AT_ONCE]) + b"\n")
