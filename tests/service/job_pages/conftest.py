"""A job with everything that its driver measured, and who looks at it."""

from __future__ import annotations

import re

import pytest
from django.contrib.auth.models import User
from django.test import Client

from dashboard import pages as live_pages
from jobs import vertices
from jobs.models import (
    Job,
)
from tests.service import busy_job


@pytest.fixture
def job(db: None) -> Job:
    return busy_job.make()


@pytest.fixture
def client(alice: User) -> Client:
    client = Client()
    client.force_login(alice)
    return client


@pytest.fixture
def bob(db: None) -> Client:
    """May look."""
    client = Client()
    client.force_login(User.objects.create_user("bob", password="bob-password"))
    return client


def text(client: Client, path: str) -> str:
    answer = client.get(path)
    assert answer.status_code == 200, path
    return re.sub(r"\s+", " ", answer.content.decode())


def vertex(job: Job, name: str) -> str:
    return next(each.id for each in vertices.of(job.plan) if name in each.name)


TABS = [name for name in live_pages.TABS if name != "overview"]
