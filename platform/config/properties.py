"""Settings of the cluster by Flink's keys, as Flink's images take them in FLINK_PROPERTIES."""

from __future__ import annotations

from collections.abc import Mapping

from django.core.exceptions import ImproperlyConfigured

from jobs import group_roles, options, placement, restart_strategies
from jobs.exports import configuration as reporters

VARIABLE = "HEADRACE_PROPERTIES"


def read(text: str) -> dict[str, str]:
    """One `key: value` in a line; empty lines and those that begin with # do not count. Raises
    ImproperlyConfigured."""
    found = {}
    for line in map(str.strip, text.splitlines()):
        if line and not line.startswith("#"):
            key, colon, value = line.partition(":")
            if not colon or not key.strip():
                raise ImproperlyConfigured(f"{VARIABLE}: {line!r} is not `key: value`")
            found[key.strip()] = value.strip().strip("'\"")
    try:
        restart_strategies.read(found)
        placement.read({}, found)
        placement.spreads_out(found)
        reporters.read(found)
    except options.InvalidOption as error:
        raise ImproperlyConfigured(f"{VARIABLE}: {error}") from error
    return found


def oidc_roles(text: str) -> list[group_roles.Grant]:
    """Roles by the groups of the OpenID provider. Raises ImproperlyConfigured."""
    try:
        return group_roles.read(text)
    except options.InvalidOption as error:
        raise ImproperlyConfigured(f"HEADRACE_OIDC_ROLES: {error}") from error


def heartbeat(values: Mapping[str, str]) -> tuple[float, float]:
    """Seconds between two signs of life of a TaskManager, and without one until it counts as
    lost: Flink's keys and defaults. Raises ImproperlyConfigured."""
    interval = _seconds(values, "heartbeat.interval", 10.0)
    timeout = _seconds(values, "heartbeat.timeout", 50.0)
    if not 0 < interval < timeout:
        raise ImproperlyConfigured(
            f"{VARIABLE}: heartbeat.interval ({interval:g} s) must be positive and shorter than "
            f"heartbeat.timeout ({timeout:g} s)"
        )
    return interval, timeout


def _seconds(values: Mapping[str, str], key: str, default: float) -> float:
    if key not in values:
        return default
    milliseconds = options.duration_ms(values[key])
    if milliseconds is None:
        raise ImproperlyConfigured(f"{VARIABLE}: {key}: {values[key]!r} is no duration like '10 s'")
    return milliseconds / 1000
