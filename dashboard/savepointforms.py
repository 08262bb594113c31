"""The forms about savepoints and versions of a job."""

from __future__ import annotations

import shlex
from typing import Any

from django import forms
from django.core.files.uploadedfile import UploadedFile

from headrace.wire.savepoint import ClaimMode
from jobs.actions import MAX_PARALLELISM
from jobs.artifacts import MAX_PACKAGE_BYTES
from jobs.models import Savepoint

_PLAIN = {"autocomplete": "off", "spellcheck": "false", "class": "mono"}


class SavepointForm(forms.Form):
    """What is asked for; everything may be left out."""

    then = forms.ChoiceField(
        label="The job",
        choices=[
            (Savepoint.Then.RUN.value, "runs on"),
            (Savepoint.Then.FINISH.value, "stops with it"),
            (Savepoint.Then.CANCEL.value, "is cancelled with it"),
        ],
        required=False,
    )
    drain = forms.BooleanField(
        required=False,
        label="Drain: fire all windows and timers before",
        help_text="Only with a stop. Nothing can go on from a drained savepoint.",
    )
    reason = forms.CharField(required=False, max_length=500)
    directory = forms.CharField(
        required=False,
        max_length=400,
        help_text="The job's own, else the cluster's, when left empty.",
        widget=forms.TextInput(attrs=_PLAIN),
    )

    def clean(self) -> dict[str, Any]:
        values = super().clean() or {}
        if values.get("drain") and not values.get("then"):
            raise forms.ValidationError(
                "A job that is drained ends: choose how. No savepoint was asked for."
            )
        return values


class StartForm(forms.Form):
    """A new job that begins with a savepoint, as the program that the savepoint is of."""

    name = forms.CharField(required=False, max_length=200, help_text="The job's own when empty.")
    beside = forms.BooleanField(
        required=False,
        label="Beside the first job (A/B)",
        help_text="Its transactions get names of their own, so both can write at once.",
    )
    parallelism = forms.IntegerField(required=False, min_value=1, max_value=MAX_PARALLELISM)
    claim_mode = forms.ChoiceField(
        choices=[
            (ClaimMode.NO_CLAIM.value, "stays where it is (NO_CLAIM)"),
            (ClaimMode.CLAIM.value, "is the new job's, which may remove it (CLAIM)"),
        ],
        label="The savepoint",
        required=False,
    )
    allow_non_restored_state = forms.BooleanField(
        required=False,
        label="Go on though state in it belongs to no operator",
        help_text="That state is lost.",
    )


class UpgradeForm(forms.Form):
    """What changes with a new version; what is left empty stays as it is."""

    version = forms.IntegerField(required=False, min_value=1, widget=forms.HiddenInput())
    file = forms.FileField(
        required=False,
        label="New program",
        widget=forms.ClearableFileInput(attrs={"accept": ".py,.zip,.whl,.sql,text/x-python"}),
    )
    arguments = forms.CharField(
        required=False,
        help_text='As on a command line; "" for none.',
        widget=forms.TextInput(attrs=_PLAIN),
    )
    parallelism = forms.IntegerField(required=False, min_value=1, max_value=MAX_PARALLELISM)
    settings = forms.CharField(
        required=False,
        help_text="One a line, “key: value”; a key without a value is taken out.",
        widget=forms.Textarea(attrs={**_PLAIN, "rows": 3}),
    )
    reason = forms.CharField(required=False, max_length=500)
    allow_non_restored_state = forms.BooleanField(
        required=False,
        label="Go on though state belongs to no operator of the new version",
        help_text="That state is lost.",
    )

    def clean_file(self) -> UploadedFile[Any] | None:
        file: UploadedFile[Any] | None = self.cleaned_data["file"]
        if file is not None and (file.size or 0) > MAX_PACKAGE_BYTES:
            raise forms.ValidationError(
                f"{file.name} has {file.size:,} bytes; a program may have {MAX_PACKAGE_BYTES:,}. "
                "The job runs on as it was."
            )
        return file

    def clean_arguments(self) -> list[str] | None:
        text = self.cleaned_data["arguments"].strip()
        try:
            return [word for word in shlex.split(text) if word] if text else None
        except ValueError as error:
            raise forms.ValidationError(
                f"These are no arguments of a command line: {error}."
            ) from error

    def clean_settings(self) -> dict[str, str | None]:
        found: dict[str, str | None] = {}
        for line in filter(str.strip, self.cleaned_data["settings"].splitlines()):
            key, colon, value = line.partition(":")
            if not colon or not key.strip():
                raise forms.ValidationError(f"{line!r} is no “key: value”.")
            found[key.strip()] = value.strip() or None
        return found

    @property
    def wish(self) -> dict[str, Any]:
        """For `jobs.upgrades.ask`."""
        values = dict(self.cleaned_data)
        file = values.pop("file")
        entry = None if file is None else (file.read(), str(file.name))
        return {**values, "entry": entry, "settings": values["settings"] or None}
