"""Accounts, tokens, teams, secrets and the audit log."""

from __future__ import annotations

import csv
from io import StringIO

import pytest
from django.contrib.auth.models import User
from django.test import Client

from jobs.models import (
    ApiToken,
    AuditEntry,
    Membership,
    Secret,
    Team,
)
from jobs.roles import Role
from tests.service import pages
from tests.service.cluster_pages.conftest import actions, as_user, person, text_of

pytestmark = pytest.mark.django_db


def test_a_token_is_shown_once_and_revoked(admin: Client, alice: User) -> None:
    wish = {"name": "pipeline", "role": Role.OPERATOR.value, "days": "30"}
    answer = admin.post("/account/tokens/", wish)
    row = ApiToken.objects.get()
    page = answer.content.decode()
    start = page.index('id="new-token"')
    key = page[page.index(">", start) + 1 : page.index("<", start)]
    assert key.startswith(row.prefix)
    assert Client().get("/api/overview/", HTTP_AUTHORIZATION=f"Bearer {key}").status_code == 200
    assert key not in text_of(admin, "/account/")
    assert row.expires_at is not None

    stranger = as_user(User.objects.create_user("bob", password="bob-password"))
    assert stranger.post(f"/account/tokens/{row.pk}/revoke/").status_code == 404
    admin.post(f"/account/tokens/{row.pk}/revoke/")
    assert not ApiToken.objects.exists()
    assert Client().get("/api/overview/", HTTP_AUTHORIZATION=f"Bearer {key}").status_code == 401
    assert actions() == ["token.create", "token.revoke"]


def test_nobody_makes_a_token_that_may_more(db: None) -> None:
    client = as_user(User.objects.create_user("bob", password="bob-password"))
    answer = client.post("/account/tokens/", {"name": "x", "role": Role.ADMIN.value, "days": ""})
    assert answer.status_code == 422
    assert not ApiToken.objects.exists()


def test_the_password_is_changed(admin: Client, alice: User) -> None:
    wish = {"old_password": "wrong", "new_password1": "a-new-one-9", "new_password2": "a-new-one-9"}
    assert admin.post("/account/password/", wish).status_code == 422
    alice.set_password("alice-password")
    alice.save()
    client = as_user(alice)
    client.post("/account/password/", {**wish, "old_password": "alice-password"})
    alice.refresh_from_db()
    assert alice.check_password("a-new-one-9")
    assert client.get("/").status_code == 200


def test_teams_and_members(admin: Client) -> None:
    User.objects.create_user("bob", password="bob-password")
    admin.post("/teams/new/", {"name": "payments", "description": "money"})
    team = Team.objects.get()
    give = f"/teams/{team.pk}/members/"
    assert admin.post(give, {"username": "nobody", "role_number": 2}).status_code == 422
    admin.post(give, {"username": "bob", "role_number": Role.OPERATOR.value})
    row = Membership.objects.get()
    assert (row.user.username, row.role, row.team) == ("bob", Role.OPERATOR, team)
    assert "bob" in text_of(admin, f"/teams/{team.pk}/")
    admin.post(f"/teams/members/{row.pk}/take/")
    assert not Membership.objects.exists()
    admin.post("/teams/roles/", {"username": "bob", "role_number": Role.DEVELOPER.value})
    assert Membership.objects.get().team is None

    job = pages.make_job(team=team)
    admin.post(f"/teams/{team.pk}/delete/")
    assert Team.objects.exists()
    job.delete()
    admin.post(f"/teams/{team.pk}/delete/")
    assert not Team.objects.exists()


def test_a_teams_admin_keeps_its_members_and_no_others(db: None) -> None:
    team, other = Team.objects.create(name="payments"), Team.objects.create(name="fleet")
    client = as_user(person("tina", team, Role.ADMIN))
    User.objects.create_user("bob", password="bob-password")
    wish = {"username": "bob", "role_number": Role.VIEWER.value}
    assert client.post(f"/teams/{team.pk}/members/", wish).status_code == 302
    assert client.post(f"/teams/{other.pk}/members/", wish).status_code == 404
    assert client.post("/teams/roles/", wish).status_code == 403
    assert client.post("/teams/new/", {"name": "x"}).status_code == 403
    row = Membership.objects.create(user=User.objects.get(username="bob"), team=other, role=1)
    assert client.post(f"/teams/members/{row.pk}/take/").status_code == 404


def test_a_secret_goes_in_and_never_comes_out(admin: Client) -> None:
    wish = {"name": "DATABASE_PASSWORD", "value": "correct horse", "description": "of orders"}
    assert admin.post("/secrets/", wish)["Location"] == "/secrets/"
    page = text_of(admin, "/secrets/")
    assert "DATABASE_PASSWORD" in page
    assert "correct horse" not in page
    wrong = admin.post("/secrets/", {**wish, "name": "lower case"})
    assert wrong.status_code == 422
    assert "correct horse" not in wrong.content.decode()
    entry = AuditEntry.objects.get(action="secret.keep")
    assert "correct horse" not in str(entry.detail)
    admin.post(f"/secrets/{Secret.objects.get().pk}/delete/")
    assert not Secret.objects.exists()


def test_the_audit_log_is_filtered_and_exported(admin: Client, alice: User) -> None:
    job = pages.make_job("orders")
    admin.post(f"/jobs/{job.pk}/act/suspend/")
    AuditEntry.objects.create(username="=cmd()", action="try", via="login", address="10.1.2.3")
    assert "10.1.2.3" in text_of(admin, "/audit/?q=10.1.")
    assert "10.1.2.3" not in text_of(admin, "/audit/?who=alice")
    assert "orders" in text_of(admin, "/audit/?action=job")
    for odd in ("since=x", "until=2026-13-45", "since=2020-01-01&until=9999-12-31", "result=no"):
        assert admin.get(f"/audit/?{odd}").status_code == 200
    answer = admin.get("/audit/export/?action=try")
    text = b"".join(answer).decode()  # type: ignore[arg-type]
    rows = list(csv.DictReader(StringIO(text)))
    assert [row["address"] for row in rows] == ["10.1.2.3"]
    assert rows[0]["username"] == "'=cmd()"  # no formula
