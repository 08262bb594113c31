"""Alerts, what is watched (rules), whom to tell (channels), and what was sent."""

from __future__ import annotations

from typing import Any

from django.contrib import messages
from django.contrib.auth.models import User
from django.db.models import Count, Q, QuerySet
from django.forms import BaseForm
from django.http import Http404, HttpRequest, HttpResponse
from django.shortcuts import get_object_or_404, redirect, render
from django.urls import reverse
from django.views.decorators.http import require_http_methods

from dashboard import access, scope
from dashboard.alertforms import ChannelForm, RuleForm
from dashboard.asking import Deed, ask
from dashboard.listing import Listing, Order, Query
from dashboard.views import live
from jobs import alerts, audit, permissions
from jobs.models import AlertChannel, AlertDelivery, AlertRule
from jobs.states import DeliveryState

DELIVERIES = {
    "created": Order("created_at", falling=True),
    "channel": Order("channel__name"),
    "state": Order("state"),
}
DELETE_RULE = Deed(
    "delete",
    "Delete",
    "trash",
    "rule",
    "Nothing is watched by it any more, and its alerts and their messages go with it. To keep "
    "them, switch it off instead.",
    "The rule was deleted.",
    colour="bad",
)
DELETE_CHANNEL = Deed(
    "delete",
    "Delete",
    "trash",
    "channel",
    "Rules that name it tell nobody by it any more; messages that wait are not sent.",
    "The channel was deleted.",
    colour="bad",
)
TEST_CHANNEL = Deed(
    "test",
    "Try out",
    "bell",
    "channel",
    "A message that says that the channel works is sent to it.",
    "A message is on its way; under Deliveries is what became of it.",
)


@access.page
def show(request: HttpRequest) -> HttpResponse:
    return live.show(request, "alerts", "dashboard/alerts/page.html", tab="alerts")


@access.page
def rules(request: HttpRequest) -> HttpResponse:
    mine = _rules(request)
    fires = Q(alerts__state="firing") & scope.of(request.user).within("alerts__job__team")
    open_ones = Count("alerts", filter=fires, distinct=True)
    rows = mine.annotate(firing=open_ones).select_related("job").prefetch_related("channels")
    context = {"tab": "rules", "rules": rows, "delete": DELETE_RULE}
    return render(request, "dashboard/alerts/rules.html", context)


@access.page
def channels(request: HttpRequest) -> HttpResponse:
    rows = AlertChannel.objects.annotate(rules_count=Count("rules"))
    context = {
        "tab": "channels",
        "channels": rows,
        "delete": DELETE_CHANNEL,
        "test": TEST_CHANNEL,
    }
    return render(request, "dashboard/alerts/channels.html", context)


@access.page
def deliveries(request: HttpRequest) -> HttpResponse:
    query = Query.of(request, (*Listing.NAMES, "state"))
    rows = scope.of(request.user).rows(AlertDelivery.objects.all(), "alert__job__team")
    if query.get("state") in set(DeliveryState):
        rows = rows.filter(state=query.get("state"))
    rows = rows.select_related("channel", "alert__rule", "alert__job")
    context = {
        "tab": "deliveries",
        "query": query,
        "listing": Listing(query, rows, DELIVERIES),
        "state": query.get("state"),
        "states": list(DeliveryState),
    }
    return render(request, "dashboard/alerts/deliveries.html", context)


@require_http_methods(["GET", "POST"])
@access.only_if(permissions.may_keep_alerts)
def edit_rule(request: HttpRequest, pk: int | None = None) -> HttpResponse:
    """A new rule, or another version of one."""
    row = get_object_or_404(_rules(request), pk=pk) if pk else AlertRule(created_by=_user(request))
    jobs = permissions.visible_jobs(request.user)
    form = RuleForm(request.POST or None, instance=row, jobs=jobs)
    return _edit(request, form, "rule", "dashboard:alerts-rules")


@require_http_methods(["GET", "POST"])
@access.only_if(permissions.may_keep_alerts)
def edit_channel(request: HttpRequest, pk: int | None = None) -> HttpResponse:
    row = get_object_or_404(AlertChannel, pk=pk) if pk else AlertChannel()
    form = ChannelForm(request.POST or None, instance=row)
    return _edit(request, form, "channel", "dashboard:alerts-channels")


def _edit(request: HttpRequest, form: Any, noun: str, back: str) -> HttpResponse:
    new = form.instance.pk is None
    if request.method == "POST" and form.is_valid():
        row = form.save()
        audit.record(request, f"alert-{noun}.{'create' if new else 'change'}", row)
        messages.success(request, f"The {noun} {row.name} was {'made' if new else 'changed'}.")
        return redirect(back)
    context = {"tab": f"{noun}s", "form": form, "noun": noun, "new": new, "back": reverse(back)}
    return render(request, "dashboard/alerts/edit.html", context, status=_status(form))


def _status(form: BaseForm) -> int:
    return 422 if form.errors else 200


@require_http_methods(["GET", "POST"])
@access.only_if(permissions.may_keep_alerts)
def act_rule(request: HttpRequest, pk: int, verb: str) -> HttpResponse:
    row = get_object_or_404(_rules(request), pk=pk)
    if verb != DELETE_RULE.name:
        raise Http404("no such action")

    def do() -> None:
        audit.record(request, "alert-rule.delete", row)
        row.delete()

    return ask(request, DELETE_RULE, row.name, reverse("dashboard:alerts-rules"), do)


@require_http_methods(["GET", "POST"])
@access.only_if(permissions.may_keep_alerts)
def act_channel(request: HttpRequest, pk: int, verb: str) -> HttpResponse:
    row = get_object_or_404(AlertChannel, pk=pk)
    deed = {"delete": DELETE_CHANNEL, "test": TEST_CHANNEL}.get(verb)
    if deed is None:
        raise Http404("no such action")

    def do() -> None:
        audit.record(request, f"alert-channel.{verb}", row)
        if verb == "test":
            alerts.test(row)
        else:
            row.delete()

    return ask(request, deed, row.name, reverse("dashboard:alerts-channels"), do)


def _rules(request: HttpRequest) -> QuerySet[AlertRule]:
    """Those of jobs that the reader sees, and of all jobs."""
    return scope.of(request.user).rows(AlertRule.objects.all(), "job__team")


def _user(request: HttpRequest) -> User | None:
    return request.user if isinstance(request.user, User) else None
