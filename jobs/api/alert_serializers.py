"""Alerts as JSON. What a channel's secret or URL is can be written and never read."""

from __future__ import annotations

from typing import Any

from django.contrib.auth.models import User
from django.core.exceptions import ValidationError
from django.db import models
from rest_framework import serializers

from jobs import permissions
from jobs.models import Alert, AlertChannel, AlertDelivery, AlertRule, Job


class _Cleaned:
    """Checks as the admin console does: by the row's own `clean`."""

    instance: Any
    Meta: Any

    def validate(self, attrs: dict[str, Any]) -> dict[str, Any]:
        plain = {name: value for name, value in attrs.items() if not isinstance(value, list)}
        row: models.Model = self.Meta.model()
        if self.instance is not None:
            for field in row._meta.concrete_fields:
                setattr(row, field.attname, getattr(self.instance, field.attname))
        for name, value in plain.items():
            setattr(row, name, value)
        try:
            row.clean()
        except ValidationError as error:
            raise serializers.ValidationError(serializers.as_serializer_error(error)) from error
        return attrs


class ChannelSerializer(_Cleaned, serializers.ModelSerializer[AlertChannel]):
    shown_address = serializers.CharField(
        read_only=True, help_text="of a URL no more than its host"
    )
    signed = serializers.SerializerMethodField(help_text="whether it has a secret")

    class Meta:
        model = AlertChannel
        fields = ["id", "name", "kind", "address", "shown_address", "secret", "signed"]
        extra_kwargs = {"address": {"write_only": True}, "secret": {"write_only": True}}

    def get_signed(self, channel: AlertChannel) -> bool:
        return bool(channel.secret)


class RuleSerializer(_Cleaned, serializers.ModelSerializer[AlertRule]):
    created_by = serializers.SlugRelatedField[User](
        slug_field="username", read_only=True, allow_null=True
    )

    class Meta:
        model = AlertRule
        fields = [
            *("id", "name", "kind", "job", "threshold", "seconds", "enabled", "channels"),
            *("created_by", "created_at"),
        ]
        read_only_fields = ["created_at"]

    def validate_job(self, job: Job | None) -> Job | None:
        """One that its author does not see is not there."""
        if job is not None and not permissions.may_view(self.context["request"].user, job):
            raise serializers.ValidationError("there is no such job")
        return job


class AlertSerializer(serializers.ModelSerializer[Alert]):
    rule_name = serializers.CharField(source="rule.name", read_only=True)
    kind = serializers.ChoiceField(
        source="rule.kind", choices=AlertRule.Kind.choices, read_only=True
    )
    job_name = serializers.CharField(source="job.name", read_only=True)

    class Meta:
        model = Alert
        fields = [
            *("id", "rule", "rule_name", "kind", "job", "job_name", "state", "summary"),
            *("since", "fired_at", "clear_since", "resolved_at"),
        ]
        read_only_fields = fields


class DeliverySerializer(serializers.ModelSerializer[AlertDelivery]):
    channel_name = serializers.CharField(source="channel.name", read_only=True)
    due_at = serializers.DateTimeField(read_only=True, help_text="while waiting: the next attempt")

    class Meta:
        model = AlertDelivery
        fields = [
            *("id", "alert", "channel", "channel_name", "about", "state", "attempts", "due_at"),
            *("error", "created_at", "ended_at"),
        ]
        read_only_fields = fields
