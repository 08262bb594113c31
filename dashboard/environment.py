"""How the platform is set up, for people to see: no values of secrets."""

from __future__ import annotations

import platform
import sys
from collections.abc import Mapping
from importlib import metadata

from django.conf import settings
from django.db import connection

from jobs import masking

#: Settings of the platform beside Flink's keys, by their environment variables.
SHOWN = (
    *("HEADRACE_HEARTBEAT_INTERVAL", "HEADRACE_HEARTBEAT_TIMEOUT", "HEADRACE_DRIVER_TIMEOUT"),
    *("HEADRACE_STOP_TIMEOUT", "HEADRACE_SLOTS", "HEADRACE_CHECKPOINT_ROWS"),
    *("HEADRACE_CHECKPOINTS", "HEADRACE_SAVEPOINTS", "HEADRACE_ARTIFACTS", "HEADRACE_RUNS"),
    *("HEADRACE_SHARED_STORAGE", "SPARK_MASTER", "KAFKA_BOOTSTRAP_SERVERS", "HEADRACE_URL"),
    *("HEADRACE_UPLOADS", "HEADRACE_UPLOADS_EACH", "HEADRACE_UPLOADS_BYTES"),
)
PACKAGES = ("pyspark", "django", "djangorestframework", "celery", "pyarrow", "confluent-kafka")


def settings_shown() -> Mapping[str, Mapping[str, str]]:
    """Heading -> key -> value."""
    own = {name: str(getattr(settings, name)) for name in SHOWN if hasattr(settings, name)}
    properties = dict(sorted(settings.HEADRACE_PROPERTIES.items()))
    return {"Flink's keys (HEADRACE_PROPERTIES)": masking.masked(properties), "Platform": own}


def of_this_process() -> Mapping[str, Mapping[str, str]]:
    """Of the web process; JobManagers and TaskManagers run what their machines have."""
    return {
        "Web process": {
            "Python": sys.version.split()[0],
            "System": platform.platform(),
            "Machine": f"{platform.node()}, {platform.machine()}",
            "Database": f"{connection.vendor} {_database_version()}",
        },
        "Packages": {name: _version(name) for name in ("headrace", *PACKAGES)},
    }


def _database_version() -> str:
    return ".".join(map(str, connection.get_database_version()))


def _version(name: str) -> str:
    try:
        return metadata.version(name)
    except metadata.PackageNotFoundError:
        return "not installed"
