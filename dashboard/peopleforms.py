"""The forms of tokens, teams and members."""

from __future__ import annotations

from datetime import timedelta
from typing import Any

from django import forms
from django.contrib.auth.models import User
from django.utils import timezone

from jobs import permissions
from jobs.models import Team
from jobs.roles import Role

#: What a new token can be given, in days; "" = it does not expire.
LIVES = (("7", "7 days"), ("30", "30 days"), ("90", "90 days"), ("365", "1 year"), ("", "never"))


class TokenForm(forms.Form):
    """A token may at most what its owner may."""

    name = forms.CharField(
        max_length=100,
        help_text="What it is for: this name stands in the audit log.",
        widget=forms.TextInput(attrs={"autocomplete": "off"}),
    )
    role = forms.TypedChoiceField(
        label="May at most", coerce=lambda text: Role(int(text)), help_text="Less is safer."
    )
    team = forms.ModelChoiceField(
        Team.objects.none(),
        label="Only for jobs of",
        required=False,
        empty_label="all that I see",
    )
    days = forms.ChoiceField(label="Expires after", choices=LIVES, required=False, initial="90")

    def __init__(self, *args: Any, user: User, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        role, team = self.fields["role"], self.fields["team"]
        assert isinstance(role, forms.ChoiceField) and isinstance(team, forms.ModelChoiceField)
        own = permissions.rights(user)
        most = max([own.cluster or Role.VIEWER, *own.teams.values()])
        role.choices = [(each.value, each.label) for each in Role if each <= most]
        role.initial = min(most, Role.OPERATOR).value
        team.queryset = permissions.teams(user)

    def wish(self) -> dict[str, Any]:
        """As `tokens.create` takes it."""
        days = self.cleaned_data["days"]
        ends = timezone.now() + timedelta(days=int(days)) if days else None
        return {
            "role": self.cleaned_data["role"],
            "team": self.cleaned_data["team"],
            "expires_at": ends,
        }


class TeamForm(forms.ModelForm):  # type: ignore[type-arg]
    class Meta:
        model = Team
        fields = ["name", "description"]
        help_texts = {"name": "Its jobs are seen by its members and by admins only."}


class MemberForm(forms.Form):
    """Somebody who has an account, by name."""

    username = forms.CharField(label="Account", max_length=150)
    role_number = forms.TypedChoiceField(
        label="Role", coerce=int, choices=Role.choices, initial=Role.VIEWER.value
    )

    def clean_username(self) -> str:
        name = str(self.cleaned_data["username"]).strip()
        found = User.objects.filter(username=name, is_active=True).first()
        if found is None:
            raise forms.ValidationError(f"there is no account {name!r} that is active")
        self.user = found
        return name

    @property
    def role(self) -> Role:
        return Role(self.cleaned_data["role_number"])

    @property
    def words(self) -> str:
        return " ".join(str(error) for errors in self.errors.values() for error in errors)


class SecretForm(forms.Form):
    """A name that is there already gets another value."""

    name = forms.CharField(
        max_length=80,
        help_text="Capital letters, digits and _; of one that is there, the value is replaced.",
        widget=forms.TextInput(attrs={"autocomplete": "off", "spellcheck": "false"}),
    )
    value = forms.CharField(
        widget=forms.PasswordInput(attrs={"autocomplete": "new-password"}), strip=False
    )
    team = forms.ModelChoiceField(
        Team.objects.none(), label="For jobs of", required=False, empty_label="everybody"
    )
    description = forms.CharField(max_length=500, required=False)

    def __init__(self, *args: Any, user: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        team = self.fields["team"]
        assert isinstance(team, forms.ModelChoiceField)
        team.queryset = permissions.teams(user, Role.ADMIN)
        if not permissions.may_administer(user):
            team.required, team.empty_label = True, None
