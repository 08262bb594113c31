"""The job that an address is about, for who may look at it."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from django.core.exceptions import PermissionDenied
from django.http import HttpRequest
from django.shortcuts import get_object_or_404

from jobs import permissions
from jobs.models import Job


def job_of(request: HttpRequest, job_id: str) -> Job:
    """Raises Http404 also for jobs of other teams: they do not exist for this user."""
    jobs = permissions.visible_jobs(request.user).select_related("submitted_by", "team")
    return get_object_or_404(jobs, pk=job_id)


def job_to_change(request: HttpRequest, job_id: str, right: Callable[[Any, Job], bool]) -> Job:
    """As `job_of`; raises PermissionDenied without this right of `jobs.permissions` on the job."""
    job = job_of(request, job_id)
    if not right(request.user, job):
        raise PermissionDenied
    return job
