"""The admin account: made once, its password generated and kept, or given by the user."""

from __future__ import annotations

import os
import secrets
from pathlib import Path

from django.contrib.auth import get_user_model

NAME = "admin"
PASSWORD_FILE = "admin-password"
VARIABLE = "HEADRACE_ADMIN_PASSWORD"


def ensure(home: Path) -> str:
    """The account exists afterwards; what to tell the user about its password."""
    path = home / PASSWORD_FILE
    if given := os.environ.get(VARIABLE):
        _set_password(given)
        path.unlink(missing_ok=True)
        return f"the password in {VARIABLE}"
    user = get_user_model().objects.filter(username=NAME).first()
    if user is None:
        password = secrets.token_urlsafe(12)
        _keep(path, password)
        _set_password(password)
        return password
    if path.exists() and user.check_password(path.read_text().strip()):
        return path.read_text().strip()
    return f"the one you set (forgotten? {VARIABLE}=... make up sets a new one)"


def _set_password(password: str) -> None:
    user, created = get_user_model().objects.get_or_create(
        username=NAME, defaults={"is_staff": True, "is_superuser": True}
    )
    if created or not user.check_password(password):
        user.set_password(password)
        user.save(update_fields=["password"])


def _keep(path: Path, password: str) -> None:
    """Readable for this user only, from its first moment."""
    path.unlink(missing_ok=True)
    with os.fdopen(os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600), "w") as file:
        file.write(f"{password}\n")
