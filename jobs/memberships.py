"""Who has which role where: given, changed and taken away."""

from __future__ import annotations

from collections.abc import Mapping

from django.contrib.auth.models import User
from django.db import transaction

from jobs import options
from jobs.models import Membership, Team
from jobs.roles import Role

_BY_HAND = Membership.Source.HAND


def give(user: User, team: Team | None, role: Role) -> Membership:
    """The user has this role in the team, or (None) in the cluster, from now on."""
    row, _ = Membership.objects.update_or_create(
        user=user, team=team, source=_BY_HAND, defaults={"role": role}
    )
    return row


def take(row: Membership) -> None:
    """Raises InvalidOption for one that the OpenID provider brings: it would be back at the next
    login."""
    if row.source != _BY_HAND:
        raise options.InvalidOption(
            "this role comes from a group of the OpenID provider; take the person out of the group"
        )
    row.delete()


def from_provider(user: User, roles: Mapping[str, Role]) -> None:
    """Have the user's roles from the OpenID provider be these, {team: role} with "" for the
    cluster. Those given by hand stay; a team that does not exist yet is made."""
    with transaction.atomic():
        Membership.objects.filter(user=user, source=Membership.Source.OIDC).delete()
        for name, role in roles.items():
            team = Team.objects.get_or_create(name=name)[0] if name else None
            Membership.objects.create(
                user=user, team=team, role=role, source=Membership.Source.OIDC
            )
