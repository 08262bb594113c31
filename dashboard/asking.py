"""Changes that a page asks for: a link leads to a question that says what will happen, its button
does it. With JavaScript the question is a dialog (confirm.js), without it is a page."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from django.contrib import messages
from django.http import HttpRequest, HttpResponse
from django.shortcuts import redirect, render

from jobs import actions, options, savepoints

#: What refuses a change, in words for the page; nothing was changed.
REFUSALS = (
    actions.Conflict,
    actions.InvalidJob,
    options.InvalidOption,
    savepoints.Conflict,
)


@dataclass(frozen=True, slots=True)
class Deed:
    """One change that can be asked for. `consequence` says what will happen, `noun` to what."""

    name: str
    label: str
    icon: str
    noun: str
    consequence: str
    #: What the page says when it was done.
    done: str
    #: "bad" for what cannot be taken back, else "".
    colour: str = ""


def ask(
    request: HttpRequest, deed: Deed, subject: str, back: str, do: Callable[[], object]
) -> HttpResponse:
    """GET asks whether it is meant; POST does it and goes `back`, where a refusal is said too."""
    if request.method != "POST":
        context = {"deed": deed, "subject": subject, "back": back}
        return render(request, "dashboard/confirm.html", context)
    try:
        do()
    except REFUSALS as refused:
        messages.error(request, f"Nothing was changed: {str(refused).rstrip('.')}.")
    else:
        messages.success(request, deed.done)
    return redirect(back)
