"""The list of jobs, and what is done to several at once."""

from __future__ import annotations

from typing import Any

import pytest
from django.test import Client
from django.utils import timezone

from jobs.models import (
    AuditEntry,
    Job,
    Team,
)
from jobs.roles import Role
from jobs.states import JobState, Wanted
from tests.service import pages
from tests.service.cluster_pages.conftest import actions, as_user, person, text_of

pytestmark = pytest.mark.django_db


def test_jobs_are_found_by_state_team_and_words(admin: Client) -> None:
    team = Team.objects.create(name="payments")
    pages.make_job("orders", team=team)
    pages.make_job("clicks", JobState.FAILED)
    pages.make_job("old orders", JobState.FINISHED, archived_at=timezone.now())
    for query, names in (
        ("", {"orders", "clicks"}),
        ("state=FAILED", {"clicks"}),
        ("state=running", {"orders"}),
        ("state=completed", {"clicks"}),
        ("q=ORD", {"orders"}),
        (f"team={team.pk}", {"orders"}),
        ("team=none", {"clicks"}),
        ("archived=1", {"old orders"}),
        ("q=nothing", set()),
        ("state=bogus&team=x&sort=y&page=z", {"orders", "clicks"}),
    ):
        page = text_of(admin, f"/jobs/?{query}")
        assert {n for n in ("orders", "clicks", "old orders") if f">{n}</a>" in page} == names


def test_several_jobs_are_cancelled_at_once_after_a_question(admin: Client) -> None:
    running = [pages.make_job(name) for name in ("one", "two")]
    ended = pages.make_job("three", JobState.FINISHED)
    chosen = {"verb": "cancel", "job": [job.pk for job in (*running, ended)], "back": "/jobs/?q=o"}
    question = admin.post("/jobs/act/", chosen).content.decode()
    assert "Cancel: 2 jobs?" in question
    assert "it is finished" in question
    assert not Job.objects.filter(wanted=Wanted.CANCELED).exists()

    answer = admin.post("/jobs/act/", {**chosen, "confirmed": "1"}, follow=True)
    assert answer.redirect_chain == [("/jobs/?q=o", 302)]
    assert "Cancelling 2 jobs." in answer.content.decode()
    assert set(Job.objects.filter(wanted=Wanted.CANCELED)) == set(running)
    assert actions() == ["job.cancel", "job.cancel"]


@pytest.mark.parametrize("verb", ["savepoint", "stop", "suspend", "restart"])
def test_what_is_asked_of_several_jobs_is_asked_of_each(verb: str, admin: Client) -> None:
    for name in ("one", "two"):
        job = pages.make_job(name, current_attempt=1)
        pages.make_attempt(job)
    pks = list(Job.objects.values_list("pk", flat=True))
    admin.post("/jobs/act/", {"verb": verb, "job": pks, "confirmed": "1"})
    assert actions() == [f"job.{verb}"] * 2
    assert AuditEntry.objects.filter(action=f"job.{verb}", result="ok").count() == 2


def test_a_job_that_one_may_not_operate_is_left_alone(db: None) -> None:
    team = Team.objects.create(name="payments")
    mine, seen = pages.make_job("mine", team=team), pages.make_job("seen")
    hidden = pages.make_job("of others", team=Team.objects.create(name="other"))
    client = as_user(person("olga", team, Role.OPERATOR))
    jobs = [mine.pk, seen.pk, hidden.pk]
    question = client.post("/jobs/act/", {"verb": "cancel", "job": jobs}).content.decode()
    assert "your account may not act on it" in question
    assert "of others" not in question
    client.post("/jobs/act/", {"verb": "cancel", "job": jobs, "confirmed": "1"})
    assert list(Job.objects.filter(wanted=Wanted.CANCELED)) == [mine]


@pytest.mark.parametrize(
    "sent", [{}, {"verb": "explode", "job": "x"}, {"verb": "cancel"}, {"back": "//evil.example"}]
)
def test_a_wrong_request_about_several_jobs_changes_nothing(
    sent: dict[str, Any], admin: Client
) -> None:
    answer = admin.post("/jobs/act/", sent)
    assert (answer.status_code, answer["Location"]) == (302, "/jobs/")
