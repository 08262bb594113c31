"""Where the sockets of Python workers lie, and that dead ones go."""

from __future__ import annotations

import contextlib
import os
import socket
import tempfile
import time
from pathlib import Path

import pytest

from headrace.runtime import worker_sockets


def test_the_folder_is_for_its_owner_only(tmp_path: Path) -> None:
    folder = worker_sockets.own_folder(tmp_path)
    assert folder is not None
    assert folder.stat().st_mode & 0o777 == 0o700
    assert worker_sockets.own_folder(tmp_path) == folder


def test_a_folder_that_others_may_enter_is_not_used(tmp_path: Path) -> None:
    (tmp_path / f"headrace-{os.getuid()}").mkdir(mode=0o755)
    assert worker_sockets.own_folder(tmp_path) is None


def test_a_link_to_a_folder_is_not_used(tmp_path: Path) -> None:
    (tmp_path / "elsewhere").mkdir(mode=0o700)
    (tmp_path / f"headrace-{os.getuid()}").symlink_to(tmp_path / "elsewhere")
    assert worker_sockets.own_folder(tmp_path) is None


def test_a_path_that_is_too_long_for_sockets_is_not_used(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path / ("long" * 15)))
    Path(tempfile.gettempdir()).mkdir()
    assert worker_sockets.settings() == {}


def test_sockets_that_nobody_listens_to_go(tmp_path: Path) -> None:
    with socket.socket(socket.AF_UNIX) as alive, socket.socket(socket.AF_UNIX) as new:
        for name, each in (("alive", alive), ("new", new)):
            each.bind(str(tmp_path / f".{name}.sock"))
        alive.listen(1)
        with socket.socket(socket.AF_UNIX) as dead:
            dead.bind(str(tmp_path / ".dead.sock"))
        long_ago = time.time() - worker_sockets.DEAD_SECONDS - 1
        for name in ("alive", "dead"):
            os.utime(tmp_path / f".{name}.sock", (long_ago, long_ago))

        worker_sockets.drop_dead(tmp_path)

        assert sorted(path.name for path in tmp_path.iterdir()) == [".alive.sock", ".new.sock"]


def test_a_socket_that_nobody_accepts_from_is_not_waited_for(tmp_path: Path) -> None:
    path = tmp_path / ".busy.sock"
    with contextlib.ExitStack() as sockets, socket.socket(socket.AF_UNIX) as alive:
        alive.bind(str(path))
        alive.listen(0)
        code = 0
        while code == 0:  # until its backlog is full
            client = sockets.enter_context(socket.socket(socket.AF_UNIX))
            client.setblocking(False)
            code = client.connect_ex(str(path))
        long_ago = time.time() - worker_sockets.DEAD_SECONDS - 1
        os.utime(path, (long_ago, long_ago))
        worker_sockets.drop_dead(tmp_path)
        assert path.exists()
