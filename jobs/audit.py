"""The audit log: every change that somebody asks for, with who, when, what and from where.

Views call `record`. What a view forgets, `AuditMiddleware` writes with the names of the address.
"""

from __future__ import annotations

import getpass
from collections.abc import Mapping
from datetime import datetime, timedelta
from typing import Any

from django.conf import settings
from django.contrib.auth.models import User
from django.db.models import Model
from django.http import HttpRequest

from jobs import masking
from jobs.models import ApiToken, AuditEntry

Result = AuditEntry.Result
Via = AuditEntry.Via
#: Longer texts of a detail are cut.
_LONGEST = 1000


def record(
    request: HttpRequest | None,
    action: str,
    target: Model | str | None = None,
    *,
    result: AuditEntry.Result = Result.OK,
    user: User | None = None,
    via: AuditEntry.Via | None = None,
    **detail: Any,
) -> AuditEntry:
    """Write down that `action` ("job.cancel") was asked for on `target`, a row or a name.

    `request` is Django's or DRF's; None for the command line on this machine. `user` is for where
    the request does not know it (a login). `detail` is kept as JSON; values whose names speak of a
    secret are masked. Within a transaction the entry is written if the change is.
    """
    entry = AuditEntry(action=action[:80], result=result, **_whom(request, user, via))
    entry.target_kind, entry.target_id, entry.target_name = _what(target)
    entry.detail = _plain(detail)
    entry.save(force_insert=True)
    if request is not None:
        _django(request).headrace_audited = True  # type: ignore[attr-defined]
    return entry


def is_written(request: HttpRequest) -> bool:
    """Whether the request has its entry."""
    return getattr(_django(request), "headrace_audited", False)


def of_status(status: int) -> AuditEntry.Result:
    """How a request ended that was answered with this status."""
    if status < 400:
        return Result.OK
    return Result.REFUSED if status in (401, 403) else Result.FAILED


def prune(now: datetime, at_most: int = 1000) -> int:
    """Remove entries that are older than HEADRACE_AUDIT_DAYS, the oldest first; how many."""
    if not settings.HEADRACE_AUDIT_DAYS:
        return 0
    old = AuditEntry.objects.filter(at__lt=now - timedelta(days=settings.HEADRACE_AUDIT_DAYS))
    chosen = list(old.order_by("at").values_list("pk", flat=True)[:at_most])
    return AuditEntry.objects.filter(pk__in=chosen).delete()[0]


def address(request: HttpRequest) -> str:
    """Where the request comes from, as the web server knows it (FORWARDED_ALLOW_IPS)."""
    return str(_django(request).META.get("REMOTE_ADDR") or "")[:45]


def _django(request: Any) -> HttpRequest:
    """DRF's request wraps Django's."""
    found: HttpRequest = getattr(request, "_request", request)
    return found


def _whom(
    request: HttpRequest | None, user: User | None, by: AuditEntry.Via | None
) -> dict[str, Any]:
    if request is None:
        name = user.get_username() if user is not None else _account_of_the_machine()
        return {"user": user, "username": name[:150], "via": by or Via.COMMAND}
    found = user if user is not None else request.user
    known = found if isinstance(found, User) else None
    token = getattr(found, "headrace_token", None)
    return {
        "user_id": known.pk if known is not None else None,
        "username": known.get_username() if known is not None else "",
        "via": by or via(request),
        "address": address(request),
        "agent": _django(request).META.get("HTTP_USER_AGENT", "")[:200],
        "token": str(token) if isinstance(token, ApiToken) else "",
    }


def _account_of_the_machine() -> str:
    try:
        return getpass.getuser()
    except (OSError, KeyError):  # a user id without a name
        return "?"


def via(request: HttpRequest) -> AuditEntry.Via:
    """Which way in was taken."""
    path = _django(request).path_info
    if path.startswith("/api/"):
        return Via.API
    if path.startswith("/admin/"):
        return Via.CONSOLE
    if path.startswith(("/login/", "/logout/", "/oidc/")):
        return Via.LOGIN
    return Via.PAGE if path.endswith("/") else Via.FLINK


def _what(target: Model | str | None) -> tuple[str, str, str]:
    if target is None:
        return "", "", ""
    if isinstance(target, str):
        return "", target[:255], target[:255]
    kind = str(target._meta.verbose_name)
    return kind[:40], str(target.pk if target.pk is not None else "")[:255], str(target)[:255]


def _plain(detail: Mapping[str, Any]) -> dict[str, Any]:
    """As JSON takes it: no secrets, no long texts, no nothings."""
    return {
        key: masking.MASK if masking.speaks_of_secret(key) else _short(value)
        for key, value in detail.items()
        if value is not None
    }


def _short(value: Any) -> Any:
    if isinstance(value, Mapping):
        return _plain({str(key): item for key, item in value.items()})
    if isinstance(value, list | tuple | set):
        return [_short(item) for item in list(value)[:100]]
    return value if isinstance(value, bool | int | float) else str(value)[:_LONGEST]
