"""A server of the user's own that does not answer: one sentence that names its variable."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest
from pytest_django import Settings

from tests.isolation import ROOT
from workers.embedded import ports
from workers.up import servers
from workers.up.machine import NotPossible


@pytest.fixture(autouse=True)
def hasty(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(servers, "ANSWER_SECONDS", 1)


def test_a_dead_kafka(settings: Settings) -> None:
    settings.KAFKA_BOOTSTRAP_SERVERS = where = f"127.0.0.1:{ports.free()}"
    with pytest.raises(NotPossible, match=rf"Kafka at {where} .* correct KAFKA_BOOTSTRAP_SERVERS"):
        servers.check_kafka()


@pytest.mark.parametrize("url", ["redis://:secret@127.0.0.1:{port}/0", "nonsense"])
def test_a_dead_redis(settings: Settings, url: str) -> None:
    settings.REDIS_URL = url.format(port=ports.free())
    with pytest.raises(NotPossible, match=r"the Redis at .* correct REDIS_URL") as raised:
        servers.check_redis()
    assert "secret" not in str(raised.value)


def test_servers_that_answer(settings: Settings, redis_url: str) -> None:
    settings.REDIS_URL = redis_url
    servers.check_redis()


@pytest.mark.parametrize("command", ["up", "prepare"])
def test_a_dead_database(tmp_path: Path, command: str) -> None:
    url = f"postgres://someone:secret@127.0.0.1:{ports.free()}/headrace"
    said = refused(command, tmp_path, url)
    assert "the database at 127.0.0.1:" in said
    assert "correct DATABASE_URL" in said


@pytest.mark.parametrize("url", ["secret", "nosql://secret@host", "postgres://a:secret@b:port/c"])
def test_a_url_of_no_database(tmp_path: Path, url: str) -> None:
    assert "DATABASE_URL is no database's URL" in refused("prepare", tmp_path, url)


def refused(command: str, home: Path, url: str) -> str:
    """What the command says instead of starting."""
    ours = ("HEADRACE_WEB_PORT", "HEADRACE_KAFKA_PORT", "HEADRACE_REDIS_PORT")
    done = subprocess.run(
        [sys.executable, str(ROOT / "manage.py"), command],
        env={
            **os.environ,
            **{name: str(ports.free()) for name in ours},
            "HEADRACE_HOME": str(home),
            "DATABASE_URL": url,
        },
        capture_output=True,
        text=True,
        check=False,
        timeout=240,
    )
    assert done.returncode == 1
    assert "Traceback" not in done.stderr and "secret" not in done.stderr
    return done.stderr
