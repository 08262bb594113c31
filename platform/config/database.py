"""A database named by URL, as Django wants it."""

from __future__ import annotations

import warnings
from typing import Any

import environ
from django.core.exceptions import ImproperlyConfigured


def named_by(url: str) -> dict[str, Any]:
    """Raises ImproperlyConfigured with the variable's name, and without the URL: it may hold a
    password."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # one that prints the password
        try:
            found = dict(environ.Env.db_url_config(url))
        except ValueError:
            found = {}
    if not str(found.get("ENGINE", "")).startswith("django.db.backends."):
        raise ImproperlyConfigured(
            "DATABASE_URL is no database's URL; set it to one like "
            "postgres://user:password@host:5432/headrace, or unset it to use SQLite."
        )
    return found
