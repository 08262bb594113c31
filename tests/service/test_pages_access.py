"""Who may see which page, who may act, and what addresses that lead nowhere answer."""

from __future__ import annotations

import pytest
from django.contrib.auth.models import Permission, User
from django.test import Client

from jobs.models import Job
from jobs.states import JobState, Wanted
from tests.service import pages

pytestmark = pytest.mark.django_db

PAGES = ["/", "/jobs/", "/jobs/{id}/", "/jobs/{id}/log/", "/jobs/{id}/series/"] + [
    f"/jobs/{{id}}/{tab}/"
    for tab in ("checkpoints", "exceptions", "kafka", "attempts", "events", "configuration")
]
STREAMS = ["/live/overview/", "/jobs/{id}/live/overview/", "/live/overview/?poll"]
NOWHERE = "0" * 32


@pytest.fixture
def job(db: None) -> Job:
    return pages.make_job()


@pytest.fixture
def bob(db: None) -> User:
    """May look."""
    return User.objects.create_user("bob", password="bob-password")


@pytest.fixture
def charlie(db: None) -> User:
    """May steer jobs, not submit them."""
    user = User.objects.create_user("charlie", password="charlie-password")
    user.user_permissions.add(Permission.objects.get(codename="change_job"))
    return user


def as_user(user: User) -> Client:
    client = Client()
    client.force_login(user)
    return client


@pytest.mark.parametrize("path", [*PAGES, "/submit/", "/jobs/{id}/act/cancel/"])
def test_pages_need_a_login_and_lead_back(path: str, job: Job) -> None:
    address = path.format(id=job.pk)
    answer = Client().get(address)
    assert (answer.status_code, answer["Location"]) == (302, f"/login/?next={address}")


@pytest.mark.parametrize("path", STREAMS)
def test_streams_say_that_a_login_is_needed(path: str, job: Job) -> None:
    assert Client().get(path.format(id=job.pk)).status_code == 401


@pytest.mark.parametrize("path", PAGES)
def test_everybody_who_is_logged_in_may_look(path: str, job: Job, bob: User) -> None:
    assert as_user(bob).get(path.format(id=job.pk)).status_code == 200


@pytest.mark.parametrize("path", [*PAGES, "/submit/", "/login/", "/nowhere/"])
def test_nothing_comes_from_elsewhere_and_nothing_is_inline(
    path: str, job: Job, alice: User
) -> None:
    client = Client() if path == "/login/" else as_user(alice)
    answer = client.get(path.format(id=job.pk))
    html = answer.content.decode()
    for inline in (" style=", "<style", " onclick=", " onload=", "javascript:", "<script>"):
        assert inline not in html
    assert "//" not in html.replace("http://www.w3.org/", "")


@pytest.mark.parametrize("path", PAGES)
def test_the_policy_allows_nothing_but_this_server(path: str, job: Job, bob: User) -> None:
    answer = as_user(bob).get(path.format(id=job.pk))
    policy = answer["Content-Security-Policy"]
    assert "default-src 'none'" in policy
    assert "unsafe" not in policy
    assert answer["Cache-Control"] == "no-store"


def test_who_may_only_look_sees_no_way_to_act(job: Job, bob: User) -> None:
    client = as_user(bob)
    page = client.get(f"/jobs/{job.pk}/").content.decode()
    assert "may-act" not in page
    assert 'href="/submit/"' not in page
    for path in (f"/jobs/{job.pk}/act/cancel/", "/submit/"):
        assert client.get(path).status_code == 403
        assert client.post(path).status_code == 403
    job.refresh_from_db()
    assert job.wanted == Wanted.RUNNING


def test_who_may_steer_may_cancel_but_not_submit(job: Job, charlie: User) -> None:
    client = as_user(charlie)
    assert client.post(f"/jobs/{job.pk}/act/cancel/").status_code == 302
    job.refresh_from_db()
    assert job.wanted == Wanted.CANCELED
    assert client.get("/submit/").status_code == 403


def test_asking_for_an_action_changes_nothing_before_it_is_confirmed(job: Job, alice: User) -> None:
    page = as_user(alice).get(f"/jobs/{job.pk}/act/suspend/").content.decode()
    assert "Suspend flight delays?" in page
    job.refresh_from_db()
    assert job.wanted == Wanted.RUNNING


