"""Rules and channels by REST and in the admin console: who may, what is refused, what is hidden."""

from __future__ import annotations

from typing import Any

import pytest
from django.contrib.auth.models import Permission, User
from django.test import Client
from django.urls import reverse
from rest_framework.test import APIClient

from jobs import alerts
from jobs.models import Alert, AlertChannel, AlertDelivery, AlertRule
from jobs.states import AlertState
from tests.service.pages import make_job

pytestmark = pytest.mark.django_db

SECRET = "a secret that nobody sees"
HOOK = {
    "name": "ops",
    "kind": "webhook",
    "address": "https://host:8443/T0/part-that-nobody-sees",
    "secret": SECRET,
}


@pytest.fixture
def bob(db: None) -> User:
    """May look."""
    return User.objects.create_user("bob", password="bob-password")


@pytest.fixture
def channel(db: None) -> AlertChannel:
    return AlertChannel.objects.create(**HOOK)


@pytest.fixture
def root(client: Client) -> Client:
    client.force_login(User.objects.create_superuser("root", password="root-password"))
    return client


def client_of(user: User) -> APIClient:
    client = APIClient()
    client.force_authenticate(user)
    return client


def test_secrets_are_written_and_never_read(alice: User) -> None:
    client = client_of(alice)

    made = client.post("/api/alerts/channels/", HOOK)
    assert made.status_code == 201, made.content
    assert made.json()["shown_address"] == "https://host:8443/••••••"
    assert made.json()["signed"] is True
    listed = client.get("/api/alerts/channels/")
    for answer in (made, listed):
        assert SECRET.encode() not in answer.content
        assert b"part-that-nobody-sees" not in answer.content
    assert AlertChannel.objects.get().secret == SECRET


@pytest.mark.parametrize(
    ("values", "words"),
    [
        ({"kind": "webhook", "address": "ftp://host/x"}, "like https://host/path"),
        ({"kind": "slack", "address": "https://"}, "like https://host/path"),
        ({"kind": "slack", "address": "https://u:p@host/"}, "like https://host/path"),
        ({"kind": "slack", "address": "https://[/"}, "like https://host/path"),
        ({"kind": "webhook", "address": "http://a..b/x"}, "like https://host/path"),
        ({"kind": "webhook", "address": f"http://{'x' * 70}/"}, "like https://host/path"),
        ({"kind": "email", "address": "a@b.example, nobody"}, "valid email"),
        ({"kind": "email", "address": " , "}, "at least one"),
        ({"kind": "webhook", "address": "https://host/x", "secret": "short"}, "at least 16"),
        ({"kind": "email", "address": "a@b.example", "secret": SECRET}, "only a webhook's"),
        ({"kind": "pigeon", "address": "roof"}, "not a valid choice"),
    ],
)
def test_unusable_channels_are_refused(alice: User, values: dict[str, str], words: str) -> None:
    answer = client_of(alice).post("/api/alerts/channels/", {"name": "x", **values})

    assert answer.status_code == 400
    assert words in answer.json()["errors"][0]


def test_a_change_keeps_what_it_does_not_name(alice: User, channel: AlertChannel) -> None:
    client = client_of(alice)

    answer = client.patch(f"/api/alerts/channels/{channel.pk}/", {"name": "night"})
    assert answer.status_code == 200, answer.content
    channel.refresh_from_db()
    assert (channel.name, channel.secret) == ("night", SECRET)
    assert client.patch(f"/api/alerts/channels/{channel.pk}/", {"kind": "email"}).status_code == 400


def test_rules(alice: User, channel: AlertChannel) -> None:
    client, job = client_of(alice), make_job()
    values = {"name": "behind", "kind": "lag", "threshold": 10, "seconds": 60, "job": job.pk}

    made = client.post("/api/alerts/rules/", {**values, "channels": [channel.pk]})
    assert made.status_code == 201, made.content
    assert made.json()["created_by"] == "alice"
    switched = client.patch(f"/api/alerts/rules/{made.json()['id']}/", {"enabled": False})
    assert switched.json()["enabled"] is False
    assert list(AlertRule.objects.get().channels.all()) == [channel]
    refused = client.post(
        "/api/alerts/rules/", {"name": "x", "kind": "restarts", "channels": [channel.pk]}
    )
    assert "within 1 to 86400 seconds" in refused.json()["errors"][0]
    assert client.delete(f"/api/alerts/rules/{made.json()['id']}/").status_code == 204


