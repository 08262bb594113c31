"""Submit a job: upload a Python file and say how to run it."""

from __future__ import annotations

from django.contrib import messages
from django.http import HttpRequest, HttpResponse
from django.shortcuts import redirect, render
from django.utils import timezone
from django.views.decorators.http import require_http_methods

from dashboard import access
from dashboard.forms import SubmitForm
from dashboard.overview import Overview
from jobs import actions, permissions
from jobs.models import Job


@require_http_methods(["GET", "POST"])
@access.only_if(permissions.may_submit)
def show(request: HttpRequest) -> HttpResponse:
    form = SubmitForm(request.POST or None, request.FILES or None)
    if request.method == "POST" and form.is_valid():
        try:
            job = _submit(form, request)
        except actions.InvalidJob as refused:
            form.add_error("file", str(refused))
        else:
            messages.success(request, f"{job.name} was submitted.")
            return redirect("dashboard:job", job.pk)
    status = 422 if form.errors else 200
    context = {"form": form, "overview": Overview(timezone.now())}
    return render(request, "dashboard/submit.html", context, status=status)


def _submit(form: SubmitForm, request: HttpRequest) -> Job:
    file = form.cleaned_data["file"]
    return actions.submit(
        form.cleaned_data["name"],
        (file.read(), file.name),
        arguments=form.cleaned_data["arguments"],
        parallelism=form.cleaned_data["parallelism"],
        user=request.user if request.user.is_authenticated else None,
    )
