"""Who may do what with jobs. Submitting runs code on the TaskManagers, so it is a right of its
own; everybody who is logged in may look."""

from __future__ import annotations

from django.contrib.auth.models import AnonymousUser, User


def may_submit(user: User | AnonymousUser) -> bool:
    """Staff, and whoever was given "Can submit jobs"."""
    return user.is_active and (user.is_staff or user.has_perm("jobs.submit_job"))


def may_steer(user: User | AnonymousUser) -> bool:
    """Cancel, suspend, resume, restart: who may submit, and whoever may change jobs."""
    return may_submit(user) or (user.is_active and user.has_perm("jobs.change_job"))


def may_keep_alerts(user: User | AnonymousUser) -> bool:
    """Rules and channels: staff, and whoever may change alert rules. The platform sends messages
    to any address they name, within its own network too."""
    return user.is_active and (user.is_staff or user.has_perm("jobs.change_alertrule"))
