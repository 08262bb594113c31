"""/flink/: the files of Flink's own dashboard, where they are set up, for who is logged in."""

from __future__ import annotations

import zipfile
from pathlib import Path

import pytest
from django.contrib.auth.models import User
from django.test import Client
from pytest_django import Settings

pytestmark = pytest.mark.django_db


@pytest.fixture(params=["jar", "folder"])
def files(request: pytest.FixtureRequest, tmp_path: Path, settings: Settings) -> Path:
    content = {"index.html": "<flink-root>", "main.js": "1", "assets/a.css": "b"}
    (tmp_path / "secret.txt").write_text("hush")
    source = tmp_path / str(request.param)
    if request.param == "folder":
        for name, text in content.items():
            (source / name).parent.mkdir(parents=True, exist_ok=True)
            (source / name).write_text(text)
        (source / "link.txt").symlink_to(tmp_path / "secret.txt")
    else:
        with zipfile.ZipFile(source, "w") as jar:
            jar.writestr("META-INF/NOTICE", "x")
            for name, text in content.items():
                jar.writestr(f"web/{name}", text)
    settings.HEADRACE_FLINK_DASHBOARD = str(source)
    return source


@pytest.fixture
def client(alice: User) -> Client:
    client = Client()
    client.force_login(alice)
    return client


def test_its_files_are_served(client: Client, files: Path) -> None:
    kinds = {"": "text/html", "index.html": "text/html", "main.js": "javascript"}
    for path, kind in {**kinds, "assets/a.css": "text/css"}.items():
        answer = client.get(f"/flink/{path}")
        assert answer.status_code == 200, path
        assert kind in answer["Content-Type"]
        assert "default-src 'self'" in answer["Content-Security-Policy"]
    assert client.get("/flink/config").json()["flink-version"]  # beside what it asks
    assert client.get("/flink", follow=True).content == b"<flink-root>"


@pytest.mark.parametrize(
    "path", ["nope.js", "../secret.txt", "..%2Fsecret.txt", "link.txt", "/etc/passwd", "assets"]
)
def test_nothing_else_is_served(client: Client, files: Path, path: str) -> None:
    answer = client.get(f"/flink/{path}")
    assert answer.status_code == 404
    assert b"hush" not in answer.content


def test_it_needs_a_login(files: Path) -> None:
    answer = Client().get("/flink/")
    assert (answer.status_code, answer["Location"]) == (302, "/login/?next=/flink/")
    assert Client().get("/flink/main.js").status_code == 401
    assert Client().get("/flink/config").status_code == 401


def test_where_it_is_not_set_up_that_is_said(client: Client) -> None:
    answer = client.get("/flink/")
    assert answer.status_code == 404
    assert "HEADRACE_FLINK_DASHBOARD" in answer.json()["errors"][0]
