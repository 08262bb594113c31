"""The form that a job is submitted, planned or scheduled with."""

from __future__ import annotations

import shlex
from datetime import datetime
from typing import Any
from zoneinfo import ZoneInfo, ZoneInfoNotFoundError

from django import forms
from django.core.files.uploadedfile import UploadedFile
from django.utils import timezone

from headrace.wire.savepoint import ClaimMode
from jobs import artifacts, options, permissions
from jobs.actions import MAX_PARALLELISM
from jobs.models import Team
from jobs.roles import Role

_MONO = {"autocomplete": "off", "spellcheck": "false", "class": "mono"}
NOW, AT, CRON = "now", "at", "cron"
WHEN = ((NOW, "Now"), (AT, "Once, at a time"), (CRON, "Again and again"))


class SubmitForm(forms.Form):
    """A program, how to run it, what it begins with, and when."""

    file = forms.FileField(
        label="Program file",
        required=False,
        help_text="A Python file with the job's execute() call, a .zip or .whl, or a SQL script.",
        widget=forms.FileInput(attrs={"accept": ",".join(artifacts.SUFFIXES)}),
    )
    program = forms.CharField(required=False, max_length=240, widget=forms.HiddenInput)
    name = forms.CharField(
        label="Job name",
        required=False,
        max_length=200,
        help_text="The file's name when left empty.",
        widget=forms.TextInput(attrs={"autocomplete": "off"}),
    )
    entry_class = forms.CharField(
        label="Entry",
        required=False,
        max_length=300,
        help_text="What of an archive is run: a module, or module:function.",
        widget=forms.TextInput(attrs={**_MONO, "list": "entries"}),
    )
    arguments = forms.CharField(
        label="Program arguments",
        required=False,
        max_length=10_000,
        help_text="As on a command line; quotes keep words together. "
        "The program reads them in sys.argv.",
        widget=forms.TextInput(attrs=_MONO),
    )
    parallelism = forms.IntegerField(
        initial=1,
        min_value=1,
        max_value=MAX_PARALLELISM,
        help_text="Task slots the job takes. It waits until so many are free.",
    )
    team = forms.ModelChoiceField(
        Team.objects.none(), required=False, help_text="Whose job it is: who sees it."
    )
    savepoint = forms.CharField(
        label="Savepoint path",
        required=False,
        max_length=500,
        help_text="The state that it begins with; without one it begins anew.",
        widget=forms.TextInput(attrs={**_MONO, "list": "savepoints"}),
    )
    claim_mode = forms.ChoiceField(
        label="Restore mode",
        choices=[
            (ClaimMode.NO_CLAIM.value, "NO_CLAIM: the savepoint stays yours"),
            (ClaimMode.CLAIM.value, "CLAIM: the job owns it, and disposes of it"),
        ],
        required=False,
    )
    allow_non_restored_state = forms.BooleanField(
        label="Allow non-restored state",
        required=False,
        help_text="State of operators that the program no longer has is dropped.",
    )
    configuration = forms.CharField(
        required=False,
        max_length=20_000,
        help_text="Flink's keys, a “key: value” in each line.",
        widget=forms.Textarea(
            attrs={**_MONO, "rows": 4, "placeholder": "execution.checkpointing.interval: 10 s"}
        ),
    )
    when = forms.ChoiceField(label="Start", choices=WHEN, initial=NOW, required=False)
    at = forms.DateTimeField(
        label="At",
        required=False,
        widget=forms.DateTimeInput(attrs={"type": "datetime-local"}, format="%Y-%m-%dT%H:%M"),
        help_text="In the time zone below.",
    )
    cron = forms.CharField(
        label="Cron expression",
        required=False,
        max_length=200,
        help_text="Minute, hour, day of month, month, day of week: 0 6 * * mon-fri",
        widget=forms.TextInput(attrs=_MONO),
    )
    time_zone = forms.CharField(
        label="Time zone",
        required=False,
        max_length=64,
        initial="UTC",
        help_text="One like Europe/Berlin.",
        widget=forms.TextInput(attrs={"autocomplete": "off"}),
    )

    def __init__(self, *args: Any, user: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        team = self.fields["team"]
        assert isinstance(team, forms.ModelChoiceField)
        team.queryset = permissions.teams(user, Role.DEVELOPER)
        of_cluster = permissions.may_submit(user)
        team.empty_label = "everybody" if of_cluster else None
        team.required = not of_cluster
        if not permissions.may_upload(user) and of_cluster:
            del self.fields["file"]

    def clean_file(self) -> UploadedFile[Any] | None:
        file: UploadedFile[Any] | None = self.cleaned_data["file"]
        most = artifacts.MAX_PACKAGE_BYTES
        if file is not None and (file.size or 0) > most:
            raise forms.ValidationError(
                f"{file.name} has {file.size:,} bytes; a program may have {most:,}. "
                "Nothing was submitted."
            )
        return file

    def clean_arguments(self) -> list[str]:
        try:
            return shlex.split(self.cleaned_data["arguments"])
        except ValueError as error:
            raise forms.ValidationError(
                f"These are no arguments of a command line: {error}."
            ) from error

    def clean_configuration(self) -> dict[str, str]:
        found: dict[str, str] = {}
        for number, line in enumerate(self.cleaned_data["configuration"].splitlines(), 1):
            key, colon, value = line.partition(":")
            if not line.strip() or line.lstrip().startswith("#"):
                continue
            if not colon or not key.strip():
                raise forms.ValidationError(f"Line {number} is no “key: value”: {line.strip()}")
            found[key.strip()] = value.strip()
        return found

    def clean(self) -> dict[str, Any]:
        values = super().clean() or {}
        if not values.get("file") and not values.get("program") and "file" not in self.errors:
            self.add_error("file" if "file" in self.fields else None, "Choose a program.")
        if values.get("entry_class"):
            known = values.get("configuration") or {}
            values["configuration"] = {**known, artifacts.ENTRY_CLASS: values["entry_class"]}
        return values

    def clean_at(self) -> datetime | None:
        """Without its zone: that is another field."""
        at: datetime | None = self.cleaned_data["at"]
        return timezone.make_naive(at) if at is not None else None

    def times(self) -> dict[str, Any]:
        """As `schedules.create` takes them. Raises InvalidOption."""
        values, when = self.cleaned_data, self.cleaned_data["when"]
        zone = values["time_zone"] or "UTC"
        if when == CRON:
            return {"cron": values["cron"] or "?", "time_zone": zone}
        try:
            known = ZoneInfo(zone)
        except (ZoneInfoNotFoundError, ValueError, OSError):
            raise options.InvalidOption(
                f"time zone: {zone!r} is not known; name one like Europe/Berlin or UTC"
            ) from None
        return {"at": values["at"].replace(tzinfo=known) if values["at"] else None}

    @property
    def starts_now(self) -> bool:
        return self.cleaned_data.get("when") in ("", NOW, None)
