"""The admin console: for admins, every change in the audit log, every action confirmed."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from django.contrib import admin, messages
from django.contrib.auth.models import User
from django.db.models import Model, QuerySet
from django.http import HttpRequest, HttpResponse
from django.template.response import TemplateResponse

from jobs import actions, audit, options, permissions, savepoints


class Console(admin.AdminSite):
    """Open to admins of the cluster, staff or not."""

    site_header = site_title = "Headrace"
    index_title = "Tables"

    def has_permission(self, request: HttpRequest) -> bool:
        return permissions.is_admin(request.user)


class Audited(admin.ModelAdmin):  # type: ignore[type-arg]
    """What is added, changed and deleted by hand is in the audit log."""

    list_per_page = 50
    show_full_result_count = False

    def log_addition(self, request: HttpRequest, obj: Model, message: Any) -> Any:
        audit.record(request, f"{_kind(obj)}.create", obj)
        return super().log_addition(request, obj, message)

    def log_change(self, request: HttpRequest, obj: Model, message: Any) -> Any:
        changed = [name for each in message for name in each.get("changed", {}).get("fields", [])]
        audit.record(request, f"{_kind(obj)}.change", obj, fields=changed)
        return super().log_change(request, obj, message)

    def log_deletions(self, request: HttpRequest, queryset: QuerySet[Any]) -> Any:
        for row in queryset:
            audit.record(request, f"{_kind(row)}.delete", row)
        return super().log_deletions(request, queryset)

    def has_steer_permission(self, request: HttpRequest) -> bool:
        """For actions that are made by `action`."""
        return permissions.may_steer(request.user)


def _kind(row: Model) -> str:
    return str(row._meta.verbose_name).replace(" ", "-")


class LookOnly(Audited):
    """Rows that only the platform writes: one edited by hand would say what never happened."""

    def has_add_permission(self, request: HttpRequest) -> bool:
        return False

    def has_change_permission(self, request: HttpRequest, obj: Model | None = None) -> bool:
        return False

    def has_delete_permission(self, request: HttpRequest, obj: Model | None = None) -> bool:
        return False


class LookOnlyInline(admin.TabularInline):  # type: ignore[type-arg]
    extra = 0
    can_delete = False
    show_change_link = True

    def has_add_permission(self, request: HttpRequest, obj: Model | None = None) -> bool:
        return False

    def has_change_permission(self, request: HttpRequest, obj: Model | None = None) -> bool:
        return False


#: What says why something cannot be done now.
_REFUSALS = (actions.Conflict, savepoints.Conflict, options.InvalidOption)

Wish = Callable[[Any, User | None], Any]
Action = Callable[[Audited, HttpRequest, QuerySet[Any]], HttpResponse | None]


def action(verb: str, description: str, consequence: str, wish: Wish) -> Action:
    """An action on the chosen rows: asks first, saying what it means; then wishes it of each, says
    what became of it, and writes it into the audit log."""

    def act(own: Audited, request: HttpRequest, rows: QuerySet[Any]) -> HttpResponse | None:
        if "confirmed" not in request.POST:
            return _confirmation(own, request, rows)
        for row in rows:
            _carry_out(own, request, row)
        return None

    def _confirmation(own: Audited, request: HttpRequest, rows: QuerySet[Any]) -> HttpResponse:
        context = {
            **own.admin_site.each_context(request),
            "title": description,
            "consequence": consequence,
            "rows": rows,
            "action": verb,
            "opts": own.model._meta,
        }
        return TemplateResponse(request, "admin/confirm_action.html", context)

    def _carry_out(own: Audited, request: HttpRequest, row: Model) -> None:
        user = request.user if isinstance(request.user, User) else None
        name = f"{_kind(row)}.{verb.replace('_', '-')}"
        told = str(row)
        try:
            wish(row, user)
        except _REFUSALS as error:
            own.message_user(request, f"{told}: {error}", messages.ERROR)
            audit.record(request, name, row, result=audit.Result.FAILED, why=str(error))
        else:
            own.message_user(request, f"{told}: asked for", messages.SUCCESS)
            audit.record(request, name, row if row.pk else told)

    act.__name__ = verb
    act.short_description = description  # type: ignore[attr-defined]
    act.allowed_permissions = ("steer",)  # type: ignore[attr-defined]
    return act
