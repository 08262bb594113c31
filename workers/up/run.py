"""The course of one `up`: start, summary, watch, shutdown."""

from __future__ import annotations

import contextlib
import signal
import threading
import time
import urllib.error
import urllib.request
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from types import FrameType

from django.conf import settings
from django.core.management import call_command
from django.db import Error, close_old_connections

from jobs import actions
from jobs.models import TaskManager
from jobs.states import TaskManagerState
from workers.embedded import jars, process
from workers.embedded.process import Child
from workers.up import account, example, machine, servers, services, shutdown, summary
from workers.up.machine import NotPossible, Wanted
from workers.up.terminal import Step, Terminal
from workers.up.watch import Service, Watch

WATCH_SECONDS = 0.5
READY_SECONDS = 60.0
RESUME_ATTEMPTS = 10


class Interrupted(BaseException):
    """Asked to end while still starting."""


class Up:
    """One run. `speed` is the replay's; `with_example` False leaves topics and job alone."""

    def __init__(self, terminal: Terminal, speed: float | None, with_example: bool) -> None:
        self._terminal = terminal
        self._speed, self._with_example = speed, with_example
        self._home: Path = settings.HEADRACE_HOME
        self._watch = Watch(terminal.note)
        self._starting = True
        self._signals = 0
        self._deferring = False
        self._ending = threading.Event()

    def run(self) -> None:
        """Returns when everything has stopped. Raises NotPossible when it cannot start."""
        with machine.only_one(self._home), self._ears():
            try:
                machine.check_ports(self._home, self._ports())
                servers.check()
                self._course()
            except Interrupted:
                self._terminal.say()

    def _course(self) -> None:
        try:
            self._start()
            self._starting = False
            self._stay()
        except Interrupted:
            self._terminal.say()
        except Error as error:
            raise servers.database_failed(error) from error
        finally:
            self._starting = False
            shutdown.stop(self._watch, self._terminal, lambda: self._signals > 1)

    # --- start ---------------------------------------------------------------------------------

    def _start(self) -> None:
        """1. Jars and database. 2. Servers. 3. Our processes. 4. The example."""
        if left := services.left_over():
            with self._terminal.step("Left over") as step:
                step.detail = f"{len(left)} processes of a start that was killed"
                services.end(left)
        with self._beside() as beside:
            fetched = beside.submit(self._jars)
            with self._terminal.step("Database") as step:
                call_command("migrate", verbosity=0, interactive=False)
                password = account.ensure(self._home)
                step.detail = _database()
            fetched.result()
            kafka_starts = beside.submit(self._kafka)
            self._redis()
            children = self._own_processes()
            kafka_starts.result()
        self._resume_jobs()
        rows = self._example() if self._with_example else []
        self._wait_for(children)
        self._summarize(password, rows)

    @contextlib.contextmanager
    def _beside(self) -> Iterator[ThreadPoolExecutor]:
        """A thread for what starts meanwhile. When the start fails or is interrupted, nothing new
        begins there, and downloads are given up."""
        with ThreadPoolExecutor(1) as pool:
            try:
                yield pool
            except BaseException:
                self._ending.set()
                pool.shutdown(wait=False, cancel_futures=True)
                raise

    def _resume_jobs(self) -> None:
        """The jobs that the last `up` suspended; one that changes this moment is asked again."""
        for _ in range(RESUME_ATTEMPTS):
            try:
                actions.resume_all()
                return
            except actions.Conflict as error:
                conflict = error
                time.sleep(WATCH_SECONDS)
        self._terminal.note(f"not every job goes on: {conflict}; resume it on its page")

    def _jars(self) -> None:
        with self._terminal.step("Java libraries") as step:
            for jar_set in jars.SETS:
                jars.resolve(jar_set, settings.HEADRACE_JARS, _progress(step), self._ending)
            step.detail = "verified"

    def _kafka(self) -> None:
        with self._terminal.step("Kafka") as step:
            step.detail = settings.KAFKA_BOOTSTRAP_SERVERS
            if settings.HEADRACE_EMBEDS_KAFKA:
                self._watch.start(services.kafka_broker())
            if self._with_example:
                example.ensure_topics()

    def _redis(self) -> None:
        if settings.HEADRACE_EMBEDS_REDIS:
            self._begin(services.redis_server())

    def _own_processes(self) -> list[Child]:
        wanted = [services.web(), services.jobmanager(), services.taskmanager()]
        return [self._begin(service) for service in wanted]

    def _begin(self, service: Service) -> Child:
        """Start and watch it; a signal meanwhile is obeyed when what has started can be stopped."""
        self._deferring = True
        try:
            return self._watch.start(service)
        finally:
            self._deferring = False
            self._obey()

    def _wait_for(self, children: list[Child]) -> None:
        web, _, taskmanager = children
        with self._terminal.step("Web") as step:
            step.detail = _url()
            self._ready(web, _web_answers)
        with self._terminal.step("TaskManager") as step:
            step.detail = f"{settings.HEADRACE_SLOTS} slots"
            self._ready(taskmanager, lambda: _registered(taskmanager.pid))

    def _ready(self, child: Child, check: Callable[[], bool]) -> None:
        if not process.wait_until(check, child, READY_SECONDS):
            raise NotPossible(
                f"{child.name} did not start; what ran before is untouched. Its log, "
                f"{self._home / 'logs' / child.name}.log, ends with:\n"
                f"{process.log_tail(child.name, self._home, lines=15)}"
            )

    def _example(self) -> list[tuple[str, str, str]]:
        self._begin(services.replay(self._speed))
        job, submitted = example.ensure_job()
        return [
            ("replay", "flights of 2013", "→ topic flights"),
            ("example job", job.name, example.how_it_is(job, submitted)),
        ]

    def _summarize(self, password: str, example_rows: list[tuple[str, str, str]]) -> None:
        rows = [
            ("web, REST", _url(), "/api/ for programs, /admin/ for tables"),
            ("Kafka", settings.KAFKA_BOOTSTRAP_SERVERS, _where(settings.HEADRACE_EMBEDS_KAFKA)),
            ("Redis", summary.address(settings.REDIS_URL), _where(settings.HEADRACE_EMBEDS_REDIS)),
            ("database", _database(), ""),
            ("TaskManager", services.TASKMANAGER, f"{settings.HEADRACE_SLOTS} slots"),
            ("Spark", settings.SPARK_MASTER or "local", "one application per job"),
            *example_rows,
            ("state, logs", str(self._home), ""),
        ]
        login = f"  Open {_url()}    login {account.NAME}, password {password}"
        self._terminal.say("\n" + summary.boxed(["", summary.table(rows), "", login, ""]))
        self._terminal.say("Ctrl-C stops everything; the next `make up` goes on from there.\n")

    # --- watch ---------------------------------------------------------------------------------

    def _stay(self) -> None:
        while not self._ending.wait(WATCH_SECONDS):
            self._watch.tick()
        close_old_connections()
        self._terminal.say("\nStopping.")

    @contextlib.contextmanager
    def _ears(self) -> Iterator[None]:
        numbers = (signal.SIGINT, signal.SIGTERM, signal.SIGHUP)
        before = {number: signal.signal(number, self._hear) for number in numbers}
        try:
            yield
        finally:
            for number, handler in before.items():
                signal.signal(number, handler)

    def _hear(self, _number: int, _frame: FrameType | None) -> None:
        self._signals += 1
        self._ending.set()
        if not self._deferring:
            self._obey()

    def _obey(self) -> None:
        if self._signals and self._starting:
            self._starting = False
            raise Interrupted

    def _ports(self) -> list[Wanted]:
        wanted = [Wanted("web", settings.HEADRACE_WEB_PORT, "HEADRACE_WEB_PORT")]
        if settings.HEADRACE_EMBEDS_KAFKA:
            wanted.append(Wanted("kafka", settings.HEADRACE_KAFKA_PORT, "HEADRACE_KAFKA_PORT"))
        if settings.HEADRACE_EMBEDS_REDIS:
            wanted.append(Wanted("redis", settings.HEADRACE_REDIS_PORT, "HEADRACE_REDIS_PORT"))
        return wanted


def _progress(step: Step) -> jars.Progress:
    def progress(done: int, total: int, name: str) -> None:
        step.detail = f"{done} of {total} fetched"

    return progress


def _url() -> str:
    host = settings.HEADRACE_WEB_HOST
    shown = "127.0.0.1" if host in ("0.0.0.0", "") else f"[{host}]" if ":" in host else host
    return f"http://{shown}:{settings.HEADRACE_WEB_PORT}/"


def _web_answers() -> bool:
    try:
        with urllib.request.urlopen(f"{_url()}login/", timeout=5) as answer:
            return bool(answer.status == 200)
    except (urllib.error.URLError, OSError):
        return False


def _registered(pid: int) -> bool:
    return TaskManager.objects.filter(pid=pid, state=TaskManagerState.REGISTERED).exists()


def _database() -> str:
    database = settings.DATABASES["default"]
    if str(database["ENGINE"]).endswith("sqlite3"):
        return "SQLite"
    return f"{database['ENGINE'].rpartition('.')[2]} at {database.get('HOST') or 'localhost'}"


def _where(embedded: bool) -> str:
    return "embedded" if embedded else "your server"
