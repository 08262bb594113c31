"""API tokens: made, found by what a request brings, revoked."""

from __future__ import annotations

import hashlib
import secrets
from datetime import datetime, timedelta

from django.contrib.auth.models import User
from django.db.models import Q
from django.utils import timezone

from jobs import options
from jobs.models import ApiToken, Team
from jobs.roles import Role

#: How a token begins: found by scanners of leaked secrets.
MARK = "hr_"
_PREFIX = len(MARK) + 6
#: `last_used_at` is written no more often than this.
_NOTED = timedelta(minutes=1)
#: Tokens of one person.
MOST = 100


def create(
    user: User,
    name: str,
    *,
    role: Role = Role.ADMIN,
    team: Team | None = None,
    expires_at: datetime | None = None,
) -> tuple[ApiToken, str]:
    """The row, and the token itself, which nobody can see again. Raises InvalidOption."""
    name = " ".join(name.split())
    if not 0 < len(name) <= 100:
        raise options.InvalidOption("a token needs a name of 1 to 100 characters")
    if expires_at is not None and expires_at <= timezone.now():
        raise options.InvalidOption("a token cannot expire in the past")
    if ApiToken.objects.filter(user=user).count() >= MOST:
        raise options.InvalidOption(f"an account has {MOST} tokens at most; revoke some")
    key = MARK + secrets.token_urlsafe(32)
    row = ApiToken.objects.create(
        user=user,
        name=name,
        prefix=key[:_PREFIX],
        sha256=digest(key),
        role=role,
        team=team,
        expires_at=expires_at,
    )
    return row, key


def digest(key: str) -> str:
    """A token has 256 random bits: a plain hash of it cannot be turned back."""
    return hashlib.sha256(key.encode()).hexdigest()


def find(key: str) -> ApiToken | None:
    """The token, if there is one and it has not expired and its owner is active."""
    now = timezone.now()
    valid = Q(expires_at=None) | Q(expires_at__gt=now)
    rows = ApiToken.objects.select_related("user", "team").filter(valid, user__is_active=True)
    return rows.filter(sha256=digest(key)).first()


def used(token: ApiToken, address: str) -> None:
    """Note it, once a minute and when the address is another."""
    now = timezone.now()
    fresh = token.last_used_at is not None and now - token.last_used_at < _NOTED
    if fresh and token.last_used_from == address:
        return
    ApiToken.objects.filter(pk=token.pk).update(last_used_at=now, last_used_from=address)


def revoke(token: ApiToken) -> None:
    """From now on it logs nobody in."""
    token.delete()
