"""Secrets: encrypted in the table, given to drivers of jobs that name them, seen nowhere else."""

from __future__ import annotations

import os
import subprocess
import sys
import threading
import time
from pathlib import Path

import pytest
from cryptography.fernet import Fernet
from django.contrib.auth.models import User
from django.core.management import call_command
from pytest_django import Settings

from headrace.wire import events
from jobs import actions, job_secrets, masking, options, recording
from jobs.models import Attempt, AuditEntry, Job, Secret, Team
from workers import drivers, launcher

pytestmark = pytest.mark.django_db

VALUE = "correct horse battery staple"
PROGRAM = (b"print('x')\n", "job.py")


@pytest.fixture
def team(db: None) -> Team:
    return Team.objects.create(name="payments")


def submit(team: Team | None, names: str) -> Job:
    return actions.submit("paid", PROGRAM, configuration={job_secrets.KEY: names}, team=team)


def test_the_table_holds_no_value(team: Team) -> None:
    job_secrets.keep("DB_PASSWORD", VALUE, team, None)
    row = Secret.objects.get()
    assert all(VALUE not in str(value) for value in vars(row).values())


def test_a_driver_gets_the_secrets_that_its_job_names(team: Team) -> None:
    job_secrets.keep("DB_PASSWORD", VALUE, team, None)
    job_secrets.keep("OTHER", "not named", team, None)
    job = submit(team, "DB_PASSWORD")
    assert job_secrets.environment(job) == {"HEADRACE_SECRET_DB_PASSWORD": VALUE}
    assert Secret.objects.get(name="DB_PASSWORD").used_at is not None
    assert VALUE not in str(job.configuration)
    assert job.shown_configuration == {job_secrets.KEY: "DB_PASSWORD"}


def test_the_teams_own_counts_before_the_clusters(team: Team) -> None:
    job_secrets.keep("KEY", "of the cluster", None, None)
    assert job_secrets.environment(submit(team, "KEY")) == {"HEADRACE_SECRET_KEY": "of the cluster"}
    job_secrets.keep("KEY", "of the team", team, None)
    assert job_secrets.environment(submit(team, "KEY")) == {"HEADRACE_SECRET_KEY": "of the team"}
    assert job_secrets.environment(submit(None, "KEY")) == {"HEADRACE_SECRET_KEY": "of the cluster"}


def test_another_teams_secret_is_not_given(team: Team) -> None:
    job_secrets.keep("DB_PASSWORD", VALUE, team, None)
    for other in (None, Team.objects.create(name="others")):
        with pytest.raises(actions.InvalidJob, match="there is no secret DB_PASSWORD"):
            submit(other, "DB_PASSWORD")
    assert not Job.objects.exists()


@pytest.mark.parametrize("name", ["", "path", "1A", "A B", "A" * 81, "Ä"])
def test_odd_names_are_refused(name: str, db: None) -> None:
    with pytest.raises(options.InvalidOption, match="no name of a secret"):
        job_secrets.keep(name, VALUE, None, None)


@pytest.mark.parametrize("value", ["", "a\0b", "x" * (job_secrets.LONGEST + 1)])
def test_odd_values_are_refused(value: str, db: None) -> None:
    with pytest.raises(options.InvalidOption, match="1 to 65536 bytes"):
        job_secrets.keep("NAME", value, None, None)


def test_keys_are_changed_without_a_gap(settings: Settings, team: Team) -> None:
    old, new = Fernet.generate_key().decode(), Fernet.generate_key().decode()
    settings.HEADRACE_SECRETS_KEYS = [old]
    job_secrets.keep("DB_PASSWORD", VALUE, team, None)
    job = submit(team, "DB_PASSWORD")

    settings.HEADRACE_SECRETS_KEYS = [new]
    with pytest.raises(job_secrets.Unreadable, match="another key"):
        job_secrets.environment(job)

    settings.HEADRACE_SECRETS_KEYS = [new, old]
    call_command("rotate_secrets")
    settings.HEADRACE_SECRETS_KEYS = [new]
    assert job_secrets.environment(job) == {"HEADRACE_SECRET_DB_PASSWORD": VALUE}
    assert AuditEntry.objects.get().action == "secret.rotate"


def test_the_next_value_takes_the_place_of_the_one_before(alice: User) -> None:
    job_secrets.keep("KEY", "first value", None, alice, "for the shop")
    row = job_secrets.keep("KEY", "second value", None, None)
    assert (row.created_by, row.description) == (alice, "for the shop")
    assert job_secrets.environment(submit(None, "KEY")) == {"HEADRACE_SECRET_KEY": "second value"}


def test_what_a_driver_says_of_its_end_is_masked(team: Team) -> None:
    job_secrets.keep("DB_PASSWORD", VALUE, team, None)
    job = submit(team, "DB_PASSWORD")
    said = job_secrets.hidden(job, f"cannot connect as shop:{VALUE}@db")
    assert said == f"cannot connect as shop:{masking.MASK}@db"


def test_no_driver_gets_the_platforms_own_keys(tmp_path: Path) -> None:
    own = {"HEADRACE_SECRETS_KEYS": "k", "HEADRACE_OIDC_CLIENT_SECRET": "s", "HOME": "/home/x"}
    assert drivers.environment(own, tmp_path).keys() & own.keys() == {"HOME"}


DRIVER = """
import os, subprocess, sys
print("the secret is", os.environ["HEADRACE_SECRET_KEY"], flush=True)
subprocess.run([sys.executable, "-c", "import os; print(os.environ['HEADRACE_SECRET_KEY'])"])
print("no line end " + os.environ["HEADRACE_SECRET_KEY"], end="", file=sys.stderr)
sys.exit(3)
"""


def test_the_log_of_a_driver_never_holds_a_secret(tmp_path: Path) -> None:
    driver = drivers.Driver(tmp_path)
    key = "line one of it\nline two of it"
    driver.launch([sys.executable, "-c", DRIVER], {f"{launcher.SECRET}KEY": key})
    assert driver._popen is not None
    commands = subprocess.run(["ps", "-eo", "args"], capture_output=True, text=True).stdout
    assert driver._popen.wait(60) == 3
    deadline = time.monotonic() + 60
    while driver.remains() and time.monotonic() < deadline:  # all is written when it ends
        time.sleep(0.02)
    log = (tmp_path / "driver.log").read_text()
    assert "line one" not in log + commands
    assert "line two" not in log + commands
    assert "no line end ******" in log


def test_a_secret_that_is_written_in_pieces_is_starred_out() -> None:
    source, sink = os.pipe()
    seen, target = os.pipe()
    pump = threading.Thread(target=launcher.pump, args=(source, target, [b"open sesame"]))
    pump.start()
    for piece in (b"it is op", b"en sesa", b"me, they say o"):
        os.write(sink, piece)
        time.sleep(launcher.PATIENCE * 1.5)  # what is not finished is written meanwhile
    assert os.read(seen, 100) == b"it is ******, they say "
    os.close(sink)
    pump.join(10)
    assert os.read(seen, 100) == b"o"
    for end in (source, seen, target):
        os.close(end)


def test_no_event_of_a_driver_tells_a_secret() -> None:
    job_secrets.keep("DB_PASSWORD", VALUE, None, None)
    attempt = Attempt(job=submit(None, "DB_PASSWORD"))
    words = f"cannot connect with {VALUE}"
    for event in (
        events.Failed(words, words),
        events.CheckpointFailed(1, words),
        events.SavepointFailed("1", words),
        events.CommandDone("checkpoint-1", words),
    ):
        assert VALUE not in repr(recording._without_secrets(attempt, event))
