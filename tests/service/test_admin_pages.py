"""Every table of the admin console: listed, searched, filtered, shown; for admins only."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import pytest
from django.apps import apps
from django.contrib import admin
from django.contrib.auth.models import User
from django.db import connection, transaction
from django.test import Client
from django.test.utils import CaptureQueriesContext
from django.urls import reverse
from pytest_django import DjangoDbBlocker

from jobs import job_secrets, memberships
from jobs.console import LookOnly
from jobs.models import ApiToken, AuditEntry, FailedLogins, Job, Membership, Secret, Team
from jobs.roles import Role
from tests.service import pages
from tests.service.rights import world

TABLES = sorted(admin.site._registry, key=lambda model: model._meta.label)


@pytest.fixture(scope="module")
def there(django_db_setup: None, django_db_blocker: DjangoDbBlocker) -> Iterator[world.World]:
    """One of everything, for all tests."""
    with django_db_blocker.unblock(), transaction.atomic():
        yield world.make()
        transaction.set_rollback(True)


@pytest.fixture
def back(there: world.World) -> Iterator[None]:
    """What a test changes is taken back."""
    with transaction.atomic():
        yield
        transaction.set_rollback(True)


def address(table: Any, page: str, *args: Any) -> str:
    return reverse(f"admin:{table._meta.app_label}_{table._meta.model_name}_{page}", args=args)


def test_every_table_of_the_platform_is_there() -> None:
    assert set(apps.get_app_config("jobs").get_models()) <= set(TABLES)


@pytest.mark.parametrize("table", TABLES, ids=lambda table: table._meta.label)
def test_a_table_is_listed_searched_filtered_and_shown(table: Any, there: world.World) -> None:
    client, own = there.clients["admin"], admin.site._registry[table]
    assert own.search_fields, "no search"
    assert own.list_filter or len(own.list_display) < 5, "no filters"
    listed = address(table, "changelist")
    assert client.get(listed).status_code == 200
    assert client.get(listed, {"q": "tm"}).status_code == 200
    row = table.objects.first()
    if row is not None:
        page = client.get(address(table, "change", row.pk))
        assert page.status_code == 200
        assert isinstance(own, LookOnly) != (b'name="_save"' in page.content) or row_is_fixed(row)
    assert client.get(address(table, "add")).status_code in (200, 403)


def row_is_fixed(row: Any) -> bool:
    return isinstance(row, Membership) and row.source != Membership.Source.HAND


@pytest.mark.parametrize("table", TABLES, ids=lambda table: table._meta.label)
def test_others_do_not_get_in(table: Any, there: world.World) -> None:
    for name in ("viewer", "operator", "developer", "outsider"):
        answer = there.clients[name].get(address(table, "changelist"))
        assert (answer.status_code, answer["Location"][:14]) == (302, "/admin/login/?")


@pytest.mark.parametrize("table", TABLES, ids=lambda table: table._meta.label)
def test_no_page_of_a_table_shows_a_secret(table: Any, there: world.World) -> None:
    for row in table.objects.all()[:5]:
        page = there.clients["admin"].get(address(table, "change", row.pk)).content.decode()
        assert "not to be seen" not in page
        assert "gAAAA" not in page  # how what is encrypted begins


def test_longer_lists_take_no_more_queries(there: world.World, back: None) -> None:
    def queries(table: Any) -> int:
        with CaptureQueriesContext(
            connection,
        ) as found:
            there.clients["admin"].get(address(table, "changelist"))
        return len(found)

    tables = [table for table in TABLES if table._meta.app_label == "jobs"]
    before = {table: queries(table) for table in tables}
    team = Team.objects.get(name="payments")
    for number in range(5):
        job = pages.make_job(f"more {number}", team=team)
        attempt = pages.make_attempt(job)
        pages.make_checkpoint(attempt, number + 1)
        pages.make_taskmanager(f"tm-more-{number}", taken_by=job)
        user = User.objects.create_user(f"more-{number}")
        memberships.give(user, team, Role.VIEWER)
        job_secrets.keep(f"MORE_{number}", "value", team, user)
    grown = {table: (before[table], queries(table)) for table in tables}
    assert {table: found for table, found in grown.items() if found[1] > found[0] + 1} == {}


def test_a_secret_is_kept_by_hand_and_never_shown(there: world.World, back: None) -> None:
    client = there.clients["admin"]
    form = {"name": "BY_HAND", "team": "", "description": "", "value": "very secret"}
    assert client.post(address(Secret, "add"), {**form, "value": ""}).status_code == 200
    assert client.post(address(Secret, "add"), form).status_code == 302
    row = Secret.objects.get(name="BY_HAND")
    job = Job(configuration={job_secrets.KEY: "BY_HAND"})
    assert job_secrets.environment(job) == {"HEADRACE_SECRET_BY_HAND": "very secret"}
    assert client.post(address(Secret, "change", row.pk), {**form, "value": ""}).status_code == 302
    assert job_secrets.environment(job) == {"HEADRACE_SECRET_BY_HAND": "very secret"}
    entries = AuditEntry.objects.filter(target_id=str(row.pk), target_kind="secret")
    assert set(entries.values_list("action", flat=True)) == {"secret.create", "secret.change"}
    assert "very secret" not in str(list(AuditEntry.objects.values()))


def test_an_admin_does_not_make_superusers(there: world.World, back: None) -> None:
    boss = User.objects.create_superuser("boss", password="boss-password")
    client = there.clients["admin"]
    assert b'name="_save"' not in client.get(address(User, "change", boss.pk)).content
    page = client.get(address(User, "change", there.people["viewer"].pk)).content
    assert b'name="is_superuser"' not in page
    assert b'name="is_staff"' in page


def test_tokens_are_revoked_and_failures_forgotten(there: world.World, back: None) -> None:
    FailedLogins.objects.create(username="bob", address="203.0.113.7", failures=9)
    for table, verb in ((ApiToken, "revoke"), (FailedLogins, "forget")):
        rows = list(table.objects.values_list("pk", flat=True))
        asked = {"action": verb, "_selected_action": rows, "confirmed": "yes"}
        answer = there.clients["admin"].post(address(table, "changelist"), asked, follow=True)
        assert b"asked for" in answer.content
        assert not table.objects.exists()


def test_the_index_needs_a_login(there: world.World) -> None:
    assert Client().get("/admin/").status_code == 302
    assert there.clients["admin"].get("/admin/").status_code == 200
