"""/jars: programs are uploaded, planned, run and removed."""

from __future__ import annotations

import contextlib
import io
import re
import zipfile
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from django.contrib.auth.models import User
from django.core.files.uploadedfile import SimpleUploadedFile
from pytest_django import Settings
from rest_framework.test import APIClient

from jobs import artifacts, planning
from jobs.models import AuditEntry, Job, JobVersion, Membership, Team, Upload
from jobs.roles import Role

pytestmark = pytest.mark.django_db
PROGRAM = b"print('never run by the web process')\n"
JOB_ID = "ab" * 16


@pytest.fixture(autouse=True)
def artifacts_folder(settings: Settings, tmp_path: Path) -> None:
    settings.HEADRACE_ARTIFACTS = tmp_path / "artifacts"


def client_of(user: User) -> APIClient:
    client = APIClient()
    client.force_authenticate(user)
    return client


@pytest.fixture
def client(alice: User) -> APIClient:
    return client_of(alice)


@pytest.fixture
def team() -> Team:
    return Team.objects.create(name="rivers")


def member(team: Team | None, role: Role, name: str = "bob") -> User:
    user = User.objects.create_user(name)
    Membership.objects.create(user=user, team=team, role=role)
    return user


def sent(client: APIClient, content: bytes = PROGRAM, name: str = "job.py", **query: str) -> Any:
    file = SimpleUploadedFile(name, content, "application/x-java-archive")
    url = "/v1/jars/upload" + (f"?team={query['team']}" if "team" in query else "")
    return client.post(url, {"jarfile": file}, format="multipart")


def uploaded(client: APIClient, content: bytes = PROGRAM, name: str = "job.py") -> str:
    answer = sent(client, content, name)
    assert answer.status_code == 200, answer.content
    return str(answer.json()["filename"]).rpartition("/")[2]


def zipped(**files: str) -> bytes:
    content = io.BytesIO()
    with zipfile.ZipFile(content, "w") as archive:
        for name, text in files.items():
            archive.writestr(f"{name}.py", text)
    return content.getvalue()


def run(client: APIClient, jar: str, body: object = None, query: str = "") -> Any:
    return client.post(f"/jars/{jar}/run{query}", body or {}, format="json")


def job_of(answer: Any) -> Job:
    assert answer.status_code == 200, answer.content
    return Job.objects.get(pk=answer.json()["jobid"])


def why(answer: Any, status: int = 400) -> str:
    assert answer.status_code == status, answer.content
    (sentence,) = answer.json()["errors"]
    return str(sentence)


def test_a_program_is_uploaded_listed_run_and_removed(client: APIClient, alice: User) -> None:
    jar = uploaded(client, zipped(main="", __main__=""), "job.zip")
    (listed,) = client.get("/jars").json()["files"]
    assert (listed["id"], listed["name"]) == (jar, "job.zip")
    assert [entry["name"] for entry in listed["entry"]] == ["__main__", "main"]

    job = job_of(run(client, jar))
    assert (job.name, job.entry_name, job.submitted_by) == ("job", "job.zip", alice)

    answer = client.delete(f"/jars/{jar}")
    assert (answer.status_code, answer.json()) == (200, {})
    assert client.get("/jars").json()["files"] == []
    assert Path(job.entry).exists()
    actions = AuditEntry.objects.order_by("id").values_list("action", flat=True)
    assert list(actions) == ["upload.create", "job.submit", "upload.delete"]


@pytest.mark.parametrize(
    ("name", "content", "reason"),
    [
        ("job.jar", PROGRAM, r"\.py.*\.zip or \.whl.*\.sql"),
        (".py", PROGRAM, "has to end"),
        ("job.py", b"def", "SyntaxError"),
        ("job.zip", b"no zip", "no whole zip archive"),
        ("job.sql", b"\xff\xfe", "no text in UTF-8"),
        ("é" * 150 + ".py", PROGRAM, "no name of a program"),
    ],
)
def test_what_cannot_be_run_is_refused_with_the_reason(
    client: APIClient, name: str, content: bytes, reason: str
) -> None:
    assert re.search(reason, why(sent(client, content, name)))
    assert not Upload.objects.exists()


