"""Alerts from the rows to receivers that are really there: webhook, Slack-compatible, e-mail."""

from __future__ import annotations

import base64
import contextlib
import email
import hashlib
import hmac
import json
from collections.abc import Iterator
from datetime import datetime, timedelta
from typing import Any

import pytest
from django.utils import timezone
from pytest_django import Settings

from jobs import alerts, attempts, leases
from jobs.models import Alert, AlertChannel, AlertDelivery, AlertRule, Attempt, Event, Job
from jobs.states import AlertState, JobState
from tests.service.conftest import Cluster
from tests.service.pages import make_attempt, make_checkpoint, make_failure, make_job
from tests.service.receivers import Mailbox, Receiver, mail_server, webhook
from workers.alerts import sending, watch

pytestmark = pytest.mark.django_db
SECRET = "a secret of the receiver's"


@pytest.fixture(autouse=True)
def patient(monkeypatch: pytest.MonkeyPatch) -> None:
    """The receivers are there; how fast they are on a busy machine is not what is tested."""
    monkeypatch.setattr(sending, "TIMEOUT_SECONDS", 60)


@pytest.fixture
def receiver() -> Iterator[Receiver]:
    with webhook() as found:
        yield found


@pytest.fixture
def mailbox(settings: Settings) -> Iterator[Mailbox]:
    with mail_server() as found:
        settings.EMAIL_BACKEND = "django.core.mail.backends.smtp.EmailBackend"
        settings.EMAIL_HOST, settings.EMAIL_PORT = "127.0.0.1", found.port
        yield found


@pytest.fixture
def channel(receiver: Receiver) -> AlertChannel:
    return AlertChannel.objects.create(
        name="ops", kind="webhook", address=receiver.url, secret=SECRET
    )


def rule(channel: AlertChannel, kind: str, **values: Any) -> AlertRule:
    made = AlertRule.objects.create(name=kind, kind=kind, **values)
    made.channels.add(channel)
    return made


def evaluate(at: datetime | None = None) -> list[str]:
    """The states of all alerts afterwards, oldest first."""
    watch.evaluate(at or timezone.now(), contextlib.nullcontext)
    return list(Alert.objects.order_by("pk").values_list("state", flat=True))


def send_all(at: datetime | None = None) -> list[bool]:
    return [
        sending.deliver(pk) for pk in alerts.due(at or timezone.now()).values_list("pk", flat=True)
    ]


def failed_job(name: str = "flights") -> Job:
    job = make_job(name, JobState.FAILED, ended_at=timezone.now())
    make_failure(make_attempt(job), "ValueError: no such airport")
    return job


# --- what is found in the rows ---


def test_a_failed_job_is_told_once(channel: AlertChannel) -> None:
    rule(channel, "failed")
    job = failed_job()

    assert [evaluate(), evaluate()] == [["firing"], ["firing"]]
    alert = Alert.objects.get()
    assert alert.job == job
    assert alert.summary == "the job has failed: ValueError: no such airport"
    assert AlertDelivery.objects.count() == 1


def test_a_failure_from_before_the_rule_is_not_told(channel: AlertChannel) -> None:
    failed_job()
    rule(channel, "failed")

    assert evaluate() == []


def test_an_alert_resolves_and_may_come_again(channel: AlertChannel) -> None:
    rule(channel, "failed")
    job = failed_job()
    evaluate()
    now = timezone.now()
    Job.objects.filter(pk=job.pk).update(state=JobState.RUNNING, ended_at=None)

    assert evaluate(now) == ["firing"]
    assert evaluate(now + timedelta(seconds=59)) == ["firing"]
    assert evaluate(now + timedelta(seconds=61)) == ["resolved"]
    Job.objects.filter(pk=job.pk).update(state=JobState.FAILED, ended_at=timezone.now())
    assert evaluate() == ["resolved", "firing"]
    abouts = AlertDelivery.objects.order_by("pk").values_list("about", flat=True)
    assert list(abouts) == ["firing", "resolved", "firing"]


def test_lag_must_last(channel: AlertChannel) -> None:
    rule(channel, "lag", threshold=100, seconds=300)
    job = make_job(lag={"flights": {"0": 80, "1": 40}}, progressed_at=timezone.now())
    now = timezone.now()

    assert evaluate(now) == ["pending"]
    assert evaluate(now + timedelta(seconds=299)) == ["pending"]
    assert not AlertDelivery.objects.exists()
    assert evaluate(now + timedelta(seconds=300)) == ["firing"]
    assert Alert.objects.get().summary == "120 records behind, more than 100"
    Job.objects.filter(pk=job.pk).update(lag={"flights": {"0": 90, "1": 0}})
    assert evaluate(now + timedelta(seconds=900)) == ["firing"]
    assert Alert.objects.get().clear_since is None


