"""What all of Flink's routes have in common: login, errors, methods, forms of ids."""

from __future__ import annotations

import base64

import pytest
from django.contrib.auth.models import User
from django.urls import resolve
from rest_framework.test import APIClient

from jobs import tokens

pytestmark = pytest.mark.django_db


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


@pytest.mark.parametrize("path", ["/jobs", f"/jobs/{'a' * 32}"])
def test_who_types_a_pages_address_without_its_slash_sees_the_page(path: str) -> None:
    typed = {"HTTP_SEC_FETCH_MODE": "navigate", "HTTP_SEC_FETCH_DEST": "document"}

    assert APIClient().get(path, **typed)["Location"] == f"{path}/"
    assert APIClient().get(f"/v1{path}", **typed).status_code == 401
    assert APIClient().get(path, HTTP_SEC_FETCH_MODE="cors").status_code == 401


@pytest.mark.parametrize("word", ["Token", "Bearer"])
def test_a_token_logs_in(alice: User, word: str) -> None:
    _, key = tokens.create(alice, "mine")
    client = APIClient()
    client.credentials(HTTP_AUTHORIZATION=f"{word} {key}")

    assert client.get("/v1/nope").status_code == 404


def test_name_and_password_log_in(alice: User) -> None:
    """As in http://name:password@host/, which all of Flink's clients can be given."""
    alice.set_password("alice-password")
    alice.save()
    client = APIClient()
    credentials = base64.b64encode(b"alice:alice-password").decode()
    client.credentials(HTTP_AUTHORIZATION=f"Basic {credentials}")

    assert client.get("/v1/nope").status_code == 404
