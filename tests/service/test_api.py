"""REST under /api/: login, submission and its errors, steering, lists, logs, OpenAPI."""

from __future__ import annotations

import base64
import json
from pathlib import Path

import pytest
from django.contrib.auth.models import Permission, User
from django.core.files.uploadedfile import SimpleUploadedFile
from rest_framework.test import APIClient

from jobs import actions, attempts, taskmanagers, tokens
from jobs.models import Event, Job
from jobs.states import JobState, change_state

pytestmark = pytest.mark.django_db

PROGRAM = b"print('hello')\n"


@pytest.fixture
def bob(db: None) -> User:
    """May look."""
    return User.objects.create_user("bob", password="bob-password")


def client_of(user: User) -> APIClient:
    client = APIClient()
    client.force_authenticate(user)
    return client


def upload(content: bytes = PROGRAM, name: str = "job.py") -> SimpleUploadedFile:
    return SimpleUploadedFile(name, content)


@pytest.fixture
def job(alice: User) -> Job:
    return actions.submit("mine", (PROGRAM, "job.py"), user=alice)


@pytest.mark.parametrize(
    "path", ["overview/", "jobs/", "taskmanagers/", "examples/", "schema/", "docs/"]
)
def test_login_is_required(path: str) -> None:
    assert APIClient().get(f"/api/{path}").status_code == 401


def test_a_token_logs_in(bob: User) -> None:
    client = APIClient()
    client.credentials(HTTP_AUTHORIZATION=f"Bearer {tokens.create(bob, 'test')[1]}")

    assert client.get("/api/overview/").status_code == 200


def test_name_and_password_log_a_script_in(bob: User) -> None:
    def status(password: str) -> int:
        credentials = base64.b64encode(f"bob:{password}".encode()).decode()
        client = APIClient()
        client.credentials(HTTP_AUTHORIZATION=f"Basic {credentials}")
        return int(client.get("/api/overview/").status_code)

    assert (status("bob-password"), status("wrong")) == (200, 401)


def test_a_session_needs_its_csrf_token(alice: User, job: Job) -> None:
    client = APIClient(enforce_csrf_checks=True)
    client.login(username="alice", password="alice-password")

    assert client.post(f"/api/jobs/{job.pk}/cancel/").status_code == 403
    job.refresh_from_db()
    assert job.wanted == "running"


def test_submit_a_file(alice: User) -> None:
    answer = client_of(alice).post(
        "/api/jobs/",
        {
            "file": upload(),
            "name": "counted",
            "arguments": ["--rate", "5"],
            "parallelism": 2,
            "configuration": json.dumps({"restart-strategy.type": "none"}),
        },
        format="multipart",
    )

    assert answer.status_code == 201, answer.content
    job = Job.objects.get(pk=answer.json()["id"])
    assert (job.name, job.parallelism, job.arguments) == ("counted", 2, ["--rate", "5"])
    assert job.restart_attempts_left == 0
    assert job.submitted_by == alice
    assert Path(job.entry).read_bytes() == PROGRAM
    assert job.artifact_sha256 in job.entry
    assert job.events.get().message == "submitted by alice"


def test_syntax_error_is_refused_with_the_python_error(alice: User) -> None:
    answer = client_of(alice).post(
        "/api/jobs/", {"file": upload(b"def broken(:\n    pass\n")}, format="multipart"
    )

    assert answer.status_code == 400
    (error,) = answer.json()["errors"]
    assert 'File "job.py", line 1' in error
    assert "SyntaxError: invalid syntax" in error
    assert not Job.objects.exists()


@pytest.mark.parametrize(
    ("values", "words"),
    [
        ({}, "either a file or the name of an example"),
        ({"example": "no-such"}, "there is no example 'no-such'"),
        ({"file": "x", "parallelism": 0}, "parallelism 0"),
        ({"file": "x", "parallelism": "many"}, "parallelism: A valid integer"),
        ({"file": "x", "configuration": "[1]"}, "configuration: give an object"),
        ({"file": "x", "configuration": '{"restart-strategy.type": "x"}'}, "'x' is not known"),
        ({"file": "x", "name": "n" * 201}, "1 to 200 characters"),
        ({"file": "job.txt"}, ".py"),
    ],
)
def test_bad_submissions_say_what_is_wrong(
    alice: User, values: dict[str, object], words: str
) -> None:
    if "file" in values:
        name = "job.txt" if values["file"] == "job.txt" else "job.py"
        values = {**values, "file": upload(name=name)}

    answer = client_of(alice).post("/api/jobs/", values, format="multipart")

    assert answer.status_code == 400
    assert words in answer.json()["errors"][0]
    assert not Job.objects.exists()


def test_file_names_cannot_leave_the_store(alice: User) -> None:
    job = actions.submit("x", (PROGRAM, "../../etc/evil.py"), user=alice)

    assert job.entry_name == "evil.py"
    assert ".." not in job.entry


