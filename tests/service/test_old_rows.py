"""What is kept for a while only."""

from __future__ import annotations

from datetime import timedelta

import pytest
from django.contrib.auth.models import User
from django.utils import timezone

from jobs import actions, alerts, checkpoint_requests
from jobs.models import AlertChannel, AlertDelivery, CheckpointRequest

pytestmark = pytest.mark.django_db


def test_answers_about_checkpoints(alice: User, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(checkpoint_requests, "KEPT", 3)
    job = actions.submit("job", (b"", "job.py"), user=alice)
    open_one = CheckpointRequest.objects.create(job=job)
    made = [checkpoint_requests.trigger(job, alice).pk for _ in range(5)]
    left = set(job.checkpoint_requests.values_list("pk", flat=True))
    assert left == {open_one.pk, *made[-3:]}


def test_tests_of_channels() -> None:
    channel = AlertChannel.objects.create(name="x", kind="webhook", address="http://host/x")
    long_ago = timezone.now() - alerts.KEPT - timedelta(days=1)
    old, waiting, new = (alerts.test(channel) for _ in range(3))
    for row, state in ((old, "sent"), (waiting, "waiting")):
        AlertDelivery.objects.filter(pk=row.pk).update(state=state, created_at=long_ago)
    last = alerts.test(channel)
    kept = set(AlertDelivery.objects.values_list("pk", flat=True))
    assert kept == {waiting.pk, new.pk, last.pk}