def test_pending_goes_without_a_word(channel: AlertChannel) -> None:
    rule(channel, "lag", threshold=100, seconds=300)
    job = make_job(lag={"flights": {"0": 120}})
    evaluate()
    Job.objects.filter(pk=job.pk).update(lag={"flights": {"0": 0}})

    assert evaluate() == []


def test_failures_are_counted_by_time_and_since_the_last_checkpoint(channel: AlertChannel) -> None:
    rule(channel, "restarts", threshold=3, seconds=600)
    rule(channel, "checkpoints", threshold=2)
    attempt = make_attempt(make_job("many"))
    other = make_attempt(make_job("few"))
    for age in (700, 500, 300):
        make_failure_of_age(attempt, age)
    make_checkpoint(attempt, 1, age=400)
    make_failure_of_age(other, 10)

    assert evaluate() == []
    make_failure_of_age(attempt, 1)
    assert evaluate() == ["firing", "firing"]
    found = Alert.objects.order_by("rule__kind").values_list("job", "summary")
    assert list(found) == [
        (attempt.job_id, "2 failed checkpoints in a row; the last: broken"),
        (attempt.job_id, "3 failures within 600 s; the last: broken"),
    ]


def test_late_checkpoints_are_failed_ones(channel: AlertChannel) -> None:
    rule(channel, "checkpoints", threshold=3)
    job = make_job()
    first, second = make_attempt(job), make_attempt(job, 2)
    for attempt in (first, first):
        Event.objects.create(job=job, attempt=attempt, kind=Event.Kind.CHECKPOINT, message="late")

    assert evaluate() == []
    Event.objects.create(job=job, attempt=second, kind=Event.Kind.CHECKPOINT, message="late")
    make_failure(second, "too many late checkpoints")
    assert evaluate() == ["firing"]
    summary = "3 failed checkpoints in a row; the last: too many late checkpoints"
    assert Alert.objects.get().summary == summary


def test_a_job_that_gets_no_slots_has_no_failed_checkpoints(channel: AlertChannel) -> None:
    rule(channel, "checkpoints", threshold=1)
    attempts.tell_timeout(make_job(), "needs 4 slots; no TaskManager is registered")
    assert evaluate() == []


def make_failure_of_age(attempt: Attempt, seconds: float) -> None:
    event = make_failure(attempt, "broken")
    type(event).objects.filter(pk=event.pk).update(at=timezone.now() - timedelta(seconds=seconds))


def test_batches_longer_than_their_interval(channel: AlertChannel) -> None:
    rule(channel, "slow", threshold=150)
    attempt = make_attempt(make_job(checkpoint_interval=1000))
    last = make_checkpoint(attempt, 1, duration=1600)
    Job.objects.update(progressed_at=last.completed_at)

    assert evaluate(last.completed_at + timedelta(seconds=1)) == ["firing"]
    summary = "a batch takes 160 % of the checkpoint interval of 1000 ms"
    assert Alert.objects.get().summary == summary


def test_a_rule_of_one_job_is_about_that_job(channel: AlertChannel) -> None:
    mine = make_job("mine", lag={"t": {"0": 9}})
    make_job("other", lag={"t": {"0": 9}})
    made = rule(channel, "lag", threshold=1, job=mine)

    assert evaluate() == ["firing"]
    assert Alert.objects.get().job == mine
    AlertRule.objects.filter(pk=made.pk).update(enabled=False)
    assert evaluate() == ["resolved"]


def test_queries_do_not_grow_with_jobs(
    channel: AlertChannel, django_assert_max_num_queries: Any
) -> None:
    for kind in ("failed", "restarts", "checkpoints", "lag", "slow"):
        rule(channel, kind, threshold=10**6, seconds=60)
    for number in range(20):
        make_checkpoint(make_attempt(make_job(str(number))), 1)

    with django_assert_max_num_queries(6):
        evaluate()


def test_a_deposed_leader_opens_nothing(channel: AlertChannel) -> None:
    rule(channel, "failed")
    failed_job()
    held = leases.take(leases.JOBMANAGER, "old")
    assert held is not None
    leases.give_up(held)

    with pytest.raises(leases.Deposed):
        watch.evaluate(timezone.now(), lambda: leases.guard(held))
    assert not Alert.objects.exists()


