"""Flink's own dashboard before this server: every page of it opens without an error of a script
or of HTTP, and its buttons work."""

# ruff: noqa: F401, F811  fixtures are found by the names they are imported under

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path

import pytest
from django.conf import settings
from django.contrib.auth.models import User
from playwright.sync_api import Browser, ConsoleMessage, Page, Response, expect

from headrace.wire import rundir
from jobs.models import Event, Job, TaskManager
from jobs.states import JobState
from tests import flink_dashboard
from tests.browser.conftest import Web, open_context
from tests.service.flink.conftest import (
    KEYED,
    SOURCE,
    answer_threads,
    job,
    late,
    new_job,
    now,
)

VERTEX_TABS = (
    *("detail", "subtasks", "taskmanagers", "watermarks", "accumulators", "backpressure"),
    *("metrics", "flamegraph"),
)
JOB_TABS = ("dataskew", "timeline", "exceptions", "checkpoints", "configuration", "rescales")
PROGRAM = b"""
import sys
from headrace.datastream import StreamExecutionEnvironment
env = StreamExecutionEnvironment.get_execution_environment()
env.from_collection([1]).name(f"numbers {sys.argv[1]}").print()
env.execute("from the dashboard")
"""


@dataclass
class Dashboard:
    """A page of it, and what went wrong there."""

    page: Page
    url: str
    errors: list[str] = field(default_factory=list)

    def watch(self) -> None:
        self.page.on("pageerror", lambda error: self.errors.append(f"script: {error}"))
        self.page.on("console", self._console)
        self.page.on("response", self._response)
        self.page.on("requestfailed", lambda r: self.errors.append(f"failed: {r.url} {r.failure}"))

    def _console(self, message: ConsoleMessage) -> None:
        if message.type == "error":
            self.errors.append(f"console: {message.text}")

    def _response(self, response: Response) -> None:
        if response.status >= 400:
            self.errors.append(f"{response.status} {response.request.method} {response.url}")

    def open(self, path: str, text: str) -> None:
        """The page once it shows the text and asks for nothing any more."""
        self.page.goto(f"{self.url}/flink/#/{path}")
        expect(self.page.get_by_text(text).first).to_be_visible()
        self.page.wait_for_load_state("networkidle")
        assert self.errors == [], path


@pytest.fixture(scope="module")
def shared_flink_web(
    django_db_setup: None, tmp_path_factory: pytest.TempPathFactory
) -> Iterator[Web]:
    web = Web(tmp_path_factory.mktemp("flink-web") / "web.log")
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("HEADRACE_FLINK_DASHBOARD", str(flink_dashboard.jar()))
        web.start()
    yield web
    web.kill()


@pytest.fixture
def dashboard(
    transactional_db: None, chromium: Browser, shared_flink_web: Web, alice: User
) -> Iterator[Dashboard]:
    context = open_context(
        chromium, shared_flink_web, alice, viewport={"width": 1600, "height": 1000}
    )
    dashboard = Dashboard(context.new_page(), shared_flink_web.url)
    dashboard.watch()
    yield dashboard
    context.close()


@pytest.fixture
def logs(job: Job, tmp_path: Path) -> None:
    settings.HEADRACE_LOGS.mkdir(exist_ok=True)
    for name in ("jobmanager.log", "taskmanager-tm-1.log"):
        (settings.HEADRACE_LOGS / name).write_text(f"the log of {name}\n")
    (tmp_path / rundir.LOG).write_text("printed by the program\n")
    job.attempts.update(run_dir=str(tmp_path))
    TaskManager.objects.update(vitals={"Status.JVM.Memory.Heap.Used": 1000})
    answer_threads(TaskManager.objects.get())


def test_every_page_opens(
    dashboard: Dashboard,
    job: Job,
    late: Event,
    logs: None,
    alice: User,
) -> None:
    new_job(alice, "done", state=JobState.FINISHED, ended_at=job.created_at)
    for path, text in (
        ("overview", "SingleJobApplication(orders)"),
        ("job/running", "orders"),
        ("job/completed", "done"),
        (f"job/running/{job.pk}/overview", "counted"),
    ):
        dashboard.open(path, text)
    for tab in JOB_TABS:
        dashboard.open(f"job/running/{job.pk}/{tab}", "orders")
    for tab in VERTEX_TABS:
        for vertex in (SOURCE, KEYED):
            dashboard.open(f"job/running/{job.pk}/overview/{vertex.id}/{tab}", "orders")
