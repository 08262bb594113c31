"""People in the admin console: accounts, teams, roles, tokens, secrets, logins, the audit log."""

from __future__ import annotations

from typing import Any

from django import forms
from django.contrib import admin
from django.contrib.auth.admin import GroupAdmin, UserAdmin
from django.contrib.auth.models import Group, User
from django.db.models import Model
from django.http import HttpRequest

from jobs import job_secrets, options, sign_ins
from jobs.console import Audited, LookOnly, action
from jobs.models import (
    ApiToken,
    AuditEntry,
    FailedLogins,
    Membership,
    OpenIdAccount,
    Secret,
    SignIn,
    Team,
)

admin.site.unregister(User)
admin.site.unregister(Group)


@admin.register(User)
class AccountAdmin(Audited, UserAdmin):  # type: ignore[type-arg]
    """Accounts. What only superusers may give is read-only for the others."""

    list_display = ["username", "email", "is_active", "is_staff", "last_login"]

    def get_readonly_fields(self, request: HttpRequest, obj: Any = None) -> Any:
        fixed = super().get_readonly_fields(request, obj)
        if request.user.is_superuser:
            return fixed
        return [*fixed, "is_superuser", "user_permissions", "groups"]

    def has_change_permission(self, request: HttpRequest, obj: Model | None = None) -> bool:
        return super().has_change_permission(request, obj) and _may_change(request, obj)

    def has_delete_permission(self, request: HttpRequest, obj: Model | None = None) -> bool:
        return super().has_delete_permission(request, obj) and _may_change(request, obj)


def _may_change(request: HttpRequest, account: Model | None) -> bool:
    """A superuser's account is changed by superusers only."""
    return request.user.is_superuser or not (isinstance(account, User) and account.is_superuser)


@admin.register(Group)
class AccountGroupAdmin(Audited, GroupAdmin):
    """Django's groups: they may bring "Can submit jobs"; roles are simpler."""

    def has_module_permission(self, request: HttpRequest) -> bool:
        return bool(request.user.is_superuser)

    def has_change_permission(self, request: HttpRequest, obj: Model | None = None) -> bool:
        return bool(request.user.is_superuser)

    has_add_permission = has_delete_permission = has_change_permission


class MembershipInline(admin.TabularInline):  # type: ignore[type-arg]
    model = Membership
    extra = 0
    fields = ["user", "role", "source", "created_at"]
    readonly_fields = ["source", "created_at"]
    autocomplete_fields = ["user"]


@admin.register(Team)
class TeamAdmin(Audited):
    list_display = ["name", "description", "created_at"]
    list_filter = ["created_at"]
    search_fields = ["name", "description"]
    fields = ["name", "description"]
    inlines = [MembershipInline]


@admin.register(Membership)
class MembershipAdmin(Audited):
    list_display = ["user", "team", "role", "source", "created_at"]
    list_filter = ["role", "source", "team"]
    list_select_related = ["user", "team"]
    search_fields = ["user__username", "team__name"]
    fields = ["user", "team", "role"]
    autocomplete_fields = ["user", "team"]

    def has_change_permission(self, request: HttpRequest, obj: Model | None = None) -> bool:
        """One that comes from the OpenID provider would be back at the next login."""
        brought = isinstance(obj, Membership) and obj.source != Membership.Source.HAND
        return super().has_change_permission(request, obj) and not brought

    has_delete_permission = has_change_permission


@admin.register(ApiToken)
class TokenAdmin(LookOnly):
    """Made by their owners; anybody's can be revoked."""

    list_display = [
        *("name", "prefix", "user", "role", "team", "created_at", "expires_at"),
        *("last_used_at", "last_used_from"),
    ]
    list_filter = ["role", "team", "expires_at", "last_used_at"]
    list_select_related = ["user", "team"]
    search_fields = ["name", "=prefix", "user__username", "=last_used_from"]
    exclude = ["sha256"]
    actions = [
        action(
            "revoke",
            "Revoke",
            "Whatever uses them is refused from now on. This cannot be taken back.",
            lambda row, _: row.delete(),
        )
    ]


