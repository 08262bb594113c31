"""`jobs.permissions` as DRF asks for them."""

from __future__ import annotations

from rest_framework.permissions import BasePermission
from rest_framework.request import Request
from rest_framework.views import APIView

from jobs import permissions


class MaySubmit(BasePermission):
    message = "Submitting a job needs the permission 'Can submit jobs' (or a staff account)."

    def has_permission(self, request: Request, view: APIView) -> bool:
        return permissions.may_submit(request.user)


class MayKeepAlerts(BasePermission):
    message = "Keeping alerts needs a staff account or the permission to change alert rules."

    def has_permission(self, request: Request, view: APIView) -> bool:
        return permissions.may_keep_alerts(request.user)


class MaySteer(BasePermission):
    message = "Steering a job needs the permission to submit or to change jobs."

    def has_permission(self, request: Request, view: APIView) -> bool:
        return permissions.may_steer(request.user)
