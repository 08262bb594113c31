"""Tokens, teams, roles and secrets under /api/."""

from __future__ import annotations

import base64
from datetime import timedelta
from importlib import import_module
from pathlib import Path
from types import SimpleNamespace

import pytest
from django.apps import apps
from django.contrib.auth.models import Permission, User
from django.core.files.uploadedfile import SimpleUploadedFile
from django.db import connection
from django.test import Client
from django.utils import timezone
from pytest_django import Settings
from rest_framework.test import APIClient

from jobs import beginnings, job_secrets, memberships, options, permissions, tokens
from jobs.models import (
    AlertRule,
    ApiToken,
    AuditEntry,
    Membership,
    OpenIdAccount,
    Savepoint,
    Team,
)
from jobs.roles import Role
from tests.service.pages import make_job

pytestmark = pytest.mark.django_db


@pytest.fixture
def bob(db: None) -> User:
    return User.objects.create_user("bob", password="bob-password")


@pytest.fixture
def payments(db: None) -> Team:
    return Team.objects.create(name="payments")


def logged_in(user: User) -> APIClient:
    client = APIClient()
    client.force_login(user)
    return client


def with_token(key: str) -> APIClient:
    client = APIClient()
    client.credentials(HTTP_AUTHORIZATION=f"Bearer {key}")
    return client


def test_a_token_is_shown_once_and_kept_as_a_hash(bob: User) -> None:
    made = logged_in(bob).post("/api/tokens/", {"name": "script"})
    assert made.status_code == 201, made.content
    key = made.json()["token"]
    row = ApiToken.objects.get()
    assert key not in str(vars(row))
    assert key.startswith(row.prefix)
    listed = logged_in(bob).get("/api/tokens/").json()["results"]
    assert [token["name"] for token in listed] == ["script"]
    assert "token" not in listed[0]
    assert with_token(key).get("/api/me/").json()["username"] == "bob"
    row.refresh_from_db()
    assert (row.last_used_from, row.last_used_at is not None) == ("127.0.0.1", True)


def test_an_expired_a_revoked_and_a_closed_accounts_token_are_refused(bob: User) -> None:
    soon = timezone.now() + timedelta(hours=1)
    _, key = tokens.create(bob, "one", expires_at=soon)
    assert with_token(key).get("/api/me/").status_code == 200
    ApiToken.objects.update(expires_at=timezone.now())
    assert with_token(key).get("/api/me/").status_code == 401
    _, other = tokens.create(bob, "two")
    User.objects.update(is_active=False)
    assert with_token(other).get("/api/me/").status_code == 401
    User.objects.update(is_active=True)
    assert with_token(other).get("/api/me/").status_code == 200
    tokens.revoke(ApiToken.objects.get(name="two"))
    assert with_token(other).get("/api/me/").status_code == 401


def test_a_token_may_no_more_than_its_scope(alice: User, payments: Team) -> None:
    job, other = make_job(team=payments), make_job()
    _, key = tokens.create(alice, "watch", role=Role.VIEWER, team=payments)
    client = with_token(key)
    assert client.get(f"/api/jobs/{job.pk}/").status_code == 200
    assert client.get(f"/api/jobs/{other.pk}/").status_code == 404
    assert client.post(f"/api/jobs/{job.pk}/cancel/").status_code == 403
    assert client.get("/api/audit/").status_code == 403
    assert client.post("/api/tokens/", {"name": "wider", "role": "admin"}).status_code == 403


def test_what_a_token_makes_lives_no_longer_and_sees_no_more(alice: User, payments: Team) -> None:
    end = timezone.now() + timedelta(hours=1)
    _, key = tokens.create(alice, "short", role=Role.OPERATOR, team=payments, expires_at=end)
    made = with_token(key).post("/api/tokens/", {"name": "child", "role": "operator"})
    assert made.status_code == 201, made.content
    child = ApiToken.objects.get(name="child")
    assert (child.expires_at, child.team) == (end, payments)


def test_one_sees_and_revokes_ones_own_tokens_only(alice: User, bob: User) -> None:
    row, _ = tokens.create(alice, "hers")
    assert logged_in(bob).get("/api/tokens/").json()["results"] == []
    assert logged_in(bob).delete(f"/api/tokens/{row.pk}/").status_code == 404
    assert logged_in(alice).delete(f"/api/tokens/{row.pk}/").status_code == 204
    assert AuditEntry.objects.filter(action="token.revoke", username="alice").exists()


