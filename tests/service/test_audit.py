"""The audit log: who, when, what, from where, with which token; no secrets; nothing forgotten."""

from __future__ import annotations

from datetime import timedelta

import pytest
from django.contrib.auth.models import User
from django.test import Client, RequestFactory
from django.utils import timezone
from pytest_django import Settings
from rest_framework.test import APIClient

from jobs import audit, masking, tokens
from jobs.models import AuditEntry
from tests.service.pages import make_job

pytestmark = pytest.mark.django_db


def test_a_change_says_who_when_what_and_from_where(alice: User) -> None:
    job = make_job("flights")
    row, key = tokens.create(alice, "deploy")
    client = APIClient(REMOTE_ADDR="203.0.113.7", HTTP_USER_AGENT="deployer/1")
    client.credentials(HTTP_AUTHORIZATION=f"Bearer {key}")
    assert client.post(f"/api/jobs/{job.pk}/cancel/").status_code == 202
    entry = AuditEntry.objects.get()
    assert (entry.username, entry.user) == ("alice", alice)
    assert (entry.action, entry.result, entry.via) == ("job.cancel", "ok", "api")
    assert (entry.target_kind, entry.target_id, entry.target_name) == ("job", job.pk, str(job))
    assert (entry.address, entry.agent) == ("203.0.113.7", "deployer/1")
    assert (entry.token, key in str(vars(entry))) == (str(row), False)


def test_a_refusal_is_written_down_too(db: None) -> None:
    bob = User.objects.create_user("bob")
    client = APIClient()
    client.force_login(bob)
    AuditEntry.objects.all().delete()
    job = make_job()
    assert client.post(f"/api/jobs/{job.pk}/cancel/").status_code == 403
    entry = AuditEntry.objects.get()
    assert (entry.action, entry.result, entry.username) == ("job.cancel", "refused", "bob")
    assert entry.target_id == job.pk


def test_reading_and_strangers_leave_nothing(db: None) -> None:
    job = make_job()
    assert APIClient().post(f"/api/jobs/{job.pk}/cancel/").status_code == 401
    assert Client().get("/jobs/").status_code == 302
    assert not AuditEntry.objects.exists()


def test_details_are_masked_and_cut(alice: User) -> None:
    request = RequestFactory().post("/api/x/")
    request.user = alice
    entry = audit.record(
        request, "x", "thing", db_password="hush", given={"api_token": "hush"}, text="y" * 5000
    )
    assert entry.detail["db_password"] == entry.detail["given"]["api_token"] == masking.MASK
    assert len(entry.detail["text"]) == 1000
    assert "hush" not in str(entry.detail)


def test_the_command_line_of_the_machine_is_a_person_too(db: None) -> None:
    entry = audit.record(None, "secret.rotate", "3 secrets")
    assert entry.via == "command"
    assert entry.username


def test_an_entry_outlives_its_account(alice: User) -> None:
    request = RequestFactory().post("/jobs/1/act/cancel/")
    request.user = alice
    audit.record(request, "job.cancel", "x")
    alice.delete()
    entry = AuditEntry.objects.get()
    assert (entry.username, entry.user) == ("alice", None)


def test_old_entries_go(alice: User, settings: Settings) -> None:
    old = audit.record(None, "job.cancel", "old", user=alice)
    audit.record(None, "job.cancel", "new", user=alice)
    now = timezone.now()
    AuditEntry.objects.filter(pk=old.pk).update(at=now - timedelta(days=401))
    settings.HEADRACE_AUDIT_DAYS = 0
    assert audit.prune(now) == 0
    settings.HEADRACE_AUDIT_DAYS = 400
    assert audit.prune(now) == 1
    assert AuditEntry.objects.get().target_name == "new"