def test_a_request_without_a_file_is_refused(client: APIClient) -> None:
    assert "received 0" in why(client.post("/jars/upload", {"a": "b"}, format="multipart"))
    assert "Multipart" in why(client.post("/jars/upload", "x", content_type="text/plain"))


def test_the_body_says_how_a_program_runs(client: APIClient) -> None:
    jar = uploaded(client, zipped(first="", second=""), "two.zip")
    body = {
        "entryClass": "second",
        "programArgsList": ["--topic", "a b"],
        "parallelism": 3,
        "jobId": JOB_ID.upper(),
        "flinkConfiguration": {"pipeline.name": "named", "parallelism.default": 9, "k": True},
        "unknown": [1],
    }
    query = "?entry-class=first&programArg=x&parallelism=7&savepointPath="
    job = job_of(run(client, jar, body, query))

    assert (job.pk, job.name, job.parallelism) == (JOB_ID, "named", 3)
    assert job.arguments == ["--topic", "a b"]
    assert job.configuration["headrace.entry-class"] == "second"
    assert job.configuration["k"] == "true"


def test_names_of_older_clients_go_on_to_work(client: APIClient) -> None:
    jar = uploaded(client, zipped(first="", second=""), "two.zip")
    job = job_of(run(client, jar, {"entry-class": "first", "programArgs": "--a 'b c' -d"}))
    assert job.arguments == ["--a", "b c", "-d"]
    dashboard = {
        "entryClass": "",
        "parallelism": None,
        "programArgs": "",
        "savepointPath": "",
        "allowNonRestoredState": None,
    }
    job = job_of(
        run(client, jar, dashboard, "?entry-class=second&program-args=--a+1&parallelism=2")
    )
    assert (job.arguments, job.parallelism) == (["--a", "1"], 2)
    job = job_of(run(client, jar, {"entryClass": "first"}, "?programArg=--a,1"))
    assert job.arguments == ["--a", "1"]


@pytest.mark.parametrize(
    ("body", "reason"),
    [
        ({"programArgs": "a", "programArgsList": ["b"]}, "Confusing request"),
        ({"programArgs": "'open"}, "no command line"),
        ({"programArgsList": "a"}, "list of texts"),
        ({"parallelism": -1}, "no positive number"),
        ({"parallelism": "many"}, "no positive number"),
        ({"parallelism": True}, "no positive number"),
        ({"parallelism": 99999}, "32768"),
        ({"parallelism": 0.5}, "no positive number"),
        ({"jobId": "xyz"}, "32 hexadecimal"),
        ({"entryClass": "Main"}, "run as it is"),
        ({"flinkConfiguration": {"a": {}}}, "flinkConfiguration"),
        ({"savepointPath": "/nowhere/at/all"}, "savepoint"),
        ({"savepointPath": "/tmp", "claimMode": "STEAL"}, "claim mode"),
        ({"savepointPath": "/tmp", "allowNonRestoredState": "yes"}, "true or false"),
        ({"flinkConfiguration": {"restart-strategy.type": "unheard"}}, "unheard"),
    ],
)
def test_a_request_that_cannot_be_met_is_400(
    client: APIClient, body: dict[str, Any], reason: str
) -> None:
    assert reason in why(run(client, uploaded(client), body))
    assert not Job.objects.exists()


def test_a_job_id_is_used_once(client: APIClient) -> None:
    jar = uploaded(client)
    job_of(run(client, jar, {"jobId": JOB_ID}))
    assert f"a job {JOB_ID} already" in why(run(client, jar, {"jobId": JOB_ID}))


@pytest.mark.parametrize("path", ["run", "run-application", "plan"])
def test_a_program_that_is_not_there_is_400(client: APIClient, path: str) -> None:
    assert "File nope.py does not exist" in why(client.post(f"/jars/nope.py/{path}"))
    assert "does not exist" in why(client.delete("/jars/nope.py"))


