"""The page on which programs are uploaded, planned and submitted."""

from __future__ import annotations

from typing import Any

import pytest
from django.core.files.uploadedfile import SimpleUploadedFile
from django.test import Client

from jobs import planning
from jobs.models import (
    Job,
    Schedule,
    Team,
    Upload,
)
from jobs.roles import Role
from tests.service import pages
from tests.service.cluster_pages.conftest import actions, as_user, person, text_of

pytestmark = pytest.mark.django_db


def test_a_program_is_uploaded_chosen_and_submitted(admin: Client) -> None:
    file = SimpleUploadedFile("hello.py", b"print('hello')\n")
    answer = admin.post("/submit/", {"file": file, "parallelism": 1, "do": "upload"})
    upload = Upload.objects.get()
    assert answer["Location"] == f"/submit/?program={upload.pk}"
    assert "hello.py" in text_of(admin, answer["Location"])

    wish = {
        "program": upload.pk,
        "name": "my job",
        "arguments": "--rate '5 6'",
        "parallelism": 3,
        "configuration": "# a comment\nexecution.checkpointing.interval: 10 s\n",
        "do": "submit",
    }
    answer = admin.post("/submit/", wish)
    job = Job.objects.get()
    assert answer["Location"] == f"/jobs/{job.pk}/"
    assert (job.name, job.arguments, job.parallelism) == ("my job", ["--rate", "5 6"], 3)
    assert job.configuration == {"execution.checkpointing.interval": "10 s"}
    assert actions() == ["program.upload", "job.submit"]


def test_an_example_is_submitted(admin: Client) -> None:
    admin.post("/submit/", {"program": "example:word_count", "parallelism": 1})
    assert Job.objects.get().entry_name == "word_count.py"


@pytest.mark.parametrize(
    ("wish", "words"),
    [
        ({}, "Choose a program."),
        ({"program": "nothing"}, "this program is not there any more"),
        ({"program": "example:nothing"}, "there is no example of this name"),
        ({"program": "example:word_count", "configuration": "no colon"}, "Line 1 is no"),
        ({"program": "example:word_count", "arguments": "'open"}, "no arguments of a command"),
        ({"program": "example:word_count", "savepoint": "/nowhere"}, "/nowhere"),
        ({"program": "example:word_count", "parallelism": "0"}, "greater than or equal to 1"),
        ({"program": "example:word_count", "when": "cron", "cron": "x"}, "has not five fields"),
        ({"program": "example:word_count", "when": "at"}, "say either when it starts"),
    ],
)
def test_a_wrong_wish_is_refused_and_says_why(
    wish: dict[str, str], words: str, admin: Client
) -> None:
    answer = admin.post("/submit/", {"parallelism": 1, **wish})
    assert answer.status_code == 422
    assert words in answer.content.decode()
    assert not Job.objects.exists()
    assert not Schedule.objects.exists()


def test_the_plan_is_shown_and_nothing_starts(
    admin: Client, monkeypatch: pytest.MonkeyPatch
) -> None:
    asked = []
    monkeypatch.setattr(planning, "plan", lambda *wish: asked.append(wish) or pages.PLAN)
    wish = {"program": "example:word_count", "parallelism": 2, "arguments": "-x", "do": "plan"}
    page = admin.post("/submit/", wish).content.decode()
    assert "The plan of word_count.py" in page
    assert "Window by origin" in page
    assert asked[0][1:] == (["-x"], 2, {})
    assert not Job.objects.exists()


PROGRAM = b"""
from headrace.datastream import StreamExecutionEnvironment
env = StreamExecutionEnvironment.get_execution_environment()
env.from_collection([1]).key_by(lambda x: x).reduce(max).name("largest").print()
env.execute("planned")
"""


def test_a_file_is_uploaded_and_planned_as_it_is(admin: Client) -> None:
    wish = {"file": SimpleUploadedFile("largest.py", PROGRAM), "parallelism": 3, "do": "plan"}
    page = admin.post("/submit/", wish).content.decode()
    assert "The plan of largest.py" in page
    assert "<title>largest</title>" in page
    assert "parallelism 3" in page
    assert ">HASH<" in page
    assert f'name="program" value="{Upload.objects.get().pk}"' in page
    assert not Job.objects.exists()


def test_a_program_without_a_plan_says_what_it_printed(
    admin: Client, monkeypatch: pytest.MonkeyPatch
) -> None:
    def none(*_: object) -> None:
        raise planning.NoPlan("word_count.py has no plan: boom", "Traceback: boom")

    monkeypatch.setattr(planning, "plan", none)
    wish = {"program": "example:word_count", "parallelism": 1, "do": "plan"}
    answer = admin.post("/submit/", wish)
    assert answer.status_code == 422
    assert "Traceback: boom" in answer.content.decode()


def test_a_job_is_scheduled(admin: Client) -> None:
    wish = {
        "program": "example:word_count",
        "name": "nightly",
        "parallelism": 1,
        "when": "cron",
        "cron": "0 3 * * *",
        "time_zone": "Europe/Berlin",
    }
    answer = admin.post("/submit/", wish)
    row = Schedule.objects.get()
    assert answer["Location"] == f"/schedules/{row.pk}/"
    assert (row.cron, row.time_zone) == ("0 3 * * *", "Europe/Berlin")
    assert "nightly" in text_of(admin, "/schedules/")
    assert not Job.objects.exists()


def test_a_developer_of_a_team_submits_for_it_alone(db: None) -> None:
    team, other = Team.objects.create(name="payments"), Team.objects.create(name="fleet")
    client = as_user(person("dora", team, Role.DEVELOPER))
    wish = {"program": "example:word_count", "parallelism": 1}
    for wrong in ("", str(other.pk)):
        assert client.post("/submit/", {**wish, "team": wrong}).status_code == 422
    assert client.post("/submit/", {**wish, "team": str(team.pk)}).status_code == 302
    assert Job.objects.get().team == team


def test_an_uploaded_program_is_deleted(admin: Client) -> None:
    row = Upload.objects.create(name="a.py", path="/x", sha256="0", size=1)
    address = f"/submit/{row.pk}/delete/"
    assert "Delete a.py?" in text_of(admin, address)
    admin.post(address)
    assert not Upload.objects.exists()
    assert actions() == ["program.delete"]


def test_uploading_can_be_switched_off(admin: Client, settings: Any) -> None:
    settings.HEADRACE_UPLOADS = False
    assert 'type="file"' not in text_of(admin, "/submit/")
    file = SimpleUploadedFile("hello.py", b"print('hello')\n")
    assert admin.post("/submit/", {"file": file, "parallelism": 1}).status_code == 422
    assert not Upload.objects.exists()
