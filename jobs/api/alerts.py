"""/api/alerts/: what is watched, what was found, who is told and whether that worked."""

from __future__ import annotations

from typing import Any

from django.contrib.auth.models import User
from django.db.models import QuerySet
from drf_spectacular.utils import OpenApiParameter, extend_schema, extend_schema_view
from rest_framework import mixins, status
from rest_framework.decorators import action
from rest_framework.request import Request
from rest_framework.response import Response
from rest_framework.serializers import BaseSerializer
from rest_framework.viewsets import GenericViewSet, ModelViewSet

from jobs import alerts
from jobs import permissions as of_rows
from jobs.api import alert_serializers as serializers
from jobs.api import permissions
from jobs.models import Alert, AlertChannel, AlertDelivery, AlertRule
from jobs.states import AlertState, DeliveryState


@extend_schema_view(
    list=extend_schema(
        summary="Alerts, newest first",
        parameters=[
            OpenApiParameter("state", str, enum=[s.value for s in AlertState], many=True),
            OpenApiParameter("job", str),
        ],
    ),
    retrieve=extend_schema(summary="One alert"),
)
class AlertViewSet(mixins.ListModelMixin, mixins.RetrieveModelMixin, GenericViewSet[Alert]):
    queryset = Alert.objects.select_related("rule", "job")
    serializer_class = serializers.AlertSerializer
    lookup_value_regex = r"\d+"

    def get_queryset(self) -> QuerySet[Alert]:
        rows = of_rows.of_visible(super().get_queryset(), self.request.user, "job__team")
        if states := self.request.query_params.getlist("state"):
            rows = rows.filter(state__in=states)
        if job := self.request.query_params.get("job"):
            rows = rows.filter(job=job)
        return rows


@extend_schema_view(
    list=extend_schema(
        summary="Messages about alerts, newest first",
        parameters=[
            OpenApiParameter("state", str, enum=[s.value for s in DeliveryState], many=True),
            OpenApiParameter("alert", int),
        ],
    ),
    retrieve=extend_schema(summary="One message about an alert"),
)
class DeliveryViewSet(
    mixins.ListModelMixin, mixins.RetrieveModelMixin, GenericViewSet[AlertDelivery]
):
    queryset = AlertDelivery.objects.select_related("channel")
    serializer_class = serializers.DeliverySerializer
    lookup_value_regex = r"\d+"

    def get_queryset(self) -> QuerySet[AlertDelivery]:
        rows = of_rows.of_visible(super().get_queryset(), self.request.user, "alert__job__team")
        if states := self.request.query_params.getlist("state"):
            rows = rows.filter(state__in=states)
        if (alert := self.request.query_params.get("alert", "")).isdecimal():
            # A number that no database takes is none of an alert.
            rows = rows.filter(alert=int(alert)) if len(alert) <= 18 else rows.none()
        return rows


class Kept(ModelViewSet[Any]):
    """Rows that people write: everybody logged in may look, who may change alerts may write."""

    lookup_value_regex = r"\d+"
    http_method_names = ["get", "post", "patch", "delete", "head", "options"]

    def get_permissions(self) -> Any:
        own = [] if self.action in ("list", "retrieve") else [permissions.MayKeepAlerts()]
        return [*super().get_permissions(), *own]


@extend_schema_view(
    list=extend_schema(summary="Rules of alerts"),
    retrieve=extend_schema(summary="One rule"),
    create=extend_schema(summary="Watch something"),
    partial_update=extend_schema(summary="Change a rule, or switch it off"),
    destroy=extend_schema(summary="Delete a rule with its alerts"),
)
class RuleViewSet(Kept):
    queryset = AlertRule.objects.select_related("created_by").prefetch_related("channels")
    serializer_class = serializers.RuleSerializer

    def get_queryset(self) -> QuerySet[AlertRule]:
        return of_rows.of_visible(super().get_queryset(), self.request.user, "job__team")

    def perform_create(self, serializer: BaseSerializer[Any]) -> None:
        user = self.request.user
        serializer.save(created_by=user if isinstance(user, User) else None)


@extend_schema_view(
    list=extend_schema(summary="Channels that messages go to"),
    retrieve=extend_schema(summary="One channel"),
    create=extend_schema(summary="Name a webhook, a Slack-compatible webhook or e-mail addresses"),
    partial_update=extend_schema(summary="Change a channel"),
    destroy=extend_schema(summary="Delete a channel with its messages"),
)
class ChannelViewSet(Kept):
    queryset = AlertChannel.objects.all()
    serializer_class = serializers.ChannelSerializer

    @extend_schema(
        summary="Send a test message",
        request=None,
        responses={202: serializers.DeliverySerializer},
    )
    @action(detail=True, methods=["post"])
    def test(self, request: Request, pk: str) -> Response:
        delivery = alerts.test(self.get_object())
        answer = serializers.DeliverySerializer(delivery)
        return Response(answer.data, status=status.HTTP_202_ACCEPTED)
