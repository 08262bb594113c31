"""The forms of alert rules and channels."""

from __future__ import annotations

from typing import Any

from django import forms
from django.db.models import QuerySet

from jobs.models import AlertChannel, AlertRule, Job
from jobs.states import Ends, JobState

#: Jobs that can be chosen; a rule of an older one is made through the API.
MOST = 500
_ENDED = [state.value for state in JobState if state.ends is Ends.FOR_GOOD]


class RuleForm(forms.ModelForm):  # type: ignore[type-arg]
    class Meta:
        model = AlertRule
        fields = ["name", "kind", "job", "threshold", "seconds", "channels", "enabled"]
        labels = {
            "kind": "What is watched",
            "seconds": "For how many seconds",
            "channels": "Whom to tell",
            "enabled": "Switched on",
        }
        help_texts = {
            "job": "All jobs when nothing is chosen.",
            "threshold": "Failures, failed checkpoints, records behind, or a batch's time in % of "
            "the checkpoint interval.",
            "seconds": "Lag and slow batches: how long it must last. Failures: within which time.",
        }
        widgets = {"channels": forms.CheckboxSelectMultiple}

    def __init__(self, *args: Any, jobs: QuerySet[Job], **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        listed = jobs.exclude(state__in=_ENDED).order_by("name").values_list("pk", flat=True)[:MOST]
        chosen = [*listed, *([self.instance.job_id] if self.instance.job_id else [])]
        field = self.fields["job"]
        assert isinstance(field, forms.ModelChoiceField)
        field.queryset = jobs.filter(pk__in=chosen).order_by("name")
        field.empty_label = "All jobs"


class ChannelForm(forms.ModelForm):  # type: ignore[type-arg]
    """Of what is stored, neither the secret nor a URL's path is shown: left empty, they stay."""

    class Meta:
        model = AlertChannel
        fields = ["name", "kind", "address", "secret"]
        help_texts = {"secret": "Signs a webhook's messages (HMAC-SHA256). 16 characters or more."}
        widgets = {
            "address": forms.TextInput(attrs={"autocomplete": "off"}),
            "secret": forms.PasswordInput(attrs={"autocomplete": "new-password"}),
        }

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        address = self.fields["address"]
        address.help_text = "A URL, or e-mail addresses separated by commas."
        if self.instance.pk:
            self.initial.pop("secret", None)
            self.initial["address"] = ""
            address.required = False
            address.help_text = f"Now {self.instance.shown_address}; left empty, it stays."
            if self.instance.secret:
                self.fields["secret"].help_text = "There is one; left empty, it stays."

    def clean_address(self) -> str:
        return self._kept("address")

    def clean_secret(self) -> str:
        return self._kept("secret")

    def _kept(self, name: str) -> str:
        said = str(self.cleaned_data[name])
        if said or not self.instance.pk:
            return said
        return str(AlertChannel.objects.values_list(name, flat=True).get(pk=self.instance.pk))
