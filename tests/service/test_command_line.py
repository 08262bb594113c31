"""The real command before a real web process, JobManager and TaskManager."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import urllib.error
import urllib.request
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest
from django.contrib.auth.models import User
from django.utils import timezone

from headrace.cli.exits import Exit
from jobs import tokens
from jobs.models import Job, Schedule
from jobs.states import JobState
from tests.service.conftest import PROGRAM, ROOT, Cluster
from workers.embedded import ports

NOBODY = "0" * 32
#: `headrace`, where control-C counts: what runs the tests may ignore it, and a child would, too.
COMMAND = """
import signal, sys
from headrace.cli.__main__ import main
signal.signal(signal.SIGINT, signal.default_int_handler)
sys.exit(main())
"""


@pytest.fixture(scope="module")
def url(shared: Cluster) -> Iterator[str]:
    """Of a web process; it is ended with the others of the cluster."""
    port = ports.free()
    command = [sys.executable, "-m", "uvicorn", "config.asgi:application", "--port", str(port)]
    path = os.pathsep.join((str(ROOT), str(ROOT / "platform")))
    with (shared.logs / "web.log").open("ab") as log:
        process = subprocess.Popen(
            [*command, "--timeout-graceful-shutdown", "1"],
            stdout=log,
            stderr=log,
            env={**shared.variables, "PYTHONPATH": path},
            start_new_session=True,
        )
    found = f"http://127.0.0.1:{port}"
    shared.until(lambda: _answers(found))
    yield found
    process.terminate()
    process.wait(120)


def _answers(url: str) -> bool:
    try:
        urllib.request.urlopen(f"{url}/login/", timeout=5).close()
    except (urllib.error.URLError, OSError):
        return False
    return True


@dataclass
class Shell:
    """Where alice types; `program` is a file of hers."""

    variables: dict[str, str]
    program: Path

    def start(self, *tokens: str) -> subprocess.Popen[str]:
        return subprocess.Popen(
            [sys.executable, "-c", COMMAND, *tokens],
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
            env=self.variables,
            start_new_session=True,
        )

    def run(self, *tokens: str, code: Exit = Exit.DONE) -> str:
        """What it says on stdout, or, of a command that fails, on stderr."""
        process = self.start(*tokens)
        out, err = process.communicate(timeout=400)
        assert process.returncode == code, f"{process.returncode}\n{out}\n{err}"
        assert "Traceback" not in err
        return err if code else out

    def json(self, *tokens: str) -> dict[str, Any]:
        found: dict[str, Any] = json.loads(self.run(tokens[0], "--json", *tokens[1:]))
        return found


@pytest.fixture
def shell(running: Cluster, url: str, alice: User, tmp_path: Path) -> Shell:
    program = tmp_path / "flights.py"
    program.write_bytes(PROGRAM)
    variables = {
        **os.environ,
        "PYTHONPATH": os.pathsep.join((str(ROOT), str(ROOT / "platform"))),
        "HEADRACE_URL": url,
        "HEADRACE_TOKEN": tokens.create(alice, "test")[1],
        "HEADRACE_CONFIG": str(tmp_path / "none"),
    }
    return Shell(variables, program)


def submitted(shell: Shell, *arguments: str) -> Job:
    """A detached job."""
    said = shell.run("run", "-d", str(shell.program), *arguments)
    assert said.startswith("Job has been submitted with JobID ")
    return Job.objects.get(pk=said.split()[-1])


def test_submit_list_and_cancel(running: Cluster, shell: Shell) -> None:
    job = submitted(shell)
    running.wait(job, JobState.RUNNING)

    assert f"{job.pk} : flights (RUNNING)" in shell.run("list")
    assert "No scheduled/initializing jobs." in shell.run("list", "-s")
    assert shell.run("cancel", job.pk) == f"Cancelled job {job.pk}.\n"
    job.refresh_from_db()
    assert job.state == JobState.CANCELED
    assert job.pk not in shell.run("list")
    assert shell.json("list", "-a")["jobs"][-1]["state"] == "CANCELED"


def test_attached_until_it_has_finished(shell: Shell) -> None:
    program = [str(shell.program), "--batches", "3"]
    settings = ["-p", "2", "-D", "restart-strategy.type=none", "-D", "pipeline.name=counted"]
    process = shell.start("run", *settings, *program)
    out, err = process.communicate(timeout=400)

    assert process.returncode == Exit.DONE, err
    job = Job.objects.latest("created_at")
    assert (job.name, job.parallelism, job.arguments) == ("counted", 2, ["--batches", "3"])
    assert job.configuration["restart-strategy.type"] == "none"
    assert f"Job with JobID {job.pk} has finished." in out
    assert " FINISHED\n" in err


def test_a_job_that_fails_is_6(shell: Shell) -> None:
    process = shell.start("run", "--json", str(shell.program), "--fail-for-good")
    out, _ = process.communicate(timeout=400)

    assert process.returncode == Exit.JOB_FAILED
    assert json.loads(out)["state"] == "FAILED"


@pytest.mark.parametrize(
    ("option", "state", "words"),
    [([], JobState.RUNNING, "The job goes on."), (["-sae"], JobState.CANCELED, "CANCELED")],
)
def test_an_interrupt(
    running: Cluster, shell: Shell, option: list[str], state: JobState, words: str
) -> None:
    process = shell.start("run", *option, str(shell.program))
    assert process.stderr is not None
    said = ""
    while "RUNNING" not in said:
        said = process.stderr.readline()
        assert said, "it ended"
    process.send_signal(signal.SIGINT)
    _, err = process.communicate(timeout=400)

    assert process.returncode == Exit.INTERRUPTED
    assert words in err
    running.wait(Job.objects.latest("created_at"), state)


def test_suspend_resume_restart(running: Cluster, shell: Shell) -> None:
    job = submitted(shell)
    running.wait(job, JobState.RUNNING)

    assert shell.json("suspend", job.pk)["state"] == "SUSPENDED"
    assert shell.json("resume", job.pk)["state"] == "RUNNING"
    assert shell.run("restart", job.pk) == f"Restarted job {job.pk}.\n"
    job.refresh_from_db()
    assert job.current_attempt == 3


def test_logs_go_on_to_the_end(running: Cluster, shell: Shell) -> None:
    job = submitted(shell, "--pause", "0.2")
    running.wait(job, JobState.RUNNING)
    following = shell.start("logs", "-f", job.pk)
    assert following.stdout is not None
    assert "fake driver of flights, attempt 1" in following.stdout.readline()

    shell.run("restart", job.pk)
    shell.run("cancel", job.pk)
    out, err = following.communicate(timeout=400)
    assert following.returncode == Exit.DONE, err
    assert "fake driver of flights, attempt 2" in out
    assert "attempt 2" in shell.run("logs", job.pk)
    assert shell.json("logs", job.pk, "--attempt", "1")["attempt"] == 1


def test_checkpoints(running: Cluster, shell: Shell) -> None:
    job = submitted(shell, "--batches", "5")
    running.wait(job, JobState.FINISHED)

    rows = shell.json("checkpoints", "-n", "2", job.pk)["checkpoints"]
    assert [row["checkpoint_id"] for row in rows] == [5, 4]
    assert len(shell.run("checkpoints", job.pk).splitlines()) == 6


def test_a_checkpoint_now(running: Cluster, shell: Shell) -> None:
    job = submitted(shell)
    running.wait(job, JobState.RUNNING)
    made = shell.json("checkpoint", job.pk)
    assert made["job"] == job.pk and made["checkpoint"] > 0
    shell.run("cancel", job.pk)
    said = shell.run("checkpoint", job.pk, code=Exit.REFUSED)
    assert "checkpoint failed: the job is canceled" in said


def test_a_job_that_starts_later(running: Cluster, shell: Shell) -> None:
    at = "2999-01-01T06:00:00+01:00"
    said = shell.run("run", "--at", at, "-D", "pipeline.name=later", str(shell.program))
    schedule = said.split()[1].rstrip(":")
    Schedule.objects.filter(pk=schedule).update(next_run_at=timezone.now())  # its time has come
    running.until(lambda: Job.objects.filter(name="later").exists())
    job = running.wait(Job.objects.get(name="later"), JobState.RUNNING)

    runs = shell.json("schedules", "--runs", schedule)["runs"]
    assert [(run["outcome"], run["job"]) for run in runs] == [("started", job.pk)]
    assert f"{schedule} : later (once; next none)" in shell.run("schedules")
    assert "is deleted" in shell.run("schedules", "--delete", schedule)
    cron = ["--cron", "0 6 * * *", "--timeZone", "Europe/Berlin"]
    daily = shell.json("run", *cron, str(shell.program))
    assert shell.json("schedules", "--pause", daily["id"])["next_run_at"] is None
    assert shell.json("schedules", "--resume", daily["id"])["time_zone"] == "Europe/Berlin"
    assert shell.json("schedules", "--delete", daily["id"]) == {"deleted": daily["id"]}
    assert "go with --cron" in shell.run("run", "--grace", "1 h", "x.py", code=Exit.USAGE)
    assert "has passed" in shell.run(
        "run", "--at", "2020-01-01T00:00:00Z", str(shell.program), code=Exit.REFUSED
    )


def test_drain_and_undrain(running: Cluster, shell: Shell) -> None:
    assert "tm on " in shell.run("taskmanagers")
    assert shell.run("drain", "tm") == "TaskManager tm is drained and has no jobs: stop it now.\n"
    assert ": REGISTERED, drained, 0 of 2 slots taken" in shell.run("taskmanagers")
    assert shell.json("undrain", "tm")["drained_at"] is None

    job = submitted(shell)
    running.wait(job, JobState.RUNNING)
    draining = shell.start("drain", "tm")
    assert draining.stderr is not None
    assert "which is drained: " in draining.stderr.readline()  # the job has nowhere to go
    assert "1 of its jobs is to move" in shell.run("drain", "-d", "tm")
    shell.run("undrain", "tm")
    _, err = draining.communicate(timeout=400)
    assert draining.returncode == Exit.REFUSED
    assert "was undrained meanwhile" in err
    shell.run("drain", "no-such", code=Exit.NO_SUCH_JOB)


def test_savepoint_stop_and_a_start_from_there(
    running: Cluster, shell: Shell, tmp_path: Path
) -> None:
    job = submitted(shell)
    running.wait(job, JobState.RUNNING)
    running.until(lambda: job.checkpoints.exists())

    first = shell.json("savepoint", job.pk, str(tmp_path / "savepoints"))["location"]
    assert shell.run("savepoint", "-d", first) == f"Savepoint '{first}' disposed.\n"
    said = shell.run("stop", "-p", str(tmp_path / "savepoints"), job.pk)
    last = said.splitlines()[0].removeprefix("Savepoint completed. Path: ")
    running.wait(job, JobState.FINISHED)
    after = submitted_from(shell, last)
    running.wait(after, JobState.RUNNING)
    assert "is disposed" in shell.run("run", "-s", first, str(shell.program), code=Exit.REFUSED)
    assert "name a savepoint" in shell.run("run", "-n", str(shell.program), code=Exit.USAGE)


def submitted_from(shell: Shell, savepoint: str) -> Job:
    said = shell.run("run", "-d", "-s", savepoint, "-n", "--beside", str(shell.program))
    return Job.objects.get(pk=said.split()[-1])


def test_what_cannot_be_done_says_why(shell: Shell, tmp_path: Path) -> None:
    broken = tmp_path / "broken.py"
    broken.write_text("def broken(:\n")

    assert "SyntaxError" in shell.run("run", str(broken), code=Exit.REFUSED)
    assert "cannot be read" in shell.run("run", "/no/such.py", code=Exit.USAGE)
    for verb in ("cancel", "suspend", "logs", "checkpoints", "checkpoint", "savepoint", "stop"):
        said = shell.run(verb, NOBODY, code=Exit.NO_SUCH_JOB)
        assert said.splitlines()[-1].startswith("headrace: ")
    shell.variables["HEADRACE_TOKEN"] = "wrong"
    assert "the token is not accepted" in shell.run("list", code=Exit.NOT_PERMITTED)
    shell.variables["HEADRACE_URL"] = f"http://127.0.0.1:{ports.free()}"
    assert "nothing answers at" in shell.run("list", code=Exit.UNREACHABLE)


def test_a_plan_without_a_job(shell: Shell, tmp_path: Path) -> None:
    before = Job.objects.count()
    text = tmp_path / "text"
    text.write_text("a b a\n")
    example = str(ROOT / "jobs" / "examples" / "word_count.py")

    plan = shell.json("info", "-p", "2", example, "--file", str(text))
    assert {node["pact"] for node in plan["nodes"]} == {"Data Source", "Operator", "Data Sink"}
    assert Job.objects.count() == before
    shell.program.write_text("raise ValueError('not today')\n")
    failing = shell.start("info", str(shell.program))
    _, err = failing.communicate(timeout=400)
    assert failing.returncode == Exit.REFUSED
    assert "ValueError: not today" in err and "has no plan: see above" in err
