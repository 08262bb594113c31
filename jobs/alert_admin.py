"""Alerts in the admin console: rules and channels are kept here, what came of them is shown."""

from __future__ import annotations

from typing import Any

from django import forms
from django.contrib import admin
from django.contrib.auth.models import User
from django.http import HttpRequest

from jobs import alerts
from jobs.console import Audited, LookOnly, LookOnlyInline, action
from jobs.models import Alert, AlertChannel, AlertDelivery, AlertRule


class ChannelForm(forms.ModelForm):  # type: ignore[type-arg]
    """The address and the secret of a channel can be written and never read."""

    new_address = forms.CharField(required=False, label="address", strip=True)
    new_secret = forms.CharField(
        required=False,
        label="secret",
        widget=forms.PasswordInput,
        help_text="signs a webhook's messages (HMAC-SHA256); empty: as it is",
    )

    class Meta:
        model = AlertChannel
        fields = ["name", "kind"]

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        known = f"; empty: as it is, {self.instance.shown_address}" if self.instance.pk else ""
        words = f"a URL, or e-mail addresses separated by commas{known}"
        self.fields["new_address"].help_text = words

    def clean(self) -> dict[str, Any]:
        cleaned = super().clean() or {}
        self.instance.address = cleaned.get("new_address") or self.instance.address
        self.instance.secret = cleaned.get("new_secret") or self.instance.secret
        return cleaned

    def _update_errors(self, errors: Any) -> None:
        """What the row says of its columns belongs to the fields that write them."""
        found = getattr(errors, "error_dict", {})
        for column in ("address", "secret"):
            if column in found:
                found[f"new_{column}"] = found.pop(column)
        super()._update_errors(errors)  # type: ignore[misc]


def _test(channel: AlertChannel, user: User | None) -> None:
    alerts.test(channel)


@admin.register(AlertChannel)
class AlertChannelAdmin(Audited):
    form = ChannelForm
    list_display = ["name", "kind", "shown_address"]
    list_filter = ["kind"]
    search_fields = ["name"]
    actions = [action("test", "Send a test message", "To each of them.", _test)]


@admin.register(AlertRule)
class AlertRuleAdmin(Audited):
    list_display = ["name", "kind", "job", "threshold", "seconds", "enabled"]
    list_filter = ["kind", "enabled"]
    list_select_related = ["job"]
    search_fields = ["name", "=job__id", "job__name"]
    fields = ["name", "kind", "job", "threshold", "seconds", "enabled", "channels"]
    raw_id_fields = ["job"]

    def save_model(
        self, request: HttpRequest, obj: AlertRule, form: forms.Form, change: bool
    ) -> None:
        if not change and isinstance(request.user, User):
            obj.created_by = request.user
        super().save_model(request, obj, form, change)


class DeliveryInline(LookOnlyInline):
    model = AlertDelivery
    fields = ["channel", "about", "state", "attempts", "due_at", "error", "ended_at"]


@admin.register(Alert)
class AlertAdmin(LookOnly):
    list_display = ["rule", "job", "state", "summary", "since", "fired_at", "resolved_at"]
    list_filter = ["state", "rule", "since"]
    list_select_related = ["rule", "job"]
    search_fields = ["=job__id", "job__name", "rule__name", "summary"]
    inlines = [DeliveryInline]


@admin.register(AlertDelivery)
class AlertDeliveryAdmin(LookOnly):
    list_display = [
        *("channel", "about", "alert", "state", "attempts", "due_at", "error"),
        *("created_at", "ended_at"),
    ]
    list_filter = ["state", "channel", "about"]
    list_select_related = ["channel", "alert__rule", "alert__job"]
    search_fields = ["channel__name", "=alert__job__id", "alert__job__name", "error"]
