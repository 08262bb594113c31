"""The pages that are not of one job: what they show, and who may do what on them."""

from __future__ import annotations

import pytest
from django.contrib.auth.models import User
from django.test import Client

from tests.service import pages

pytestmark = pytest.mark.django_db

PAGES = [
    *("/", "/jobs/", "/submit/", "/savepoints/", "/schedules/", "/alerts/", "/alerts/rules/"),
    *("/alerts/channels/", "/alerts/deliveries/", "/taskmanagers/", "/jobmanager/"),
    *("/jobmanager/configuration/", "/jobmanager/environment/", "/audit/", "/account/"),
    *("/account/password/", "/teams/", "/teams/new/", "/alerts/rules/new/"),
    *("/alerts/channels/new/", "/taskmanagers/tm-1/", "/taskmanagers/tm-1/act/drain/"),
]


@pytest.fixture
def admin(alice: User) -> Client:
    client = Client()
    client.force_login(alice)
    return client


@pytest.mark.parametrize("path", PAGES)
def test_every_page_opens(path: str, admin: Client) -> None:
    pages.make_taskmanager()
    answer = admin.get(path)
    assert answer.status_code == 200, answer.content.decode()[:2000]