def test_looking_is_free_and_keeping_is_not(bob: User, channel: AlertChannel) -> None:
    client = client_of(bob)

    for path in ("", "rules/", "channels/", "deliveries/", f"channels/{channel.pk}/"):
        assert client.get(f"/api/alerts/{path}").status_code == 200
        assert APIClient().get(f"/api/alerts/{path}").status_code == 401
    assert client.post("/api/alerts/channels/", HOOK).status_code == 403
    assert client.post(f"/api/alerts/channels/{channel.pk}/test/").status_code == 403
    assert client.delete(f"/api/alerts/channels/{channel.pk}/").status_code == 403
    bob.user_permissions.add(Permission.objects.get(codename="change_alertrule"))
    allowed = client_of(User.objects.get(pk=bob.pk))
    assert allowed.post(f"/api/alerts/channels/{channel.pk}/test/").status_code == 202
    assert AlertDelivery.objects.get().about == "test"


def alert(channel: AlertChannel) -> Alert:
    rule = AlertRule.objects.create(name="gone", kind="failed")
    rule.channels.add(channel)
    made = Alert.objects.create(
        rule=rule, job=make_job(), state=AlertState.PENDING, since=rule.created_at
    )
    alerts.fire(made, "the job has failed")
    return made


def test_alerts_and_their_messages(bob: User, channel: AlertChannel) -> None:
    made, client = alert(channel), client_of(bob)

    def found(query: str) -> list[dict[str, Any]]:
        rows: list[dict[str, Any]] = client.get(f"/api/alerts/{query}").json()["results"]
        return rows

    assert [row["summary"] for row in found("?state=firing")] == ["the job has failed"]
    assert found("?state=resolved") == found(f"?job={'0' * 32}") == []
    (message,) = found(f"deliveries/?alert={made.pk}&state=waiting")
    assert (message["channel_name"], message["about"]) == ("ops", "firing")


# --- the admin console ---


def test_pages_of_the_admin_console(root: Client, channel: AlertChannel) -> None:
    alert(channel)

    for table in (AlertChannel, AlertRule, Alert, AlertDelivery):
        name = f"admin:jobs_{table._meta.model_name}"
        listed = root.get(reverse(f"{name}_changelist"), {"q": "x"})
        row = table._default_manager.get()
        page = root.get(reverse(f"{name}_change", args=[row.pk]))
        assert (listed.status_code, page.status_code) == (200, 200)
        assert SECRET.encode() not in page.content and b"part-that-nobody-sees" not in page.content


def test_a_channel_is_kept_without_its_secret_being_shown(root: Client) -> None:
    add = reverse("admin:jobs_alertchannel_add")
    values = {"name": "ops", "kind": "webhook", "new_address": "nonsense", "new_secret": SECRET}

    refused = root.post(add, values)
    assert b"like https://host/path" in refused.content
    root.post(add, {**values, "new_address": "https://host/x"})
    channel = AlertChannel.objects.get()
    change = reverse("admin:jobs_alertchannel_change", args=[channel.pk])
    root.post(change, {"name": "night", "kind": "webhook", "new_address": "", "new_secret": ""})
    channel.refresh_from_db()
    assert (channel.name, channel.address) == ("night", "https://host/x")
    assert channel.secret == SECRET


def test_a_test_message_from_the_admin_console(root: Client, channel: AlertChannel) -> None:
    page = root.post(
        reverse("admin:jobs_alertchannel_changelist"),
        {"action": "test", "_selected_action": [channel.pk], "confirmed": "yes"},
        follow=True,
    )

    assert b"asked for" in page.content
    assert AlertDelivery.objects.get().channel == channel
