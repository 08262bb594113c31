"""Who looks at the pages that are not of one job."""

from __future__ import annotations

import pytest
from django.contrib.auth.models import User
from django.test import Client

from jobs.models import (
    AuditEntry,
    Membership,
    Team,
)
from jobs.roles import Role


@pytest.fixture
def admin(alice: User) -> Client:
    return as_user(alice)


def as_user(user: User) -> Client:
    client = Client()
    client.force_login(user)
    return client


def person(name: str, team: Team | None, role: Role) -> User:
    user = User.objects.create_user(name, password=f"{name}-password")
    Membership.objects.create(user=user, team=team, role=role)
    return user


def text_of(client: Client, path: str) -> str:
    answer = client.get(path)
    assert answer.status_code == 200, (path, answer.status_code)
    return answer.content.decode()


def actions() -> list[str]:
    """What was done, beside the logins."""
    rows = AuditEntry.objects.exclude(action="login").filter(result="ok").order_by("pk")
    return list(rows.values_list("action", flat=True))