def test_an_action_without_the_forms_token_is_refused(job: Job, alice: User) -> None:
    client = Client(enforce_csrf_checks=True)
    client.force_login(alice)
    answer = client.post(f"/jobs/{job.pk}/act/cancel/")
    assert answer.status_code == 403
    assert "no longer valid" in answer.content.decode()
    job.refresh_from_db()
    assert job.wanted == Wanted.RUNNING


def test_an_action_that_comes_too_late_says_so(alice: User) -> None:
    job = pages.make_job(state=JobState.FINISHED)
    answer = as_user(alice).post(f"/jobs/{job.pk}/act/cancel/", follow=True)
    assert "Nothing was changed: the job has already ended: finished." in answer.content.decode()


@pytest.mark.parametrize(
    "path",
    [
        "/nowhere/",
        f"/jobs/{NOWHERE}/",
        f"/jobs/{NOWHERE}/checkpoints/",
        f"/jobs/{NOWHERE}/log/",
        f"/jobs/{NOWHERE}/series/",
        f"/jobs/{NOWHERE}/act/cancel/",
        "/jobs/not-an-id/",
        "/jobs/ABCDEF00000000000000000000000000/",
        "/jobs/{id}/nothing-like-that/",
        "/jobs/{id}/act/explode/",
        "/jobs/{id}/checkpoints/77/",
        "/jobs/{id}/checkpoints/99999999999999999999999999/",
        "/jobs/{id}/log/?attempt=9",
        "/jobs/{id}/log/1/lines/",
        "/jobs/{id}/log/99999999999999999999999999/file/",
    ],
)
def test_addresses_that_lead_nowhere(path: str, job: Job, alice: User) -> None:
    answer = as_user(alice).get(path.format(id=job.pk))
    assert answer.status_code == 404
    assert "There is nothing at this address" in answer.content.decode()


@pytest.mark.parametrize(
    "query",
    ["before=x", "before=-1", "before=99999999999999999999", "before=%F0%9F%92%A7", "before="],
)
def test_odd_places_in_a_history(query: str, job: Job, bob: User) -> None:
    for tab in ("checkpoints", "events"):
        assert as_user(bob).get(f"/jobs/{job.pk}/{tab}/?{query}").status_code == 200


@pytest.mark.parametrize(
    "query",
    ["range=nonsense", "after=x", "after=999999999999999999", "after=-5", "range=24h&after=1"],
)
def test_odd_ranges_of_a_chart(query: str, job: Job, bob: User) -> None:
    assert as_user(bob).get(f"/jobs/{job.pk}/series/?{query}").status_code == 200


@pytest.mark.parametrize(
    "path",
    [
        "/alerts/?rule=%C2%B2",
        "/jobs/{id}/log/1/lines/?after=%C2%B2",
        f"/jobs/{{id}}/log/1/lines/?before={'9' * 5_000}",
        "/jobs/{id}/log/1/lines/?before=%C2%B2",
        "/taskmanagers/%00/",
        "/submit/?program=%00",
        "/jobs/{id}/savepoints/compare/?a=%00",
    ],
)
def test_what_only_looks_like_a_number_or_a_name(path: str, job: Job, alice: User) -> None:
    pages.make_attempt(job)
    assert as_user(alice).get(path.format(id=job.pk)).status_code in (200, 404)


def test_a_job_that_is_gone_ends_its_page(bob: User) -> None:
    answer = as_user(bob).get(f"/jobs/{NOWHERE}/live/overview/?poll")
    assert answer.status_code == 410


def test_logging_in_and_out(bob: User) -> None:
    client = Client()
    wrong = client.post("/login/", {"username": "bob", "password": "no"})
    assert "do not match an account" in wrong.content.decode()
    answer = client.post("/login/?next=/jobs/", {"username": "bob", "password": "bob-password"})
    assert answer["Location"] in ("/", "/jobs/")
    assert client.get("/").status_code == 200
    assert client.post("/logout/")["Location"] == "/login/"
    assert client.get("/").status_code == 302
