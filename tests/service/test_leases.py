"""One leads at a time, and one that lost the lead writes nothing more."""

from __future__ import annotations

import datetime

import pytest
from django.utils import timezone

from jobs import leases
from jobs.models import Event, Lease

pytestmark = pytest.mark.django_db


def expire() -> None:
    Lease.objects.update(expires_at=timezone.now() - datetime.timedelta(seconds=1))


def test_one_leads_at_a_time() -> None:
    first = leases.take("jobs", "a")

    assert first is not None and first.epoch == 1
    assert leases.take("jobs", "b") is None
    assert leases.take("others", "b") is not None


def test_standby_takes_over_after_the_expiry_with_a_new_epoch() -> None:
    leases.take("jobs", "a")
    expire()

    taken = leases.take("jobs", "b")

    assert taken is not None and taken.epoch == 2
    told = Event.objects.filter(kind=Event.Kind.JOBMANAGER).first()
    assert told is not None and told.detail == {"holder": "b", "epoch": 2, "before": "a"}


def test_the_clock_of_its_machine_does_not_count(monkeypatch: pytest.MonkeyPatch) -> None:
    real = timezone.now
    monkeypatch.setattr(timezone, "now", lambda: real() + datetime.timedelta(minutes=10))
    first = leases.take("jobs", "a")
    assert first is not None
    leases.renew(first)
    monkeypatch.undo()

    assert Lease.objects.get().expires_at < timezone.now() + 2 * leases.LENGTH
    monkeypatch.setattr(timezone, "now", lambda: real() + datetime.timedelta(minutes=10))
    assert leases.take("jobs", "b") is None


def test_leader_that_gives_up_is_followed_at_once() -> None:
    first = leases.take("jobs", "a")
    assert first is not None

    leases.give_up(first)

    assert leases.take("jobs", "b") is not None


def test_deposed_leader_writes_nothing() -> None:
    first = leases.take("jobs", "a")
    assert first is not None
    expire()
    leases.take("jobs", "b")

    with pytest.raises(leases.Deposed), leases.guard(first):
        Event.objects.create(kind=Event.Kind.ACTION, message="too late")

    assert not Event.objects.filter(message="too late").exists()
    with pytest.raises(leases.Deposed):
        leases.renew(first)


def test_leader_past_its_lease_writes_nothing_even_if_nobody_followed() -> None:
    first = leases.take("jobs", "a")
    assert first is not None
    expire()

    with pytest.raises(leases.Deposed), leases.guard(first):
        pytest.fail("the guarded block ran")


def test_two_of_one_name_do_not_depose_each_other() -> None:
    first = leases.take("jobs", "a")

    assert first is not None and leases.take("jobs", "a") is None
    leases.renew(first)


def test_restarted_leader_fences_its_earlier_self() -> None:
    before = leases.take("jobs", "a")
    expire()
    again = leases.take("jobs", "a")

    assert before is not None and again is not None
    with pytest.raises(leases.Deposed), leases.guard(before):
        pytest.fail("the guarded block ran")
    leases.renew(again)
