"""Logins: throttled without locking others out, written down, with a list of open browsers."""

from __future__ import annotations

import base64
from datetime import timedelta
from typing import Any

import pytest
from django.contrib.auth.models import User
from django.http import HttpResponse
from django.test import Client
from django.utils import timezone

from jobs import sign_ins, throttling
from jobs.models import AuditEntry, FailedLogins, SignIn

pytestmark = pytest.mark.django_db

HERE, THERE = "203.0.113.7", "198.51.100.9"


@pytest.fixture(autouse=True)
def quick_passwords(settings: Any) -> None:
    settings.PASSWORD_HASHERS = ["django.contrib.auth.hashers.MD5PasswordHasher"]


@pytest.fixture
def bob(quick_passwords: None, db: None) -> User:
    return User.objects.create_user("bob", password="bob-password")


def log_in(password: str, address: str = HERE, name: str = "bob") -> HttpResponse:
    data = {"username": name, "password": password}
    return Client(REMOTE_ADDR=address).post("/login/", data)  # type: ignore[return-value]


def fail(times: int, address: str = HERE, name: str = "bob") -> None:
    for _ in range(times):
        throttling.failed(name, address)


def test_after_some_failures_even_the_right_password_has_to_wait(bob: User) -> None:
    for _ in range(5):
        assert log_in("wrong").status_code == 200
    blocked = log_in("bob-password")
    assert blocked.status_code == 429
    page = blocked.content.decode()
    assert "Too many failed logins: try again in a minute, at " in page
    FailedLogins.objects.update(blocked_until=timezone.now())
    assert log_in("bob-password").status_code == 302
    assert not FailedLogins.objects.filter(username="bob", address=HERE).exists()


def test_who_fails_does_not_lock_the_owner_out_elsewhere(bob: User) -> None:
    for _ in range(20):
        log_in("wrong")
    assert log_in("bob-password").status_code == 429
    assert log_in("bob-password", THERE).status_code == 302


def test_waits_grow_up_to_a_quarter_of_an_hour(bob: User) -> None:
    waits = [throttling.ACCOUNT_AT_ADDRESS.wait(n) for n in (4, 5, 6, 7, 50)]
    seconds = [None if wait is None else wait.total_seconds() for wait in waits]
    assert seconds == [None, 30, 60, 120, 900]


def test_an_address_that_tries_many_accounts_waits_for_all_of_them(bob: User) -> None:
    for number in range(30):
        fail(1, name=f"somebody-{number}")
    assert log_in("bob-password").status_code == 429
    assert log_in("bob-password", THERE).status_code == 302


def test_an_account_tried_from_everywhere_stays_open_where_it_was_used(bob: User) -> None:
    assert log_in("bob-password", THERE).status_code == 302
    for number in range(60):
        fail(1, f"192.0.2.{number}")
    assert log_in("bob-password").status_code == 429
    assert log_in("bob-password", THERE).status_code == 302


def test_of_ipv6_the_network_counts(bob: User) -> None:
    for number in range(5):
        fail(1, f"2001:db8::{number:x}")
    assert throttling.blocked_until("bob", "2001:db8::ffff") is not None
    assert throttling.blocked_until("bob", "2001:db8:0:1::1") is None


def test_old_failures_are_forgotten(bob: User) -> None:
    fail(4)
    FailedLogins.objects.update(last_at=timezone.now() - timedelta(hours=2))
    fail(1)
    assert throttling.blocked_until("bob", HERE) is None


def test_the_table_does_not_grow_without_end(monkeypatch: pytest.MonkeyPatch, db: None) -> None:
    monkeypatch.setattr(throttling, "ROWS", 20)
    for number in range(30):
        fail(1, f"192.0.2.{number}", f"somebody-{number}")
    assert FailedLogins.objects.count() <= 21


def test_programs_are_told_when_to_try_again(bob: User) -> None:
    fail(5)
    credentials = base64.b64encode(b"bob:bob-password").decode()
    client = Client(REMOTE_ADDR=HERE, headers={"Authorization": f"Basic {credentials}"})
    answer = client.get("/api/me/")
    assert answer.status_code == 429
    assert 0 < int(answer["Retry-After"]) <= 30
    assert "Too many failed logins" in answer.json()["errors"][0]


def test_the_admin_console_has_no_login_of_its_own(bob: User) -> None:
    answer = Client().get("/admin/", follow=True)
    assert answer.redirect_chain[-1][0].startswith("/login/?next=")
    assert Client().post("/admin/login/", {"username": "bob"}).status_code == 302


def test_logins_are_in_the_audit_log_without_what_was_typed(bob: User) -> None:
    log_in("wrong")
    log_in("x", name="my-password-in-the-wrong-field")
    log_in("bob-password")
    entries = AuditEntry.objects.order_by("pk").values_list("username", "result", "target_name")
    assert list(entries) == [
        ("bob", "failed", "bob"),
        ("", "failed", "unknown account"),
        ("bob", "ok", "bob"),
    ]
    assert set(AuditEntry.objects.values_list("address", flat=True)) == {HERE}


def test_open_browsers_are_listed_and_ended(bob: User) -> None:
    one, two = Client(REMOTE_ADDR=HERE), Client(REMOTE_ADDR=THERE)
    for client in (one, two):
        client.post("/login/", {"username": "bob", "password": "bob-password"})
    assert {row.address for row in sign_ins.of(bob)} == {HERE, THERE}
    sign_ins.end(SignIn.objects.get(address=THERE))
    assert (one.get("/api/me/").status_code, two.get("/api/me/").status_code) == (200, 401)
    assert {row.address for row in sign_ins.of(bob)} == {HERE}
    key = one.session.session_key
    assert key is not None
    assert sign_ins.end_others(bob, key) == 0
    assert one.get("/api/me/").status_code == 200


def test_a_wrong_password_of_a_program_counts_once(bob: User) -> None:
    for name in ("bob", "nobody", "no\0body"):
        basic = base64.b64encode(f"{name}:wrong".encode()).decode()
        answer = Client(REMOTE_ADDR=HERE).get("/api/me/", HTTP_AUTHORIZATION=f"Basic {basic}")
        assert answer.status_code == 401
    counted = FailedLogins.objects.filter(address=HERE).exclude(username="")
    assert dict(counted.values_list("username", "failures")) == {"bob": 1, "nobody": 1}
    assert AuditEntry.objects.filter(action="login", result="failed").count() == 2


def test_sessions_that_have_expired_are_removed(bob: User) -> None:
    assert log_in("bob-password").status_code == 302
    assert sign_ins.prune(timezone.now()) == 0
    assert sign_ins.prune(timezone.now() + timedelta(days=8)) == 1
    assert not sign_ins.of(bob)