class SecretForm(forms.ModelForm):  # type: ignore[type-arg]
    """A value can be written and never read."""

    value = forms.CharField(
        widget=forms.PasswordInput, required=False, help_text="empty: as it is", strip=False
    )

    class Meta:
        model = Secret
        fields = ["name", "team", "description"]

    def clean(self) -> dict[str, Any]:
        cleaned = super().clean() or {}
        value = cleaned.get("value") or ""
        if value or self.instance._state.adding:
            try:
                self.instance.ciphertext = job_secrets.encrypted(value)
            except options.InvalidOption as error:
                self.add_error("value", str(error))
        return cleaned


@admin.register(Secret)
class SecretAdmin(Audited):
    form = SecretForm
    list_display = ["name", "team", "description", "created_by", "changed_at", "used_at"]
    list_filter = ["team", "changed_at", "used_at"]
    list_select_related = ["team", "created_by"]
    search_fields = ["name", "description", "team__name"]

    def save_model(self, request: HttpRequest, obj: Secret, form: forms.Form, change: bool) -> None:
        if not change and isinstance(request.user, User):
            obj.created_by = request.user
        super().save_model(request, obj, form, change)


@admin.register(SignIn)
class SignInAdmin(LookOnly):
    list_display = ["user", "address", "agent", "created_at"]
    list_filter = ["created_at"]
    list_select_related = ["user"]
    search_fields = ["user__username", "=address", "agent"]
    exclude = ["session_key"]
    actions = [
        action(
            "log_out",
            "Log these browsers out",
            "They have to log in again.",
            lambda row, _: sign_ins.end(row),
        )
    ]


@admin.register(FailedLogins)
class FailedLoginsAdmin(LookOnly):
    list_display = ["username", "address", "failures", "last_at", "blocked_until"]
    list_filter = ["last_at", "blocked_until"]
    search_fields = ["username", "=address"]
    actions = [
        action(
            "forget",
            "Forget: let them try again at once",
            "Whoever guesses passwords may go on guessing.",
            lambda row, _: row.delete(),
        )
    ]


@admin.register(OpenIdAccount)
class OpenIdAccountAdmin(Audited):
    """To link an account, name the provider's address and its id of the person."""

    list_display = ["user", "issuer", "subject", "created_at"]
    list_filter = ["issuer"]
    list_select_related = ["user"]
    search_fields = ["user__username", "subject"]
    fields = ["user", "issuer", "subject"]
    autocomplete_fields = ["user"]

    def has_change_permission(self, request: HttpRequest, obj: Model | None = None) -> bool:
        account = obj.user if isinstance(obj, OpenIdAccount) else None
        return super().has_change_permission(request, obj) and _may_change(request, account)

    def has_delete_permission(self, request: HttpRequest, obj: Model | None = None) -> bool:
        account = obj.user if isinstance(obj, OpenIdAccount) else None
        return super().has_delete_permission(request, obj) and _may_change(request, account)

    def get_form(self, request: HttpRequest, *args: Any, **kwargs: Any) -> Any:
        """Who links a superuser's account to a person of the provider logs in as one."""
        form = super().get_form(request, *args, **kwargs)
        user = form.base_fields.get("user")
        if isinstance(user, forms.ModelChoiceField) and not request.user.is_superuser:
            user.queryset = User.objects.filter(is_superuser=False)
        return form


@admin.register(AuditEntry)
class AuditAdmin(LookOnly):
    list_display = [
        *("at", "username", "action", "target_name", "result", "via", "address", "token"),
    ]
    list_filter = ["result", "via", "at", "action"]
    search_fields = ["username", "action", "=target_id", "target_name", "=address"]
    date_hierarchy = "at"
