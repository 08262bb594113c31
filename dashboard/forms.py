"""The forms of the pages."""

from __future__ import annotations

import shlex
from typing import Any

from django import forms
from django.core.files.uploadedfile import UploadedFile

from jobs.actions import MAX_PARALLELISM

#: A job file is a program, not data; more than this is a mistake.
MAX_FILE_BYTES = 2 * 1024 * 1024


class SubmitForm(forms.Form):
    """A Python file and how to run it."""

    file = forms.FileField(
        label="Python file",
        help_text="The program with the job's execute() call.",
        widget=forms.ClearableFileInput(attrs={"accept": ".py,text/x-python"}),
    )
    name = forms.CharField(
        required=False,
        max_length=200,
        help_text="The file's name when left empty.",
        widget=forms.TextInput(attrs={"autocomplete": "off"}),
    )
    arguments = forms.CharField(
        required=False,
        help_text="As on a command line; quotes keep words together. "
        "The program reads them in sys.argv.",
        widget=forms.TextInput(
            attrs={"autocomplete": "off", "spellcheck": "false", "class": "mono"}
        ),
    )
    parallelism = forms.IntegerField(
        initial=1,
        min_value=1,
        max_value=MAX_PARALLELISM,
        help_text="Task slots the job takes. It waits until so many are free.",
    )

    def clean_file(self) -> UploadedFile[Any]:
        file: UploadedFile[Any] = self.cleaned_data["file"]
        if (file.size or 0) > MAX_FILE_BYTES:
            raise forms.ValidationError(
                f"{file.name} has {file.size:,} bytes; a job file may have {MAX_FILE_BYTES:,}. "
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
