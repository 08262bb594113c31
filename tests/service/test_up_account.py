"""The admin account: a password generated once, or the one the user gives."""

from __future__ import annotations

from pathlib import Path

import pytest
from django.contrib.auth import authenticate

from workers.up import account

pytestmark = pytest.mark.django_db


@pytest.fixture(autouse=True)
def no_password_given(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv(account.VARIABLE, raising=False)


def can_log_in(password: str) -> bool:
    user = authenticate(username=account.NAME, password=password)
    return user is not None and user.is_superuser


def test_a_password_is_generated_once_and_kept_for_the_user_alone(tmp_path: Path) -> None:
    password = account.ensure(tmp_path)

    assert can_log_in(password)
    assert account.ensure(tmp_path) == password
    file = tmp_path / account.PASSWORD_FILE
    assert file.read_text().strip() == password
    assert file.stat().st_mode & 0o777 == 0o600


def test_a_given_password_replaces_the_old_one_and_is_not_written_down(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    old = account.ensure(tmp_path)
    monkeypatch.setenv(account.VARIABLE, "chosen-by-the-user")

    told = account.ensure(tmp_path)

    assert can_log_in("chosen-by-the-user") and not can_log_in(old)
    assert "chosen-by-the-user" not in told
    assert not (tmp_path / account.PASSWORD_FILE).exists()


def test_a_password_changed_on_the_page_stays(tmp_path: Path) -> None:
    account.ensure(tmp_path)
    user = authenticate(
        username=account.NAME, password=(tmp_path / account.PASSWORD_FILE).read_text().strip()
    )
    assert user is not None
    user.set_password("changed-on-the-page")
    user.save()

    assert account.ensure(tmp_path).startswith("the one you set")
    assert can_log_in("changed-on-the-page")
