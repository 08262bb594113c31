"""Reads what the rules are about and takes the steps of `conditions`. Queries per evaluation:
rules, open alerts, jobs, and one for each kind of figure that a rule asks for."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from contextlib import AbstractContextManager
from datetime import UTC, datetime, timedelta
from functools import reduce
from operator import or_
from typing import Any

from django.db.models import Count, OuterRef, Q, QuerySet, Subquery

from jobs import alerts
from jobs.models import Alert, AlertRule, Checkpoint, Event, Job
from jobs.states import AlertState, JobState
from workers.alerts import conditions
from workers.alerts.conditions import Figures, Kind, Level, Reading

#: How long ago a job may have failed to be noticed; whoever leads notices within seconds.
LOOK_BACK = timedelta(days=1)
_NEVER = datetime(1970, 1, 1, tzinfo=UTC)

#: A transaction that is committed only while the caller leads.
Guard = Callable[[], AbstractContextManager[None]]


def evaluate(now: datetime, guard: Guard) -> None:
    """Open, fire and resolve what is due, for every rule and each job that it is about."""
    opened = list(
        Alert.objects.filter(state__in=alerts.OPEN).select_related("rule", "job").defer("job__plan")
    )
    rules = list(AlertRule.objects.filter(enabled=True))
    if not rules and not opened:
        return
    figures = read_figures(rules, _jobs(rules, opened, now), now)
    open_by = {(alert.rule_id, alert.job_id): alert for alert in opened}
    for rule in rules:
        for job in figures:
            if rule.job_id in (None, job.pk):
                alert = open_by.pop((rule.pk, job.pk), None)
                _step(rule, job, _reading(rule, job, figures[job], now), alert, now, guard)
    for alert in open_by.values():
        _step(alert.rule, alert.job, Reading(Level.NOT_WATCHED), alert, now, guard)


def _reading(rule: AlertRule, job: Job, figures: Figures, now: datetime) -> Reading:
    if rule.kind == Kind.FAILED and (job.ended_at or now) < rule.created_at:
        return Reading(Level.UNKNOWN)  # it had failed before anybody asked to be told
    return conditions.read(_view(rule), figures, now)


def _step(
    rule: AlertRule, job: Job, reading: Reading, alert: Alert | None, now: datetime, guard: Guard
) -> None:
    step = conditions.next_step(_view(rule), reading, _open(alert), now)
    if step is None:
        return
    with guard():
        _take(step, rule, job, reading, alert, now)


def _take(
    step: conditions.Step,
    rule: AlertRule,
    job: Job,
    reading: Reading,
    alert: Alert | None,
    now: datetime,
) -> None:
    match step:
        case conditions.Begin(firing):
            begun = alerts.begin(rule, job, reading.summary, now)
            if begun is not None and firing:
                alerts.fire(begun, reading.summary)
        case conditions.Fire() if alert is not None:
            alerts.fire(alert, reading.summary)
        case conditions.Drop() if alert is not None:
            alerts.drop(alert)
        case conditions.Note(since) if alert is not None:
            alerts.note_clear(alert, since)
        case conditions.Resolve() if alert is not None:
            alerts.resolve(alert)
        case _:
            raise ValueError(f"{step} without an alert (rule {rule.pk}, job {job.pk})")


def _view(rule: AlertRule) -> conditions.Rule:
    return conditions.Rule(rule.kind, rule.threshold, rule.seconds)


def _open(alert: Alert | None) -> conditions.Open | None:
    if alert is None:
        return None
    return conditions.Open(AlertState(alert.state), alert.since, alert.clear_since)


# --- rows ---


def _jobs(rules: Iterable[AlertRule], opened: Iterable[Alert], now: datetime) -> QuerySet[Job]:
    """Those that a rule is about and that are live or failed lately, and those of open alerts."""
    watched = Q(state__in=JobState.live()) | Q(state=JobState.FAILED, ended_at__gte=now - LOOK_BACK)
    if all(rule.job_id is not None for rule in rules):
        watched &= Q(pk__in=[rule.job_id for rule in rules])
    rows = Job.objects.filter(watched | Q(pk__in=[alert.job_id for alert in opened]))
    return rows.defer("plan", "configuration", "arguments").order_by()


def read_figures(
    rules: Iterable[AlertRule], jobs: QuerySet[Job], now: datetime
) -> dict[Job, Figures]:
    """What the rules ask of these jobs."""
    kinds = {rule.kind for rule in rules}
    windows = {rule.seconds for rule in rules if rule.kind == Kind.RESTARTS}
    if kinds & {Kind.SLOW, Kind.CHECKPOINTS}:
        last = Checkpoint.objects.filter(job=OuterRef("pk")).order_by("-checkpoint_id")
        jobs = jobs.annotate(
            last_completed=Subquery(last.values("completed_at")[:1]),
            last_duration=Subquery(last.values("duration")[:1]),
            last_failure=Subquery(_newest(Event.Kind.FAILURE, "at")),
            last_late=Subquery(_newest(Event.Kind.CHECKPOINT, "at")),
        )
    rows = list(jobs)
    ids = [job.pk for job in rows]
    within = {
        seconds: _failures_since(ids, now - timedelta(seconds=seconds)) for seconds in windows
    }
    in_a_row = _failures_in_a_row(rows) if Kind.CHECKPOINTS in kinds else {}
    errors = _last_errors(rows, in_a_row, *within.values())
    return {
        job: Figures(
            state=JobState(job.state),
            lag=_total(job.lag),
            interval=job.checkpoint_interval,
            duration=getattr(job, "last_duration", None),
            progressed_at=job.progressed_at,
            completed_at=getattr(job, "last_completed", None),
            failures_in_a_row=in_a_row.get(job.pk, 0),
            failures_within={seconds: found.get(job.pk, 0) for seconds, found in within.items()},
            error=errors.get(job.pk, ""),
        )
        for job in rows
    }


def _total(lag: Mapping[str, Mapping[str, int]]) -> int | None:
    """Over all partitions of all topics; None when nothing was reported."""
    return sum(sum(partitions.values()) for partitions in lag.values()) if lag else None


def _failures(ids: Iterable[str]) -> QuerySet[Event]:
    return Event.objects.filter(job__in=ids, kind=Event.Kind.FAILURE).order_by()


def _failures_since(ids: Iterable[str], since: datetime) -> dict[str, int]:
    return _counted(_failures(ids).filter(at__gte=since))


def _failures_in_a_row(rows: Iterable[Any]) -> dict[str, int]:
    """Failed checkpoints since the job's last completed one; asked of jobs that have any.

    A checkpoint fails when it is late, which its job may tolerate, or with its attempt. An attempt
    that failed because of late checkpoints does not count beside them."""
    since = {
        job.pk: job.last_completed or _NEVER
        for job in rows
        if max(job.last_failure or _NEVER, job.last_late or _NEVER) > (job.last_completed or _NEVER)
    }
    if not since:
        return {}
    after = reduce(or_, (Q(job=pk, at__gt=completed) for pk, completed in since.items()))
    kinds = [Event.Kind.FAILURE, Event.Kind.CHECKPOINT]
    # A job that got no slots has failed without an attempt, and so without a checkpoint.
    found = Event.objects.filter(after, kind__in=kinds).exclude(attempt=None)
    by_attempt: Any = (
        found.order_by()
        .values_list("job", "attempt")
        .annotate(
            late=Count("pk", filter=Q(kind=Event.Kind.CHECKPOINT)),
            failed=Count("pk", filter=Q(kind=Event.Kind.FAILURE)),
        )
    )
    counted: dict[str, int] = {}
    for job, _, late, failed in by_attempt:
        counted[job] = counted.get(job, 0) + max(late, failed)
    return counted


def _newest(kind: Event.Kind, column: str) -> QuerySet[Event, Any]:
    """Of the job of an outer query."""
    rows = Event.objects.filter(job=OuterRef("pk"), kind=kind)
    newest: QuerySet[Event, Any] = rows.order_by("-at", "-id").values(column)[:1]
    return newest


def _counted(rows: QuerySet[Event]) -> dict[str, int]:
    counted: Any = rows.values_list("job").annotate(Count("pk"))
    return dict(counted)


def _last_errors(rows: Iterable[Job], *counts: Mapping[str, int]) -> dict[str, str]:
    """Of jobs that failed or have failures that count; few at any time."""
    ids = {job.pk for job in rows if job.state == JobState.FAILED}.union(*counts)
    found = (
        Job.objects.filter(pk__in=ids)
        .order_by()
        .annotate(error=Subquery(_newest(Event.Kind.FAILURE, "message")))
    )
    return {pk: error or "" for pk, error in found.values_list("pk", "error")} if ids else {}
