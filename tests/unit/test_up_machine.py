"""One `up` at a time, on ports that are free or its own."""

from __future__ import annotations

import os
import socket
import sys
from pathlib import Path

import pytest

from workers.embedded import ports, process
from workers.up.machine import NotPossible, Wanted, check_ports, only_one

LISTEN = "import socket, time; s = socket.create_server(('127.0.0.1', {})); time.sleep(600)"


def test_a_second_up_names_the_first(tmp_path: Path) -> None:
    said = rf"running already \(process {os.getpid()}\)"
    with only_one(tmp_path), pytest.raises(NotPossible, match=said), only_one(tmp_path):
        pass
    with only_one(tmp_path):
        pass


def test_a_port_of_another_program_is_said(tmp_path: Path) -> None:
    with socket.create_server(("127.0.0.1", 0)) as other:
        port = other.getsockname()[1]
        with pytest.raises(NotPossible, match=rf"port {port} .*`HEADRACE_WEB_PORT=\d+ make up"):
            check_ports(tmp_path, [Wanted("web", port, "HEADRACE_WEB_PORT")])


def test_a_port_our_own_process_holds_is_fine(tmp_path: Path) -> None:
    port = ports.free()
    child = process.start("web", [sys.executable, "-c", LISTEN.format(port)], tmp_path)
    assert process.wait_until(lambda: ports.taken(port), child, 120)

    check_ports(tmp_path, [Wanted("web", port, "HEADRACE_WEB_PORT")])

    child.stop(5)