# --- what arrives ---


def test_a_webhook_gets_a_signed_message(channel: AlertChannel, receiver: Receiver) -> None:
    rule(channel, "failed")
    job = failed_job()
    evaluate()

    assert send_all() == [True]
    (posted,) = receiver.posted
    message = json.loads(posted.body)
    assert (message["type"], message["data"]["job"]["id"]) == ("alert.firing", job.pk)
    identity, seconds = posted.headers["webhook-id"], posted.headers["webhook-timestamp"]
    signed = f"{identity}.{seconds}.".encode() + posted.body
    digest = hmac.new(SECRET.encode(), signed, hashlib.sha256).digest()
    assert posted.headers["webhook-signature"] == f"v1,{base64.b64encode(digest).decode()}"
    assert AlertDelivery.objects.get().state == "sent"
    assert send_all() == []


def test_a_message_is_sent_again_under_its_id(channel: AlertChannel, receiver: Receiver) -> None:
    delivery = alerts.test(channel)
    receiver.statuses = [503]

    assert not sending.deliver(delivery.pk)
    delivery.refresh_from_db()
    assert (delivery.state, delivery.attempts) == ("waiting", 1)
    assert delivery.error == "127.0.0.1 answered 503 Service Unavailable"
    assert delivery.due_at >= delivery.created_at + alerts.FIRST_PAUSE
    AlertDelivery.objects.update(due_at=timezone.now() + timedelta(hours=1))
    assert not sending.deliver(delivery.pk), "before its pause is over"
    AlertDelivery.objects.update(due_at=timezone.now())
    assert sending.deliver(delivery.pk)
    assert len({posted.headers["webhook-id"] for posted in receiver.posted}) == 1
    assert len(receiver.posted) == 2


@pytest.mark.parametrize("status", [400, 404, 302])
def test_a_refused_message_is_given_up(
    channel: AlertChannel, receiver: Receiver, status: int
) -> None:
    delivery = alerts.test(channel)
    receiver.statuses = [status]

    sending.deliver(delivery.pk)
    delivery.refresh_from_db()
    assert delivery.state == "given-up"
    assert str(status) in delivery.error
    assert len(receiver.posted) == 1, "a redirect is not followed"


def test_a_receiver_that_is_away_is_tried_for_a_day(channel: AlertChannel) -> None:
    AlertChannel.objects.update(address="http://127.0.0.1:1/hooks/secret-path")
    delivery = alerts.test(channel)

    sending.deliver(delivery.pk)
    delivery.refresh_from_db()
    assert delivery.state == "waiting"
    assert "127.0.0.1 cannot be reached" in delivery.error
    assert "secret-path" not in delivery.error
    long_ago = timezone.now() - timedelta(days=1)
    AlertDelivery.objects.update(created_at=long_ago, due_at=long_ago)
    sending.deliver(delivery.pk)
    delivery.refresh_from_db()
    assert delivery.state == "given-up"


def test_an_address_of_letters_beyond_ascii(channel: AlertChannel, receiver: Receiver) -> None:
    channel.address = f"http://127.0.0.1:{receiver.port}/hooks/über?name=größe&x=%41"
    channel.clean()
    channel.save()
    alerts.test(channel)
    assert send_all() == [True]
    assert receiver.posted[0].path == "/hooks/%C3%BCber?name=gr%C3%B6%C3%9Fe&x=%41"


def test_an_address_that_never_works_is_given_up(channel: AlertChannel) -> None:
    channel.address = "http://a..b/secret-path"  # from before such were refused
    channel.save()
    delivery = alerts.test(channel)
    assert send_all() == [False]
    delivery.refresh_from_db()
    assert delivery.state == "given-up"
    assert "nothing can be sent to the channel's address" in delivery.error
    assert "secret-path" not in delivery.error


def test_trouble_that_nobody_foresaw_is_told(
    channel: AlertChannel, monkeypatch: pytest.MonkeyPatch
) -> None:
    def broken(*_: object) -> None:
        raise RuntimeError("what may hold a secret")

    monkeypatch.setattr(sending, "_post", broken)
    delivery = alerts.test(channel)
    assert send_all() == [False]
    delivery.refresh_from_db()
    assert (delivery.state, delivery.attempts) == ("waiting", 1)
    assert delivery.error.startswith("RuntimeError; the log")