def test_it_runs_as_an_application_too(client: APIClient) -> None:
    answer = client.post(f"/jars/{uploaded(client)}/run-application")
    assert answer.status_code == 202
    assert Job.objects.filter(pk=answer.json()["applicationid"]).exists()


# --- rights ------------------------------------------------------------------------------------


def test_viewers_and_operators_bring_and_run_nothing(client: APIClient) -> None:
    jar = uploaded(client)
    for role in (Role.VIEWER, Role.OPERATOR):
        other = client_of(member(None, role, str(role.label)))
        assert "developer" in why(sent(other), 403)
        for answer in (
            run(other, jar),
            other.get(f"/jars/{jar}/plan"),
            other.delete(f"/jars/{jar}"),
        ):
            assert answer.status_code == 403
        assert len(other.get("/jars").json()["files"]) == 1
    assert APIClient().get("/jars").status_code == 401


def test_a_teams_programs_are_its_own(client: APIClient, team: Team) -> None:
    bob = member(team, Role.DEVELOPER)
    jar = uploaded(client_of(bob))
    assert job_of(run(client_of(bob), jar)).team == team

    stranger = client_of(member(None, Role.DEVELOPER, "charlie"))
    assert stranger.get("/jars").json()["files"] == []
    assert "does not exist" in why(run(stranger, jar))
    assert "no jobs for a team" in why(sent(stranger, team="rivers"))
    assert sent(client, team="rivers").status_code == 200
    assert Upload.objects.filter(team=team).count() == 2


def test_who_has_two_teams_says_for_which(team: Team) -> None:
    bob = member(team, Role.DEVELOPER)
    other = Team.objects.create(name="lakes")
    Membership.objects.create(user=bob, team=other, role=Role.DEVELOPER)
    assert "?team=NAME" in why(sent(client_of(bob)))
    assert sent(client_of(bob), team="lakes").status_code == 200
    assert Upload.objects.get().team == other


def test_uploading_can_be_switched_off(client: APIClient, settings: Settings) -> None:
    jar = uploaded(client)
    settings.HEADRACE_UPLOADS = False
    assert "switched off" in why(sent(client), 403)
    assert Upload.objects.count() == 1
    job_of(run(client, jar))


# --- room --------------------------------------------------------------------------------------


def stored(settings: Settings) -> list[str]:
    return [path.name for path in settings.HEADRACE_ARTIFACTS.rglob("*") if path.is_file()]


def test_a_file_goes_with_the_last_that_needs_it(
    client: APIClient, settings: Settings, django_capture_on_commit_callbacks: Any
) -> None:
    def delete(jar: str) -> None:
        with django_capture_on_commit_callbacks(execute=True):
            assert client.delete(f"/jars/{jar}").status_code == 200

    one, same = uploaded(client), uploaded(client, name="same.py")
    other = uploaded(client, b"print('another')")
    assert sorted(stored(settings)) == ["job.py", "job.py", "same.py"]
    job = job_of(run(client, same))

    for jar in (one, same, other):
        delete(jar)
    assert sorted(stored(settings)) == ["job.py", "same.py"]
    assert Path(job.entry).read_bytes() == PROGRAM

    one = uploaded(client)
    JobVersion.objects.all().delete()
    job.delete()
    delete(one)
    assert list(settings.HEADRACE_ARTIFACTS.iterdir()) == []


def test_what_is_needed_while_it_is_removed_is_put_back(settings: Settings) -> None:
    artifact = artifacts.store(PROGRAM, "job.py")
    answers = iter([False, True])
    artifacts.remove(artifact.sha256, lambda: next(answers))
    assert artifact.path.read_bytes() == PROGRAM
    assert [path.name for path in settings.HEADRACE_ARTIFACTS.iterdir()] == [artifact.sha256]


