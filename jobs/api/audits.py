"""/api/audit/: who has changed what, for admins."""

from __future__ import annotations

from typing import Any

from django.db.models import QuerySet
from drf_spectacular.utils import extend_schema, extend_schema_view
from rest_framework import mixins, serializers
from rest_framework.viewsets import GenericViewSet

from jobs.api import permissions
from jobs.models import AuditEntry


class AuditSerializer(serializers.ModelSerializer[AuditEntry]):
    detail = serializers.DictField(read_only=True)

    class Meta:
        model = AuditEntry
        fields = [
            *("id", "at", "username", "action", "target_kind", "target_id", "target_name"),
            *("detail", "result", "via", "address", "agent", "token"),
        ]
        read_only_fields = fields


class AuditQuery(serializers.Serializer[Any]):
    username = serializers.CharField(required=False)
    action = serializers.CharField(required=False, help_text="or how it begins: job.")
    target = serializers.CharField(required=False, help_text="its id")
    result = serializers.ChoiceField(choices=AuditEntry.Result.choices, required=False)
    since = serializers.DateTimeField(required=False)
    until = serializers.DateTimeField(required=False)


_COLUMNS = {
    "username": "username",
    "action": "action__startswith",
    "target": "target_id",
    "result": "result",
    "since": "at__gte",
    "until": "at__lt",
}


@extend_schema_view(
    list=extend_schema(summary="Changes, newest first", parameters=[AuditQuery]),
    retrieve=extend_schema(summary="One change"),
)
class AuditViewSet(mixins.ListModelMixin, mixins.RetrieveModelMixin, GenericViewSet[AuditEntry]):
    queryset = AuditEntry.objects.all()
    serializer_class = AuditSerializer
    lookup_value_regex = r"\d{1,18}"

    def get_permissions(self) -> Any:
        return [*super().get_permissions(), permissions.MayAdminister()]

    def get_queryset(self) -> QuerySet[AuditEntry]:
        rows = super().get_queryset()
        if self.action != "list":
            return rows
        query = AuditQuery(data=self.request.query_params)
        query.is_valid(raise_exception=True)
        wanted = {_COLUMNS[name]: value for name, value in query.validated_data.items()}
        return rows.filter(**wanted)
