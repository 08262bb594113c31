"""A real browser before a real web process; the database is filled through the models."""

from __future__ import annotations

import os
import shutil
import signal
import subprocess
import sys
import time
import urllib.error
import urllib.request
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path

import pytest
from django.conf import settings
from django.contrib.auth.models import User
from django.db import connection
from django.test import Client
from playwright.sync_api import (
    Browser,
    BrowserContext,
    ConsoleMessage,
    Page,
    Request,
    expect,
    sync_playwright,
)

from workers.embedded import ports

ROOT = Path(__file__).parents[2]
ARGUMENTS = [
    *("--headless", "--no-sandbox", "--disable-gpu", "--disable-quic", "--no-first-run"),
    *("--disable-background-networking", "--disable-component-update", "--disable-sync"),
]
# What a busy machine needs; a test that holds does not wait for it.
expect.set_options(timeout=60_000)


@dataclass
class Web:
    """The web process, on a port of its own; it can be killed and started again."""

    log: Path
    port: int = field(default_factory=ports.free)
    process: subprocess.Popen[bytes] | None = None

    @property
    def url(self) -> str:
        return f"http://127.0.0.1:{self.port}"

    def start(self) -> None:
        command = [
            *(sys.executable, "-m", "uvicorn", "config.asgi:application"),
            *("--port", str(self.port), "--timeout-graceful-shutdown", "1"),
        ]
        environment = {
            **os.environ,
            "PYTHONPATH": os.pathsep.join((str(ROOT), str(ROOT / "platform"))),
            "DJANGO_SETTINGS_MODULE": "config.settings",
            "DATABASE_URL": f"sqlite:///{connection.settings_dict['NAME']}",
        }
        with self.log.open("ab") as log:
            self.process = subprocess.Popen(
                command, stdout=log, stderr=log, env=environment, start_new_session=True
            )
        self._await_answer()

    def _await_answer(self) -> None:
        deadline = time.monotonic() + 180
        while True:
            try:
                urllib.request.urlopen(f"{self.url}/login/", timeout=5).close()
                return
            except (urllib.error.URLError, OSError):
                if time.monotonic() > deadline:
                    pytest.fail(f"the web process does not answer:\n{self.log.read_text()[-3000:]}")
                time.sleep(0.1)

    def kill(self) -> None:
        if self.process is not None:
            self.process.send_signal(signal.SIGKILL)
            self.process.wait(60)
            self.process = None


@pytest.fixture(scope="package")
def chromium() -> Iterator[Browser]:
    """Ends with this folder: Playwright keeps an event loop running in the tests' thread, beside
    which the ORM may be used when it is told so, and other tests cannot run one of their own."""
    os.environ["DJANGO_ALLOW_ASYNC_UNSAFE"] = "1"
    path = shutil.which("chromium") or "/usr/bin/chromium"
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=path, args=ARGUMENTS)
        yield browser
        browser.close()
    del os.environ["DJANGO_ALLOW_ASYNC_UNSAFE"]


@pytest.fixture(scope="package")
def shared_web(django_db_setup: None, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Web]:
    web = Web(tmp_path_factory.mktemp("web") / "web.log")
    web.start()
    yield web
    web.kill()


@pytest.fixture
def web(transactional_db: None, shared_web: Web) -> Web:
    """The web process that all tests share, before an empty database."""
    return shared_web


@pytest.fixture
def own_web(transactional_db: None, tmp_path: Path) -> Iterator[Web]:
    """A web process that the test may kill."""
    web = Web(tmp_path / "web.log")
    web.start()
    yield web
    web.kill()


@pytest.fixture
def alice(transactional_db: None) -> User:
    """May do everything."""
    return User.objects.create_superuser("alice", password="alice-password")


@dataclass
class Watched:
    """What went wrong in the browser meanwhile; a test may take out what it expects."""

    errors: list[str] = field(default_factory=list)
    requests: list[str] = field(default_factory=list)

    def watch(self, page: Page) -> None:
        page.on("pageerror", lambda error: self.errors.append(f"script error: {error}"))
        page.on("console", self._console)
        page.on("request", self._request)

    def _console(self, message: ConsoleMessage) -> None:
        if message.type in ("error", "warning"):
            where = message.location["url"]
            self.errors.append(f"console {message.type}: {message.text} {where}")

    def _request(self, request: Request) -> None:
        self.requests.append(request.url)


@pytest.fixture
def watched(web: Web) -> Iterator[Watched]:
    """Fails the test on any script error, complaint of the browser, or request elsewhere."""
    watched = Watched()
    yield watched
    elsewhere = [url for url in watched.requests if not url.startswith((web.url, "data:"))]
    assert watched.errors == []
    assert elsewhere == []


def open_context(browser: Browser, web: Web, user: User, **options: object) -> BrowserContext:
    """A browser window in which `user` is logged in."""
    client = Client()
    client.force_login(user)
    context = browser.new_context(base_url=web.url, **options)  # type: ignore[arg-type]
    name = settings.SESSION_COOKIE_NAME
    context.add_cookies([{"name": name, "value": client.cookies[name].value, "url": web.url}])
    return context


@pytest.fixture
def page(chromium: Browser, web: Web, alice: User, watched: Watched) -> Iterator[Page]:
    context = open_context(chromium, web, alice, viewport={"width": 1600, "height": 900})
    page = context.new_page()
    watched.watch(page)
    yield page
    context.close()
