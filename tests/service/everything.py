"""A row of every kind that a page shows, long names included, and the addresses of all pages.

Addresses are made from the URL patterns: a page that is added is visited, or its pattern has to be
named among those that are no pages.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from datetime import timedelta
from itertools import product
from pathlib import Path

from django.contrib.auth.models import User
from django.urls import reverse
from django.utils import timezone

from dashboard import pages, urls
from jobs import audit, job_secrets, leases, tokens, uploads, vertices
from jobs.models import (
    Alert,
    AlertChannel,
    AlertDelivery,
    AlertRule,
    Event,
    Job,
    JobManagerProcess,
    Lease,
    Membership,
    Schedule,
    ScheduledRun,
    SignIn,
    Team,
)
from jobs.roles import Role
from jobs.states import JobState
from tests.service import busy_job
from tests.service.pages import make_job, make_taskmanager

LONG = "with-a-name-that-is-long-enough-to-break-any-layout-" + "x" * 60
VITALS = {
    "Status.JVM.CPU.Load": 0.42,
    "Status.JVM.Memory.Heap.Used": 1.2e9,
    "Status.JVM.Memory.Heap.Max": 3e9,
    "Status.JVM.Memory.NonHeap.Used": 8e8,
    "Status.Flink.Memory.Managed.Used": 1.6e9,
    "Status.Flink.Memory.Managed.Total": 2.1e9,
    "Status.JVM.Threads.Count": 214,
    "Status.JVM.FileDescriptor.Open": 611,
    "Status.JVM.FileDescriptor.Max": 65_536,
}

#: Patterns that are no pages: streams, data, files, and what is only posted to.
NO_PAGES = {
    *("live", "job-live", "vertex-live", "series", "metric-series", "log-lines", "log-file"),
    *("overview-charts", "taskmanagers-charts", "jobmanager-charts", "audit-export", "jobs-act"),
    *("taskmanagers-log-part", "jobmanager-log-part", "account-token-new", "teams-give"),
    *("teams-cluster-give", "checkpoint-take", "savepoint-verify", "flamegraph-take"),
    "upgrade",
}


@dataclass(frozen=True, slots=True)
class Everything:
    """Rows by what an address calls them."""

    values: dict[str, list[object]]
    #: What some addresses need behind them.
    queries: dict[str, str]

    def pages(self) -> Iterator[tuple[str, str]]:
        """(name of the pattern, address) of each page."""
        for pattern in urls.urlpatterns:
            name = str(pattern.name)
            if name in NO_PAGES:
                continue
            asked = list(pattern.pattern.converters)
            choices = [self._choices(name, argument) for argument in asked]
            for chosen in product(*choices):
                kwargs = dict(zip(asked, chosen, strict=True))
                yield name, reverse(f"dashboard:{name}", kwargs=kwargs) + self.queries.get(name, "")

    def _choices(self, name: str, argument: str) -> list[object]:
        return self.values.get(f"{name}:{argument}") or self.values[argument]


def make(me: User, folder: Path) -> Everything:
    """`folder` gets the files of a driver and of processes."""
    job = busy_job.make(folder)
    team = Team.objects.create(name="payments", description="Everything about money")
    other = User.objects.create_user(f"carol-{LONG}"[:140], password="carol-password")
    member = Membership.objects.create(user=other, team=team, role=Role.OPERATOR)
    Membership.objects.create(user=other, team=None, role=Role.DEVELOPER)
    _make_jobs(team)
    rule, channel = _make_alerts(me, job)
    _make_cluster(job)
    schedule = _make_schedule(me)
    token, _ = tokens.create(me, f"token {LONG}"[:100], role=Role.VIEWER)
    upload = uploads.keep(b"print('hello')\n", "a_program.py", me, None)
    secret = job_secrets.keep("DATABASE_PASSWORD", "never shown", team, me)
    sign_in = SignIn.objects.create(user=me, session_key="another", address="10.0.0.7")
    _make_audit(me, job)
    pair = job.savepoints.all()[:2]
    savepoint = pair[0]
    chain = vertices.of(job.plan)[0]
    return Everything(
        {
            "job_id": [job.pk],
            "job-tab:tab": [tab for tab in pages.TABS if tab not in ("log", "threads", "versions")],
            "vertex_id": [chain.id],
            "tab": list(pages.VERTEX_TABS),
            "savepoint_id": [savepoint.pk],
            "checkpoint_id": [7],
            "number": [1],
            "act:verb": ["cancel", "suspend"],
            "program": [upload.pk],
            "schedule_id": [schedule.pk],
            "schedules-act:verb": ["pause", "delete"],
            "name": [f"tm-{LONG}"[:100]],
            "taskmanagers-act:verb": ["drain"],
            "alerts-rule:pk": [rule.pk],
            "alerts-rule-act:pk": [rule.pk],
            "alerts-rule-act:verb": ["delete"],
            "alerts-channel:pk": [channel.pk],
            "alerts-channel-act:pk": [channel.pk],
            "alerts-channel-act:verb": ["test"],
            "account-token-revoke:pk": [token.pk],
            "account-session-end:pk": [sign_in.pk],
            "teams-take:pk": [member.pk],
            "secrets-delete:pk": [secret.pk],
            "pk": [team.pk],
        },
        {
            "savepoint-compare": "?"
            + "&".join(f"{a}={row.pk}" for a, row in zip("ab", pair, strict=True))
        },
    )


def _make_jobs(team: Team) -> None:
    now = timezone.now()
    waits = "needs 9 slots; 5 are free. " * 4
    make_job(f"waits {LONG}", JobState.CREATED, waiting_for=waits, team=team)
    make_job("done", JobState.FINISHED, started_at=now, ended_at=now)
    make_job("put away", JobState.CANCELED, archived_at=now, ended_at=now)


def _make_alerts(me: User, job: Job) -> tuple[AlertRule, AlertChannel]:
    now = timezone.now()
    channel = AlertChannel.objects.create(
        name=f"channel {LONG}"[:100], kind="webhook", address="https://hooks.example.org/abc"
    )
    rule = AlertRule.objects.create(name=f"rule {LONG}"[:100], kind="lag", created_by=me)
    rule.channels.add(channel)
    quiet = AlertRule.objects.create(name="off", kind="failed", job=job, enabled=False)
    alert = Alert.objects.create(
        rule=rule, job=job, state="firing", since=now, fired_at=now, summary=f"behind {LONG}"
    )
    Alert.objects.create(rule=quiet, job=job, state="resolved", since=now, summary="over")
    AlertDelivery.objects.create(alert=alert, channel=channel, about="firing", error=f"no {LONG}")
    AlertDelivery.objects.create(channel=channel, about="test", state="sent")
    return rule, channel


def _make_cluster(job: Job) -> None:
    now = timezone.now()
    row = make_taskmanager(f"tm-{LONG}"[:100], slots=4, taken_by=job)
    row.vitals = VITALS
    row.save()
    expires = now + timedelta(hours=1)
    Lease.objects.create(name=leases.JOBMANAGER, holder="jm-a", epoch=7, expires_at=expires)
    for name in ("jm-a", f"jm-{LONG}"):
        JobManagerProcess.objects.create(
            name=name, host="node-1", pid=77, started_at=now, last_heartbeat=now, vitals=VITALS
        )
    Event.objects.create(kind=Event.Kind.JOBMANAGER, message=f"jm-{LONG} leads")


def _make_schedule(me: User) -> Schedule:
    now = timezone.now()
    row = Schedule.objects.create(
        name=f"schedule {LONG}",
        cron="0 3 * * *",
        grace=3_600_000,
        next_run_at=now + timedelta(hours=9),
        entry="/nowhere/report.py",
        entry_name="report.py",
        artifact_sha256="ab" * 32,
        arguments=[f"--{LONG}"],
        configuration={"execution.checkpointing.interval": "10 s"},
        created_by=me,
        created_by_name=me.get_username(),
    )
    ScheduledRun.objects.create(schedule=row, planned_at=now, outcome="skipped", why=f"as {LONG}")
    return row


def _make_audit(me: User, job: Job) -> None:
    for action, result in (("job.cancel", "ok"), ("job.stop", "failed"), ("team.edit", "refused")):
        audit.record(None, action, job, result=audit.Result(result), user=me, reason=LONG)