def test_the_end_is_told_after_the_beginning(channel: AlertChannel, receiver: Receiver) -> None:
    made = rule(channel, "failed")
    failed_job()
    evaluate()
    receiver.statuses = [500]
    send_all()
    AlertDelivery.objects.update(due_at=timezone.now() + timedelta(hours=1))
    AlertRule.objects.filter(pk=made.pk).update(enabled=False)
    evaluate()

    assert send_all() == []
    later = timezone.now() + timedelta(minutes=1)
    AlertDelivery.objects.filter(about="firing").update(due_at=timezone.now())
    assert [send_all(later), send_all(later)] == [[True], [True]]
    kinds = [json.loads(posted.body)["type"] for posted in receiver.posted]
    assert kinds == ["alert.firing", "alert.firing", "alert.resolved"]


def test_two_senders_send_once(channel: AlertChannel, receiver: Receiver) -> None:
    delivery = alerts.test(channel)

    assert alerts.claim(delivery.pk, timezone.now() + timedelta(hours=1)) is not None
    assert not sending.deliver(delivery.pk)
    assert receiver.posted == []


def test_slack_gets_its_own_message(receiver: Receiver) -> None:
    slack = AlertChannel.objects.create(name="slack", kind="slack", address=receiver.url)
    rule(slack, "failed")
    failed_job("a<b")
    evaluate()

    assert send_all() == [True]
    (posted,) = receiver.posted
    message = json.loads(posted.body)
    assert list(message) == ["text"]
    assert message["text"].startswith("FIRING a&lt;b: the job has failed: ValueError")
    assert "webhook-signature" not in posted.headers


def test_e_mail_arrives(mailbox: Mailbox, settings: Settings) -> None:
    settings.DEFAULT_FROM_EMAIL = "headrace@here.example"
    people = AlertChannel.objects.create(
        name="people", kind="email", address="a@here.example, b@here.example"
    )
    rule(people, "failed")
    failed_job()
    evaluate()

    assert send_all() == [True]
    (envelope,) = mailbox.envelopes
    assert envelope.rcpt_tos == ["a@here.example", "b@here.example"]
    message = email.message_from_bytes(envelope.content)
    assert message["Subject"] == "[Headrace] FIRING failed: flights"
    assert message["From"] == "headrace@here.example"
    assert "no such airport" in str(message.get_payload())


@pytest.mark.parametrize(
    ("reply", "state"), [("451 later", "waiting"), ("554 no such person", "given-up")]
)
def test_a_mail_server_says_no(mailbox: Mailbox, reply: str, state: str) -> None:
    people = AlertChannel.objects.create(name="people", kind="email", address="a@here.example")
    delivery = alerts.test(people)
    mailbox.replies = [reply]

    sending.deliver(delivery.pk)
    delivery.refresh_from_db()
    assert delivery.state == state
    assert reply.split()[0] in delivery.error


def test_no_mail_server_is_said(settings: Settings) -> None:
    settings.EMAIL_HOST = None
    people = AlertChannel.objects.create(name="people", kind="email", address="a@here.example")
    delivery = alerts.test(people)

    sending.deliver(delivery.pk)
    delivery.refresh_from_db()
    assert "set EMAIL_URL" in delivery.error


# --- the processes ---


def test_a_failing_job_is_told_by_a_taskmanager(own: Cluster) -> None:
    with webhook() as receiver:
        channel = AlertChannel.objects.create(name="ops", kind="webhook", address=receiver.url)
        rule(channel, "failed")
        job = own.submit("--fail-for-good")

        own.until(lambda: bool(receiver.posted), timeout=400)
        message = json.loads(receiver.posted[0].body)
        assert message["data"]["job"]["id"] == job.pk
        own.until(lambda: AlertDelivery.objects.get().state == "sent")
        assert "ImportError" in Alert.objects.get().summary
        assert Alert.objects.get().state == AlertState.FIRING


def test_the_jobmanager_sends_what_nobody_else_does(cluster: Cluster) -> None:
    with webhook() as receiver:
        channel = AlertChannel.objects.create(name="ops", kind="webhook", address=receiver.url)
        cluster.start_jobmanager()
        delivery = alerts.test(channel)

        cluster.until(lambda: bool(receiver.posted), timeout=400)
        cluster.until(lambda: AlertDelivery.objects.get(pk=delivery.pk).state == "sent")
        assert {posted.headers["webhook-id"] for posted in receiver.posted} == {
            f"msg_{delivery.pk}"
        }
