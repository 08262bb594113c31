"""Rules and channels of alerts."""

from __future__ import annotations

import pytest
from django.test import Client

from jobs.models import (
    AlertChannel,
    AlertDelivery,
    AlertRule,
)
from tests.service.cluster_pages.conftest import actions, text_of

pytestmark = pytest.mark.django_db


def test_a_rule_is_made_changed_and_deleted(admin: Client) -> None:
    channel = AlertChannel.objects.create(name="mail", kind="email", address="a@example.org")
    wish = {
        "name": "far behind",
        "kind": "lag",
        "threshold": 1000,
        "seconds": 60,
        "channels": [channel.pk],
        "enabled": "on",
    }
    assert admin.post("/alerts/rules/new/", wish)["Location"] == "/alerts/rules/"
    rule = AlertRule.objects.get()
    assert list(rule.channels.all()) == [channel]
    admin.post(f"/alerts/rules/{rule.pk}/", {**wish, "threshold": 5, "enabled": ""})
    rule.refresh_from_db()
    assert (rule.threshold, rule.enabled) == (5, False)
    wrong = admin.post("/alerts/rules/new/", {**wish, "kind": "restarts", "seconds": 0})
    assert wrong.status_code == 422
    admin.post(f"/alerts/rules/{rule.pk}/delete/")
    assert not AlertRule.objects.exists()
    assert actions() == ["alert-rule.create", "alert-rule.change", "alert-rule.delete"]


def test_a_channels_secret_and_path_are_never_shown_and_stay_when_left_empty(
    admin: Client,
) -> None:
    wish = {
        "name": "on call",
        "kind": "webhook",
        "address": "https://hooks.example.org/T0/hush",
        "secret": "0123456789abcdef0123",
    }
    admin.post("/alerts/channels/new/", wish)
    row = AlertChannel.objects.get()
    for path in ("/alerts/channels/", f"/alerts/channels/{row.pk}/"):
        page = text_of(admin, path)
        assert "hush" not in page
        assert "0123456789abcdef" not in page
        assert "hooks.example.org" in page
    changed = {"name": "on call 2", "kind": "webhook", "address": "", "secret": ""}
    assert admin.post(f"/alerts/channels/{row.pk}/", changed).status_code == 302
    row.refresh_from_db()
    assert (row.name, row.address, row.secret) == ("on call 2", wish["address"], wish["secret"])


def test_a_channel_is_tried_out(admin: Client) -> None:
    row = AlertChannel.objects.create(name="mail", kind="email", address="a@example.org")
    admin.post(f"/alerts/channels/{row.pk}/test/")
    assert AlertDelivery.objects.get().about == "test"
    assert "A test" in text_of(admin, "/alerts/deliveries/")
    assert actions() == ["alert-channel.test"]