def test_admins_keep_teams_and_team_admins_their_members(
    alice: User, bob: User, payments: Team
) -> None:
    carol = User.objects.create_user("carol")
    other = Team.objects.create(name="others")
    wish = {"user": "carol", "team": "payments", "role": "operator"}
    memberships.give(bob, payments, Role.DEVELOPER)
    assert logged_in(bob).post("/api/memberships/", wish).status_code == 403
    memberships.give(bob, payments, Role.ADMIN)
    assert logged_in(bob).post("/api/memberships/", wish).status_code == 201
    assert logged_in(bob).post("/api/memberships/", {**wish, "team": "others"}).status_code == 400
    assert logged_in(bob).post("/api/memberships/", {**wish, "team": ""}).status_code == 403
    assert logged_in(bob).post("/api/teams/", {"name": "new"}).status_code == 403
    assert logged_in(alice).post("/api/teams/", {"name": "new"}).status_code == 201
    assert logged_in(alice).delete(f"/api/teams/{other.pk}/").status_code == 204
    row = Membership.objects.get(user=carol)
    assert logged_in(bob).delete(f"/api/memberships/{row.pk}/").status_code == 204


def test_a_team_with_jobs_is_not_deleted(alice: User, payments: Team) -> None:
    make_job(team=payments)
    answer = logged_in(alice).delete(f"/api/teams/{payments.pk}/")
    assert (answer.status_code, answer.json()["errors"]) == (
        409,
        ["the team has jobs or schedules; nothing was deleted"],
    )


def test_what_a_provider_brings_is_not_taken_by_hand(alice: User, bob: User) -> None:
    memberships.from_provider(bob, {"payments": Role.OPERATOR})
    answer = logged_in(alice).delete(f"/api/memberships/{Membership.objects.get().pk}/")
    assert answer.status_code == 400
    assert "OpenID provider" in answer.json()["errors"][0]


def test_secrets_go_in_and_never_come_out(alice: User, bob: User, payments: Team) -> None:
    wish = {"name": "DB_PASSWORD", "value": "very secret", "team": "payments"}
    made = logged_in(alice).post("/api/secrets/", wish)
    assert made.status_code == 201, made.content
    memberships.give(bob, payments, Role.DEVELOPER)
    listed = logged_in(bob).get("/api/secrets/")
    assert [row["name"] for row in listed.json()["results"]] == ["DB_PASSWORD"]
    assert "very secret" not in f"{made.json()}{listed.json()}{list(AuditEntry.objects.values())}"
    assert logged_in(bob).post("/api/secrets/", wish).status_code == 403
    pk = made.json()["id"]
    assert logged_in(bob).delete(f"/api/secrets/{pk}/").status_code == 403
    assert logged_in(alice).delete(f"/api/secrets/{pk}/").status_code == 204


def test_viewers_do_not_see_which_secrets_there_are(bob: User) -> None:
    job_secrets.keep("DB_PASSWORD", "very secret", None, None)
    assert logged_in(bob).get("/api/secrets/").json()["results"] == []
    memberships.give(bob, None, Role.DEVELOPER)
    assert logged_in(bob).get("/api/secrets/").json()["count"] == 1


def test_a_team_token_submits_for_its_team(alice: User, payments: Team) -> None:
    _, key = tokens.create(alice, "deploy", role=Role.DEVELOPER, team=payments)
    answer = with_token(key).post("/api/jobs/", {"example": "nothing"}, format="json")
    assert answer.status_code == 400
    example = with_token(key).get("/api/examples/").json()[0]["name"]
    made = with_token(key).post("/api/jobs/", {"example": example}, format="json")
    assert (made.status_code, made.json()["team"]) == (201, "payments")


def test_uploads_can_be_switched_off(alice: User, settings: Settings) -> None:
    settings.HEADRACE_UPLOADS = False

    file = SimpleUploadedFile("job.py", b"print('x')\n")
    refused = logged_in(alice).post("/api/jobs/", {"file": file}, format="multipart")
    assert refused.status_code == 403
    assert "switched off" in refused.json()["errors"][0]


def test_tokens_from_before_log_in_as_before(bob: User) -> None:
    carried = import_module("jobs.migrations.0021_tokens_are_hashed")
    with connection.cursor() as cursor:
        cursor.execute(
            "CREATE TABLE authtoken_token (key varchar(40), user_id integer, created timestamp)"
        )
        cursor.execute(
            "INSERT INTO authtoken_token VALUES (%s, %s, %s)", ["a1" * 20, bob.pk, timezone.now()]
        )
        carried.carry_over(apps, SimpleNamespace(connection=connection))
        cursor.execute("SELECT count(*) FROM authtoken_token")
        assert cursor.fetchone() == (0,)
        cursor.execute("DROP TABLE authtoken_token")
    assert with_token("a1" * 20).get("/api/me/").json()["username"] == "bob"


def test_a_token_revokes_none_that_may_more(bob: User) -> None:
    strong, _ = tokens.create(bob, "strong")
    weak, key = tokens.create(bob, "weak", role=Role.VIEWER)
    assert with_token(key).delete(f"/api/tokens/{strong.pk}/").status_code == 403
    assert with_token(key).delete(f"/api/tokens/{weak.pk}/").status_code == 204
    assert ApiToken.objects.get() == strong


