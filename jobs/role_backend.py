"""Admins may do in the admin console what its tables offer, without Django's permissions one by
one."""

from __future__ import annotations

from typing import Any

from django.contrib.auth.backends import BaseBackend
from django.contrib.auth.models import AnonymousUser, User

from jobs import permissions

#: Apps whose tables are the platform's.
_APPS = ("jobs", "auth")


class RoleBackend(BaseBackend):
    """Logs nobody in."""

    def has_perm(self, user_obj: User | AnonymousUser, perm: str, obj: Any = None) -> bool:
        return perm.partition(".")[0] in _APPS and permissions.is_admin(user_obj)

    def has_module_perms(self, user_obj: User | AnonymousUser, app_label: str) -> bool:
        return app_label in _APPS and permissions.is_admin(user_obj)