def test_looking_is_free_and_submitting_is_not(alice: User, bob: User, job: Job) -> None:
    client = client_of(bob)

    assert client.get(f"/api/jobs/{job.pk}/").status_code == 200
    refused = client.post("/api/jobs/", {"file": upload()}, format="multipart")
    assert refused.status_code == 403
    assert "needs the role developer" in refused.json()["errors"][0]
    assert client.post(f"/api/jobs/{job.pk}/cancel/").status_code == 403
    bob.user_permissions.add(Permission.objects.get(codename="submit_job"))
    allowed = client_of(User.objects.get(pk=bob.pk))
    assert allowed.post("/api/jobs/", {"file": upload()}, format="multipart").status_code == 201


def test_steering_is_accepted_once_and_again(alice: User, job: Job) -> None:
    client = client_of(alice)

    first = client.post(f"/api/jobs/{job.pk}/suspend/")
    again = client.post(f"/api/jobs/{job.pk}/suspend/")

    assert (first.status_code, again.status_code) == (202, 202)
    assert first.json()["wanted"] == "suspended"
    assert job.events.filter(kind=Event.Kind.ACTION).count() == 1


def test_conflicts_are_409_with_the_reason(alice: User, job: Job) -> None:
    client = client_of(alice)
    for state in (JobState.CREATED, JobState.RUNNING, JobState.FINISHED):
        change_state(job, state)

    for verb in ("cancel", "suspend", "resume", "restart"):
        answer = client.post(f"/api/jobs/{job.pk}/{verb}/")
        assert answer.status_code == 409, verb
        assert "finished" in answer.json()["errors"][0].lower()


def test_unknown_jobs_are_404(alice: User) -> None:
    client = client_of(alice)

    for path in ("", "attempts/", "checkpoints/", "events/", "log/"):
        assert client.get(f"/api/jobs/{'0' * 32}/{path}").status_code == 404
    assert client.post(f"/api/jobs/{'0' * 32}/cancel/").status_code == 404
    for path in ("jobs/nonsense/", "nonsense/", "jobs/1/nonsense/"):
        answer = client.get(f"/api/{path}")
        assert answer.status_code == 404
        assert answer.json()["errors"]
    assert client.get("/api/jobs").headers["Location"] == "/api/jobs/"


def test_lists_are_paged(alice: User, job: Job) -> None:
    for number in range(5):
        Event.objects.create(job=job, kind=Event.Kind.FAILURE, message=f"failure {number}")

    answer = client_of(alice).get(f"/api/jobs/{job.pk}/events/?kind=failure&limit=2&offset=2")

    assert answer.json()["count"] == 5
    assert [row["message"] for row in answer.json()["results"]] == ["failure 2", "failure 1"]


def test_log_by_range(alice: User, job: Job) -> None:
    row = taskmanagers.register("tm", "here", 1, 1, 1024)
    change_state(job, JobState.CREATED)
    attempt = attempts.begin(job, row.pk, [row.slot_set.get().pk])
    run_dir = Path(attempt.run_dir)
    run_dir.mkdir(parents=True)
    (run_dir / "driver.log").write_text("one\ntwo\n")
    client = client_of(alice)

    tail = client.get(f"/api/jobs/{job.pk}/log/").json()
    on = client.get(f"/api/jobs/{job.pk}/log/?attempt=1&offset=4").json()

    assert tail == {"attempt": 1, "text": "one\ntwo\n", "start": 0, "end": 8, "size": 8}
    assert on["text"] == "two\n"
    assert client.get(f"/api/jobs/{job.pk}/log/?attempt=7").status_code == 404
    assert client.get(f"/api/jobs/{job.pk}/log/?offset=x").status_code == 400


def test_overview_counts(alice: User, job: Job) -> None:
    row = taskmanagers.register("tm", "here", 1, 3, 1024)
    change_state(job, JobState.CREATED)
    attempts.begin(job, row.pk, [row.slot_set.get(index=0).pk])

    answer = client_of(alice).get("/api/overview/").json()

    assert (answer["slots_total"], answer["slots_free"], answer["taskmanagers"]) == (3, 2, 1)
    assert answer["jobs"]["CREATED"] == 1
    (taskmanager,) = client_of(alice).get("/api/taskmanagers/").json()["results"]
    assert [slot["job"] for slot in taskmanager["slot_set"]] == [job.pk, None, None]


def test_pages_of_the_schema(alice: User) -> None:
    client = client_of(alice)

    page = client.get("/api/docs/")
    assert page.status_code == 200
    assert b"https://cdn" not in page.content
    schema = client.get("/api/schema/?format=json").json()
    assert {"/api/jobs/", "/api/jobs/{id}/cancel/", "/api/overview/"} <= set(schema["paths"])
