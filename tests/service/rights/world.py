"""A team with one of everything, its members in each role, and somebody of another team."""

from __future__ import annotations

from dataclasses import dataclass, field

from django.contrib.auth.models import User
from django.test import Client
from django.utils import timezone

from jobs import job_secrets, memberships, tokens, versions, vertices
from jobs.models import (
    Alert,
    AlertChannel,
    AlertDelivery,
    AlertRule,
    AuditEntry,
    CheckpointRequest,
    Job,
    Membership,
    Savepoint,
    Schedule,
    Team,
    Upgrade,
    Upload,
)
from jobs.roles import Role
from jobs.states import AlertState, SavepointState, UpgradeState
from tests.service import pages

#: Stands on a page only if what is the team's stands there.
NAME = "hush-hush-payments"
VERTEX = "b" * 32
TRIGGER = "c" * 32


@dataclass
class World:
    people: dict[str, User] = field(default_factory=dict)
    #: Browsers that are logged in as them.
    clients: dict[str, Client] = field(default_factory=dict)
    #: What stands in an address, by the name of the part.
    parts: dict[str, str] = field(default_factory=dict)
    #: Where a part means something else: {beginning of the route: value of pk}.
    rows: dict[str, str] = field(default_factory=dict)
    #: The same for the names and verbs of pages.
    words: dict[str, dict[str, str]] = field(default_factory=dict)

    def values(self, route: str) -> dict[str, str]:
        """For the address; a part that is not known here is a KeyError: tell what it stands for."""
        longest = max(
            (start for start in self.rows if route.startswith(start)), key=len, default=""
        )
        words = [own for start, own in self.words.items() if route.startswith(start)]
        own = {key: value for found in words for key, value in found.items()}
        return {**self.parts, **({"pk": self.rows[longest]} if longest else {}), **own}


def make() -> World:
    world = World()
    team, other = Team.objects.create(name="payments"), Team.objects.create(name="others")
    for role in Role:
        user = User.objects.create_user(role.label)
        memberships.give(user, None, role)
        memberships.give(user, team, role)
        world.people[role.label] = user
    # May do everything, but for this team: jobs of none and of another.
    outsider = User.objects.create_user("outsider")
    memberships.give(outsider, None, Role.DEVELOPER)
    memberships.give(outsider, other, Role.ADMIN)
    world.people["outsider"] = outsider
    _rows(world, team)
    for name, user in world.people.items():
        world.clients[name] = Client()
        world.clients[name].force_login(user)
    return world


def _rows(world: World, team: Team) -> None:
    job = pages.make_job(NAME, team=team)
    versions.keep_first(job, None)
    attempt = pages.make_attempt(job)
    pages.make_checkpoint(attempt, 7)
    taskmanager = pages.make_taskmanager("tm-1", taken_by=job)
    savepoint = _savepoint(job)
    CheckpointRequest.objects.create(job=job, trigger_id=TRIGGER)
    schedule = Schedule.objects.create(
        name=NAME,
        entry="/nowhere/job.py",
        entry_name="job.py",
        cron="0 0 1 1 *",
        team=team,
        artifact_sha256="ab" * 32,
        created_by_name="developer",
        grace=60_000,
    )
    rule = AlertRule.objects.create(name="r", kind=AlertRule.Kind.choices[0][0], job=job)
    channel = AlertChannel.objects.create(name="c", kind="webhook", address="https://x.example/")
    alert = Alert.objects.create(
        rule=rule, job=job, summary=NAME, since=timezone.now(), state=AlertState.FIRING
    )
    delivery = AlertDelivery.objects.create(alert=alert, channel=channel, about="firing")
    upgrade = _upgrade(job, savepoint)
    entry = AuditEntry.objects.create(username="x", action="job.cancel", via=AuditEntry.Via.API)
    upload = Upload.objects.create(
        id=f"{TRIGGER}_job.py",
        name=f"{NAME}.py",
        path="/nowhere/job.py",
        team=team,
        sha256="ab" * 32,
        size=1,
    )
    secret = job_secrets.keep("HUSH_SECRET", "not to be seen", team, None)
    world.parts = {
        "job_id": job.pk,
        "pk": job.pk,
        "taskmanager_id": taskmanager.name,
        "name": taskmanager.name,
        "vertex_id": VERTEX,
        "subtask": "0",
        "attempt": "0",
        "number": "1",
        "checkpoint_id": "7",
        "trigger_id": TRIGGER,
        "savepoint_id": savepoint.pk,
        "schedule_id": schedule.pk,
        "dataset_id": TRIGGER,
        "application_id": job.pk,
        "rescale_id": TRIGGER,
        "jar_id": upload.pk,
        "program": upload.pk,
        "file_name": "taskmanager-tm-1.log",
        "file": "taskmanager-tm-1.log",
        "part": "lines",
        "tab": "overview",
        "verb": "cancel",
        "path": "index.html",
    }
    world.words = {
        "live/": {"name": "overview"},
        "jobs/<job_id>/vertices/": {"vertex_id": vertices.of(job.plan)[0].id},
        "schedules/": {"verb": "pause"},
        "taskmanagers/<name>/act/": {"verb": "drain"},
        "alerts/rules/": {"verb": "delete"},
        "alerts/channels/": {"verb": "test"},
    }
    world.rows = {
        "api/alerts/rules/": str(rule.pk),
        "api/alerts/channels/": str(channel.pk),
        "api/alerts/deliveries/": str(delivery.pk),
        "api/alerts/": str(alert.pk),
        "api/audit/": str(entry.pk),
        "api/memberships/": str(_membership(world, team).pk),
        "api/savepoints/": savepoint.pk,
        "api/schedules/": schedule.pk,
        "api/secrets/": str(secret.pk),
        "api/teams/": str(team.pk),
        "api/tokens/": str(tokens.create(world.people["admin"], NAME)[0].pk),
        "api/jobs/<job_id>/upgrades/": str(upgrade.pk),
        "alerts/rules/": str(rule.pk),
        "alerts/channels/": str(channel.pk),
        "secrets/": str(secret.pk),
        "teams/members/": str(_membership(world, team).pk),
        "teams/": str(team.pk),
        "account/": "1",
    }


def _membership(world: World, team: Team) -> Membership:
    return Membership.objects.get(user=world.people["viewer"], team=team)


def _savepoint(job: Job) -> Savepoint:
    row = Savepoint.objects.create(
        job=job, job_name=NAME, path=f"/nowhere/{NAME}", trigger_id=TRIGGER
    )
    Savepoint.objects.filter(pk=row.pk).update(
        state=SavepointState.COMPLETED, completed_at=timezone.now()
    )
    return row


def _upgrade(job: Job, savepoint: Savepoint) -> Upgrade:
    version = job.versions.get()
    return Upgrade.objects.create(
        job=job,
        before=version,
        after=version,
        savepoint=savepoint,
        state=UpgradeState.DONE,
    )
