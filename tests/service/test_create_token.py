"""`manage.py create_token`."""

from __future__ import annotations

from io import StringIO

import pytest
from django.contrib.auth.models import User
from django.core.management import CommandError, call_command
from rest_framework.test import APIClient

from jobs.models import AuditEntry

pytestmark = pytest.mark.django_db


def test_the_token_logs_in_and_is_written_down() -> None:
    User.objects.create_superuser("root", password="x")
    told = StringIO()
    call_command("create_token", "root", role="viewer", days=1, stdout=told)
    client = APIClient(HTTP_AUTHORIZATION=f"Bearer {told.getvalue().strip()}")
    answer = client.get("/api/me/").json()
    assert answer["username"] == "root"
    assert client.post("/api/teams/", {"name": "x"}).status_code == 403
    [entry] = AuditEntry.objects.filter(action="token.create")
    assert told.getvalue().strip() not in str(entry.__dict__)


def test_nobody_and_no_time() -> None:
    User.objects.create_user("ann")
    with pytest.raises(CommandError, match="no active account 'bob'"):
        call_command("create_token", "bob")
    with pytest.raises(CommandError, match="No token was made"):
        call_command("create_token", "ann", days=-1)
