"""People, their tokens and their roles as JSON."""

from __future__ import annotations

from datetime import datetime
from typing import Any

from django.contrib.auth.models import User
from django.utils import timezone
from rest_framework import serializers
from rest_framework.exceptions import PermissionDenied, ValidationError
from rest_framework.request import Request

from jobs.models import ApiToken, Membership, Team
from jobs.roles import Role

_ROLES = [(role.label, role.label) for role in Role]


class RoleField(serializers.ChoiceField):
    """A role by its word."""

    def __init__(self, **kwargs: Any) -> None:
        super().__init__(choices=_ROLES, **kwargs)

    def to_internal_value(self, data: Any) -> Any:
        return Role.named(super().to_internal_value(data))

    def to_representation(self, value: Any) -> str:
        return str(Role(value).label)


class Me(serializers.Serializer[Any]):
    username = serializers.CharField()
    role = serializers.CharField(allow_null=True, help_text="in the cluster, and for jobs of none")
    elsewhere = serializers.CharField(
        allow_null=True, help_text="in every team that `teams` has not; null: nothing to see there"
    )
    teams = serializers.DictField(child=serializers.CharField(), help_text="{team: role}")
    token = serializers.CharField(allow_null=True, help_text="the token that was used, if any")


class TokenSerializer(serializers.ModelSerializer[ApiToken]):
    user = serializers.CharField(source="user.username", read_only=True)
    role = RoleField(read_only=True)
    team = serializers.CharField(
        source="team.name", default=None, read_only=True, allow_null=True, help_text="sees this one"
    )

    class Meta:
        model = ApiToken
        fields = [
            *("id", "name", "prefix", "user", "role", "team", "created_at", "expires_at"),
            *("last_used_at", "last_used_from"),
        ]
        read_only_fields = fields


class NewToken(serializers.Serializer[Any]):
    name = serializers.CharField(max_length=100)
    role = RoleField(
        required=False,
        default=Role.ADMIN.label,
        help_text="the most that it may; never more than one may",
    )
    team = serializers.CharField(
        required=False, default="", allow_blank=True, help_text="sees the jobs of this team only"
    )
    expires_at = serializers.DateTimeField(required=False, default=None, allow_null=True)

    def validate_role(self, value: Any) -> Role:
        return value if isinstance(value, Role) else Role.named(value)

    def validate_expires_at(self, value: datetime | None) -> datetime | None:
        if value is not None and value <= timezone.now():
            raise ValidationError("a token cannot expire in the past")
        return value


class MadeToken(TokenSerializer):
    token = serializers.CharField(read_only=True, help_text="keep it: nobody can see it again")

    class Meta(TokenSerializer.Meta):
        fields = [*TokenSerializer.Meta.fields, "token"]
        read_only_fields = fields


class TeamSerializer(serializers.ModelSerializer[Team]):
    class Meta:
        model = Team
        fields = ["id", "name", "description", "created_at"]
        read_only_fields = ["id", "created_at"]


class MembershipSerializer(serializers.ModelSerializer[Membership]):
    user = serializers.CharField(source="user.username", read_only=True)
    team = serializers.CharField(
        source="team.name", default=None, read_only=True, allow_null=True, help_text="null: cluster"
    )
    role = RoleField(read_only=True)

    class Meta:
        model = Membership
        fields = ["id", "user", "team", "role", "source", "created_at"]
        read_only_fields = fields


class NewMembership(serializers.Serializer[Any]):
    user = serializers.CharField(max_length=150, help_text="the account's name")
    team = serializers.CharField(required=False, default="", allow_blank=True)
    role = RoleField()


def person(request: Request) -> User:
    """Who asks. Raises PermissionDenied for what is none."""
    if not isinstance(request.user, User):
        raise PermissionDenied("This needs an account.")
    return request.user


def unknown_person(name: str) -> ValidationError:
    return ValidationError({"user": f"there is no account {name!r}"})
