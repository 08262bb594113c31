"""What people and tokens may do, in four steps; each may do what the one before it may."""

from __future__ import annotations

from django.db import models


class Role(models.IntegerChoices):
    """Roles are compared as numbers: `role >= Role.OPERATOR`."""

    #: Looks at jobs, their logs and figures.
    VIEWER = 1, "viewer"
    #: Runs, stops and restarts jobs, takes savepoints.
    OPERATOR = 2, "operator"
    #: Submits code, and brings new versions of it.
    DEVELOPER = 3, "developer"
    #: Keeps teams, accounts, secrets and tokens of others; reads the audit log.
    ADMIN = 4, "admin"

    @classmethod
    def named(cls, word: str) -> Role:
        """Raises KeyError for a word that is no role."""
        return cls[word.strip().upper()]
