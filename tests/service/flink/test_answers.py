"""What all of Flink's routes have in common: login, errors, methods, forms of ids."""

from __future__ import annotations

import pytest
from django.contrib.auth.models import User
from django.urls import resolve
from rest_framework.authtoken.models import Token
from rest_framework.test import APIClient

pytestmark = pytest.mark.django_db


@pytest.fixture
def client(alice: User) -> APIClient:
    client = APIClient()
    client.force_authenticate(alice)
    return client


@pytest.mark.parametrize("path", ["/jobs/nothing/here", "/v1/nope", "/taskmanagers/x/y/z"])
def test_every_path_needs_a_login(path: str) -> None:
    answer = APIClient().get(path)

    assert answer.status_code == 401
    assert list(answer.json()) == ["errors"]


@pytest.mark.parametrize("path", ["/v1/nope", "/v1/nope/", "/v1/", "/jars/x/y", "/config/x"])
def test_an_unknown_path_is_told_as_flink_tells_it(client: APIClient, path: str) -> None:
    answer = client.get(path)

    assert answer.status_code == 404
    assert answer["Content-Type"] == "application/json; charset=UTF-8"
    assert answer.json() == {"errors": [f"Unable to load requested file {path}."]}


@pytest.mark.parametrize("path", ["/", "/jobs/", f"/jobs/{'a' * 32}/", "/submit/"])
def test_pages_stay_where_they_are(path: str) -> None:
    assert resolve(path).app_name == "dashboard"


def test_a_token_logs_in(alice: User) -> None:
    client = APIClient()
    client.credentials(HTTP_AUTHORIZATION=f"Token {Token.objects.create(user=alice).key}")

    assert client.get("/v1/nope").status_code == 404