@pytest.mark.parametrize(("name", "status"), [("token", 200), ("BOB", 200), ("alice", 401)])
def test_a_token_as_a_password_is_of_the_account_that_is_named(
    bob: User, name: str, status: int
) -> None:
    _, key = tokens.create(bob, "tool")
    client = APIClient()
    basic = base64.b64encode(f"{name}:{key}".encode()).decode()
    client.credentials(HTTP_AUTHORIZATION=f"Basic {basic}")
    assert client.get("/api/me/").status_code == status


def test_an_admins_narrow_token_keeps_no_alerts(alice: User) -> None:
    User.objects.filter(pk=alice.pk).update(is_staff=True)
    for role, allowed in ((Role.DEVELOPER, False), (Role.ADMIN, True)):
        row, _ = tokens.create(alice, "x", role=role)
        user = User.objects.get(pk=alice.pk)
        user.headrace_token = row  # type: ignore[attr-defined]
        assert permissions.may_keep_alerts(user) is allowed


def test_a_rule_names_no_job_that_its_author_does_not_see(bob: User, payments: Team) -> None:
    bob.user_permissions.add(Permission.objects.get(codename="change_alertrule"))
    theirs = make_job(team=payments)
    values = {"name": "x", "kind": "failed", "job": theirs.pk, "channels": []}
    refused = logged_in(bob).post("/api/alerts/rules/", values, format="json")
    assert (refused.status_code, "there is no such job" in refused.content.decode()) == (400, True)


def test_requests_out_of_all_bounds_are_the_callers_fault(bob: User) -> None:
    client = logged_in(bob)
    nested = client.post("/api/tokens/", "[" * 100_000, content_type="application/json")
    assert nested.status_code == 400
    assert client.get(f"/api/alerts/deliveries/?alert={'9' * 5000}").status_code == 200
    address = f"/api/jobs/{make_job().pk}/versions/difference/?after={'9' * 5000}"
    assert client.get(address).status_code == 400


def test_a_savepoint_of_another_team_is_begun_with_by_its_people_only(
    bob: User, payments: Team, tmp_path: Path
) -> None:
    theirs = Savepoint(job=make_job(team=payments), path=str(tmp_path))
    memberships.give(bob, None, Role.DEVELOPER)

    def refused(mode: str, team: Team | None = None) -> bool:
        try:
            wish = beginnings.wanted(str(tmp_path), mode)
            beginnings.check_team(wish, theirs, User.objects.get(pk=bob.pk), team)
        except options.InvalidOption:
            return True
        return False

    assert refused("NO_CLAIM")
    memberships.give(bob, payments, Role.VIEWER)
    assert (refused("NO_CLAIM"), refused("CLAIM")) == (False, True)
    memberships.give(bob, payments, Role.OPERATOR)
    assert not refused("CLAIM")
    assert not refused("CLAIM", payments)


def test_an_admin_does_not_link_a_superusers_account(bob: User) -> None:
    """Who linked it to a person of their own at the provider would log in as the superuser."""
    User.objects.filter(pk=bob.pk).update(is_staff=True)
    root = User.objects.create_superuser("root")
    client = Client()
    client.force_login(User.objects.get(pk=bob.pk))
    person = {"issuer": "https://id", "subject": "s-1"}
    client.post("/admin/jobs/openidaccount/add/", {"user": root.pk, **person})
    assert not OpenIdAccount.objects.exists()
    client.post("/admin/jobs/openidaccount/add/", {"user": bob.pk, **person})
    row = OpenIdAccount.objects.get()
    row.user = root
    row.save()
    address = f"/admin/jobs/openidaccount/{row.pk}/change/"
    assert client.post(address, {"user": root.pk, **person, "subject": "s-2"}).status_code == 403


def test_a_rule_of_another_teams_job_is_not_there_for_who_does_not_see_it(
    bob: User, payments: Team
) -> None:
    bob.user_permissions.add(Permission.objects.get(codename="change_alertrule"))
    rule = AlertRule.objects.create(name="x", kind="failed", job=make_job(team=payments))
    client = logged_in(bob)
    for address in (f"/alerts/rules/{rule.pk}/", f"/alerts/rules/{rule.pk}/delete/"):
        assert client.get(address).status_code == 404
        assert client.post(address).status_code == 404
    assert AlertRule.objects.exists()


def test_arguments_are_shown_without_secrets(alice: User) -> None:
    job = make_job(arguments=["--password", "hush", "--rate", "5"])
    client = Client()
    client.force_login(alice)
    User.objects.filter(pk=alice.pk).update(is_staff=True)
    assert client.get(f"/api/jobs/{job.pk}/").json()["arguments"][2:] == ["--rate", "5"]
    pages = (f"/api/jobs/{job.pk}/", f"/jobs/{job.pk}/configuration/")
    for address in (*pages, f"/admin/jobs/job/{job.pk}/change/"):
        page = client.get(address)
        assert (page.status_code, "hush" in page.content.decode()) == (200, False), address