def test_uploads_have_bounds(client: APIClient, settings: Settings) -> None:
    settings.HEADRACE_UPLOADS_EACH = 2
    settings.HEADRACE_UPLOADS_BYTES = len(PROGRAM) + 10
    jar = uploaded(client)
    assert "HEADRACE_UPLOADS_BYTES" in why(sent(client, b"'more than ten bytes'"))
    uploaded(client, b"'small'")
    assert "HEADRACE_UPLOADS_EACH" in why(sent(client, b"1"))
    assert len(stored(settings)) == 2

    client.delete(f"/jars/{jar}")
    uploaded(client, b"1")


# --- plans -------------------------------------------------------------------------------------

GRAPH = b"""
import os, sys
assert "SECRET_KEY" not in os.environ and os.getcwd() != "/", os.environ
from headrace.datastream import StreamExecutionEnvironment
env = StreamExecutionEnvironment.get_execution_environment()
env.from_collection([1]).key_by(lambda x: x).reduce(max).name(sys.argv[1]).print()
env.execute("planned")
"""


@pytest.fixture
def secret(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    monkeypatch.setenv("SECRET_KEY", "of the platform")
    yield


def test_a_plan_shows_the_graph_and_starts_nothing(client: APIClient, secret: None) -> None:
    jar = uploaded(client, GRAPH, "graph.py")
    answer = client.post(f"/jars/{jar}/plan", {"programArgs": "named", "parallelism": 2})
    assert answer.status_code == 200, answer.content
    plan = answer.json()["plan"]
    assert plan["name"] == "graph"
    sources = [node for node in plan["nodes"] if "inputs" not in node]
    readers = [node for node in plan["nodes"] if "inputs" in node]
    assert [len(sources), len(readers)] == [1, 1]
    assert readers[0]["inputs"][0]["ship_strategy"] == "HASH"
    assert "named" in readers[0]["description"]
    assert not Job.objects.exists()


def test_a_program_without_a_plan_says_why(client: APIClient) -> None:
    jar = uploaded(client, b"raise SystemExit('no such topic')", "bad.py")
    assert "bad.py has no plan: no such topic" in why(client.get(f"/jars/{jar}/plan"))


def test_a_plan_has_its_time(client: APIClient, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(planning, "SECONDS", 0.3)
    jar = uploaded(client, b"while True: pass", "long.py")
    assert "did not come to its execute() within" in why(client.get(f"/jars/{jar}/plan"))


def test_what_leaves_the_planning_ends_with_it(client: APIClient) -> None:
    program = b"""
import subprocess
child = subprocess.Popen(["sleep", "60"], start_new_session=True)
raise SystemExit(f"left {child.pid}")
"""
    told = why(client.get(f"/jars/{uploaded(client, program, 'leaves.py')}/plan"))
    child = int(told.splitlines()[0].rpartition("left ")[2])
    with contextlib.suppress(OSError):  # gone, or nobody has asked yet how it ended
        assert Path(f"/proc/{child}/stat").read_text().rpartition(")")[2].split()[0] in "ZX"


@pytest.mark.parametrize("told", ["[]", "7", "no JSON", '{"nodes": [{}]}', '{"nodes": 1}'])
def test_a_program_that_tells_no_plan(told: str) -> None:
    with pytest.raises(planning.NoPlan, match="something else"):
        planning._checked(told.encode(), "job.py")


def test_a_page_elsewhere_cannot_have_a_program_planned(client: APIClient, alice: User) -> None:
    """It runs code: a link is not enough, nor is a look at the head of the answer."""
    jar = uploaded(client)
    browser = APIClient()
    browser.force_login(alice)
    assert browser.get(f"/jars/{jar}/plan").status_code == 403
    assert browser.get(f"/jars/{jar}/plan", HTTP_SEC_FETCH_SITE="cross-site").status_code == 403
    assert browser.head(f"/jars/{jar}/plan", HTTP_SEC_FETCH_SITE="cross-site").status_code >= 400
    assert client.head(f"/jars/{jar}/plan").status_code == 404


def test_plans_wait_for_no_others(client: APIClient, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(planning._room, "acquire", lambda blocking: False)
    assert "ask again" in why(client.get(f"/jars/{uploaded(client)}/plan"), 503)
