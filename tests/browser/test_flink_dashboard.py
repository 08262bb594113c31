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
from playwright.sync_api import Browser, ConsoleMessage, Page, Request, Response, expect

from headrace.wire import rundir
from jobs.models import Event, Job, TaskManager
from jobs.states import JobState
from tests import flink_dashboard
from tests.browser.conftest import Web, open_context
from tests.service import pages
from tests.service.flink.conftest import (
    KEYED,
    PLAN,
    SOURCE,
    answer_threads,
    job,
    late,
    now,
)

VERTEX_TABS = (
    *("detail", "subtasks", "taskmanagers", "watermarks", "accumulators", "backpressure"),
    *("metrics", "flamegraph"),
)
JOB_TABS = ("dataskew", "timeline", "exceptions", "checkpoints", "configuration", "rescales")
#: Pages with a graph or an editor: it goes on to move for a moment, and Flink's script fails where
#: one of its own pages takes its place meanwhile.
SLOW_TO_LEAVE = ("overview", "logs", "stdout", ".log", "thread-dump", "flamegraph", "submit")
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
        self.page.on("requestfailed", self._failed)

    def _console(self, message: ConsoleMessage) -> None:
        if message.type == "error":
            self.errors.append(f"console: {message.text}")

    def _failed(self, request: Request) -> None:
        if request.failure != "net::ERR_ABORTED":  # the page was left meanwhile
            self.errors.append(f"{request.failure} {request.url}")

    def _response(self, response: Response) -> None:
        if response.status >= 400:
            self.errors.append(f"{response.status} {response.request.method} {response.url}")

    def open(self, path: str, text: str) -> None:
        """The page once it shows the text and asks for nothing any more."""
        self.page.goto(f"{self.url}/flink/#/{path}")
        expect(self.page.get_by_text(text).first).to_be_visible()
        self.page.wait_for_load_state("networkidle")
        assert self.errors == [], path
        if path.endswith(SLOW_TO_LEAVE):
            self.page.goto("about:blank")


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
    done = pages.make_job("done", JobState.FINISHED, ended_at=job.created_at)
    vertices = [f"overview/{SOURCE.id}/{tab}" for tab in VERTEX_TABS]
    vertices += [f"overview/{KEYED.id}/{tab}" for tab in ("watermarks", "flamegraph")]
    running = [f"job/running/{job.pk}/{tab}" for tab in (*JOB_TABS, *vertices)]
    for path, text in (
        ("overview", "SingleJobApplication(orders)"),
        (f"application/running/{job.pk}/overview", "orders"),
        (f"application/running/{job.pk}/exceptions", "boom"),
        ("job/running", "orders"),
        ("job/completed", "done"),
        (f"job/running/{job.pk}/overview", "counted"),
        *((path, "orders") for path in running),
        (f"job/completed/{done.pk}/overview", "done"),
        (f"job/completed/{done.pk}/exceptions", "done"),
        ("task-manager", "tm-1"),
        ("task-manager/tm-1/metrics", "tm-1"),
        ("task-manager/tm-1/logs", "the log of taskmanager-tm-1.log"),
        ("task-manager/tm-1/stdout", "printed by the program"),
        ("task-manager/tm-1/log-list", "taskmanager-tm-1.log"),
        ("task-manager/tm-1/log-list/taskmanager-tm-1.log", "the log of taskmanager"),
        ("task-manager/tm-1/thread-dump", "main.py:1"),
        ("task-manager/tm-1/profiler", "tm-1"),
        ("job-manager/metrics", "Metrics"),
        ("job-manager/config", "taskmanager.numberOfTaskSlots"),
        ("job-manager/logs", "the log of jobmanager.log"),
        ("job-manager/stdout", "Stdout"),
        ("job-manager/log", "jobmanager.log"),
        ("job-manager/log/jobmanager.log", "the log of jobmanager.log"),
        ("job-manager/thread-dump", "Thread Dump"),
        ("job-manager/profiler", "Profiler"),
        ("submit", "Add New"),
    ):
        dashboard.open(path, text)


def test_a_program_is_uploaded_planned_run_and_cancelled(dashboard: Dashboard) -> None:
    page = dashboard.page
    dashboard.page.goto(f"{dashboard.url}/flink/#/submit")
    page.locator("input[type=file]").set_input_files(
        {"name": "numbers.py", "mimeType": "text/x-python", "buffer": PROGRAM}
    )
    page.get_by_text("numbers.py").first.click()
    page.get_by_placeholder("Program Arguments").fill("'a b'")
    page.get_by_role("button", name="Show Plan").click()
    expect(page.get_by_text("numbers a b").first).to_be_visible()
    page.keyboard.press("Escape")
    page.get_by_role("button", name="Submit", exact=True).click()
    page.wait_for_url("**/#/job/running/**")
    job = Job.objects.get()
    assert (job.arguments, job.name) == (["a b"], "numbers")

    Job.objects.update(state=JobState.RUNNING, plan=PLAN)  # as a JobManager would
    page.get_by_text("Cancel Job", exact=True).click()
    with page.expect_response("**/yarn-cancel") as answer:
        page.get_by_role("button", name="Yes").click()
    assert answer.value.status == 202
    job.refresh_from_db()
    assert job.wanted == "canceled"
    assert dashboard.errors == []


def test_who_may_only_look_has_no_buttons(
    chromium: Browser, shared_flink_web: Web, job: Job
) -> None:
    viewer = User.objects.create_user("victor")
    context = open_context(chromium, shared_flink_web, viewer)
    dashboard = Dashboard(context.new_page(), shared_flink_web.url)
    dashboard.watch()
    dashboard.open(f"job/running/{job.pk}/timeline", "orders")
    expect(dashboard.page.get_by_text("Cancel Job")).to_have_count(0)
    expect(dashboard.page.get_by_text("Submit New Job")).to_have_count(0)
    context.close()
