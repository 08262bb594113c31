"""/api/me/, /api/tokens/, /api/teams/, /api/memberships/: people, and what they may do."""

from __future__ import annotations

from datetime import datetime
from typing import Any

from django.contrib.auth.models import User
from django.db.models import ProtectedError, Q, QuerySet
from drf_spectacular.utils import extend_schema, extend_schema_view
from rest_framework import mixins, status
from rest_framework.exceptions import PermissionDenied
from rest_framework.request import Request
from rest_framework.response import Response
from rest_framework.serializers import BaseSerializer
from rest_framework.views import APIView
from rest_framework.viewsets import GenericViewSet, ModelViewSet

from jobs import audit, memberships, tokens
from jobs import permissions as rules
from jobs.actions import Conflict
from jobs.api import people_serializers as serializers
from jobs.api import permissions
from jobs.models import ApiToken, Membership, Team
from jobs.roles import Role


class MeView(APIView):
    @extend_schema(summary="Who asks, and what they may do", responses=serializers.Me)
    def get(self, request: Request) -> Response:
        own = rules.rights(request.user)
        names = dict(Team.objects.filter(pk__in=own.teams).values_list("pk", "name"))
        answer = {
            "username": request.user.get_username(),
            "role": _label(own.cluster),
            "elsewhere": _label(own.elsewhere),
            "teams": {names[pk]: role.label for pk, role in own.teams.items() if pk in names},
            "token": str(request.auth) if isinstance(request.auth, ApiToken) else None,
        }
        return Response(serializers.Me(answer).data)


def _label(role: Role | None) -> str | None:
    return None if role is None else str(role.label)


@extend_schema_view(
    list=extend_schema(summary="One's own tokens, newest first; an admin's: everybody's"),
    retrieve=extend_schema(summary="One token"),
    destroy=extend_schema(summary="Revoke a token: it is refused from now on"),
)
class TokenViewSet(
    mixins.ListModelMixin,
    mixins.RetrieveModelMixin,
    mixins.DestroyModelMixin,
    GenericViewSet[ApiToken],
):
    queryset = ApiToken.objects.select_related("user", "team")
    serializer_class = serializers.TokenSerializer
    lookup_value_regex = r"\d{1,18}"

    def get_queryset(self) -> QuerySet[ApiToken]:
        rows = super().get_queryset()
        if rules.may_administer(self.request.user):
            return rows
        return rows.filter(user=self.request.user.pk)

    @extend_schema(
        summary="Make a token for oneself; the answer is the only one that has it",
        request=serializers.NewToken,
        responses={201: serializers.MadeToken},
    )
    def create(self, request: Request) -> Response:
        asked = serializers.NewToken(data=request.data)
        asked.is_valid(raise_exception=True)
        values = asked.validated_data
        _not_wider(request, values["role"])
        row, key = tokens.create(
            serializers.person(request),
            values["name"],
            role=values["role"],
            team=permissions.team_named(request, values["team"]),
            expires_at=_not_longer(request, values["expires_at"]),
        )
        audit.record(request, "token.create", row, role=row.get_role_display())
        answer = {**serializers.TokenSerializer(row).data, "token": key}
        return Response(answer, status=status.HTTP_201_CREATED)

    def perform_destroy(self, instance: ApiToken) -> None:
        if instance != self.request.auth:
            _not_wider(self.request, Role(instance.role), "revokes")
        audit.record(self.request, "token.revoke", instance, owner=str(instance.user))
        tokens.revoke(instance)


def _not_wider(request: Request, role: Role, verb: str = "makes") -> None:
    """A token that may little makes and revokes none that may more."""
    if isinstance(request.auth, ApiToken) and role > request.auth.role:
        raise PermissionDenied(
            f"This token has the role {request.auth.get_role_display()}; it {verb} no wider one."
        )


def _not_longer(request: Request, wish: datetime | None) -> datetime | None:
    """A token that expires makes none that lives longer."""
    own = request.auth.expires_at if isinstance(request.auth, ApiToken) else None
    return min(filter(None, (own, wish)), default=None)


@extend_schema_view(
    list=extend_schema(summary="One's teams; an admin's: all"),
    retrieve=extend_schema(summary="One team"),
    create=extend_schema(summary="Make a team"),
    partial_update=extend_schema(summary="Give it another name or description"),
    destroy=extend_schema(summary="Delete a team that has no jobs"),
)
class TeamViewSet(ModelViewSet[Team]):
    queryset = Team.objects.all()
    serializer_class = serializers.TeamSerializer
    lookup_value_regex = r"\d{1,18}"
    http_method_names = ["get", "post", "patch", "delete", "head", "options"]

    def get_queryset(self) -> QuerySet[Team]:
        return rules.teams(self.request.user)

    def get_permissions(self) -> Any:
        own = [] if self.action in ("list", "retrieve") else [permissions.MayAdminister()]
        return [*super().get_permissions(), *own]

    def perform_create(self, serializer: BaseSerializer[Any]) -> None:
        audit.record(self.request, "team.create", serializer.save())

    def perform_update(self, serializer: BaseSerializer[Any]) -> None:
        audit.record(self.request, "team.change", serializer.save())

    def perform_destroy(self, instance: Team) -> None:
        told = str(instance)
        try:
            instance.delete()
        except ProtectedError as error:
            raise Conflict("the team has jobs or schedules; nothing was deleted") from error
        audit.record(self.request, "team.delete", told)


@extend_schema_view(
    list=extend_schema(
        summary="Who has which role where: in one's teams; an admin's: all", parameters=[]
    ),
    retrieve=extend_schema(summary="One role of somebody"),
    destroy=extend_schema(summary="Take a role away that was given by hand"),
)
class MembershipViewSet(
    mixins.ListModelMixin,
    mixins.RetrieveModelMixin,
    mixins.DestroyModelMixin,
    GenericViewSet[Membership],
):
    queryset = Membership.objects.select_related("user", "team")
    serializer_class = serializers.MembershipSerializer
    lookup_value_regex = r"\d{1,18}"

    def get_permissions(self) -> Any:
        own = [] if self.action in ("list", "retrieve") else [permissions.MayAdministerSomewhere()]
        return [*super().get_permissions(), *own]

    def get_queryset(self) -> QuerySet[Membership]:
        rows = super().get_queryset()
        if rules.may_administer(self.request.user):
            return rows
        mine = Q(user=self.request.user.pk)
        return rows.filter(mine | Q(team__in=rules.teams(self.request.user)))

    @extend_schema(
        summary="Give somebody a role in a team, or (no team) in the cluster",
        request=serializers.NewMembership,
        responses={201: serializers.MembershipSerializer},
    )
    def create(self, request: Request) -> Response:
        asked = serializers.NewMembership(data=request.data)
        asked.is_valid(raise_exception=True)
        values = asked.validated_data
        team = permissions.team_named(request, values["team"])
        permissions.to_administer(request, team)
        user = User.objects.filter(username=values["user"]).first()
        if user is None:
            raise serializers.unknown_person(values["user"])
        row = memberships.give(user, team, values["role"])
        audit.record(
            request, "membership.give", user, team=str(team or ""), role=row.get_role_display()
        )
        answer = serializers.MembershipSerializer(row)
        return Response(answer.data, status=status.HTTP_201_CREATED)

    def perform_destroy(self, instance: Membership) -> None:
        permissions.to_administer(self.request, instance.team)
        team, role = str(instance.team or ""), instance.get_role_display()
        memberships.take(instance)
        audit.record(self.request, "membership.take", instance.user, team=team, role=role)
