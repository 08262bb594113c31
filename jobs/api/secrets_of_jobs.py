"""/api/secrets/: which secrets jobs may name. Values go in and never come out."""

from __future__ import annotations

from typing import Any

from django.db.models import QuerySet
from drf_spectacular.utils import extend_schema, extend_schema_view
from rest_framework import mixins, serializers, status
from rest_framework.request import Request
from rest_framework.response import Response
from rest_framework.viewsets import GenericViewSet

from jobs import audit, job_secrets
from jobs import permissions as rules
from jobs.api import permissions
from jobs.api.savepoints import user_of
from jobs.models import Secret
from jobs.roles import Role


class SecretSerializer(serializers.ModelSerializer[Secret]):
    team = serializers.CharField(
        source="team.name", default=None, read_only=True, allow_null=True, help_text="null: all"
    )
    created_by = serializers.CharField(
        source="created_by.username", default=None, read_only=True, allow_null=True
    )

    class Meta:
        model = Secret
        fields = [
            *("id", "name", "team", "description", "created_by", "created_at", "changed_at"),
            "used_at",
        ]
        read_only_fields = fields


class NewSecret(serializers.Serializer[Any]):
    name = serializers.CharField(max_length=80, help_text="capital letters, digits and _")
    value = serializers.CharField(
        trim_whitespace=False, write_only=True, max_length=job_secrets.LONGEST
    )
    team = serializers.CharField(
        required=False, default="", allow_blank=True, help_text="whose jobs may have it; none: all"
    )
    description = serializers.CharField(required=False, max_length=500, allow_blank=True)


@extend_schema_view(
    list=extend_schema(summary="Secrets that one's jobs may name; no values"),
    retrieve=extend_schema(summary="One secret; not its value"),
    destroy=extend_schema(summary="Delete it; jobs that name it do not start any more"),
)
class SecretViewSet(
    mixins.ListModelMixin,
    mixins.RetrieveModelMixin,
    mixins.DestroyModelMixin,
    GenericViewSet[Secret],
):
    queryset = Secret.objects.select_related("team", "created_by")
    serializer_class = SecretSerializer
    lookup_value_regex = r"\d{1,18}"

    def get_permissions(self) -> Any:
        own = [] if self.action in ("list", "retrieve") else [permissions.MayAdministerSomewhere()]
        return [*super().get_permissions(), *own]

    def get_queryset(self) -> QuerySet[Secret]:
        rows, user = super().get_queryset(), self.request.user
        mine = rules.of_visible(rows, user, least=Role.DEVELOPER)
        return mine | rows.filter(team=None) if rules.may_submit_somewhere(user) else mine

    @extend_schema(
        summary="Keep a secret, or give it another value",
        request=NewSecret,
        responses={201: SecretSerializer},
    )
    def create(self, request: Request) -> Response:
        asked = NewSecret(data=request.data)
        asked.is_valid(raise_exception=True)
        values = asked.validated_data
        team = permissions.team_named(request, values["team"])
        permissions.to_administer(request, team)
        row = job_secrets.keep(
            values["name"], values["value"], team, user_of(request), values.get("description")
        )
        audit.record(request, "secret.keep", row)
        return Response(SecretSerializer(row).data, status=status.HTTP_201_CREATED)

    def perform_destroy(self, instance: Secret) -> None:
        permissions.to_administer(self.request, instance.team)
        audit.record(self.request, "secret.delete", instance)
        instance.delete()
