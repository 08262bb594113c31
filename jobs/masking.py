"""Settings of a job as they may be shown."""

from __future__ import annotations

import re
from collections.abc import Mapping

MASK = "••••••"

_SECRET_KEY = re.compile(
    r"pass(word|wd|phrase)|secret|token|jaas|credential|(access|api|private).?key", re.IGNORECASE
)


def speaks_of_secret(key: str) -> bool:
    """Whether the value of a setting of this name is to be hidden."""
    return _SECRET_KEY.search(key) is not None


def masked(configuration: Mapping[str, str]) -> dict[str, str]:
    """The settings with the values of those hidden whose keys speak of a secret."""
    return {key: MASK if speaks_of_secret(key) else value for key, value in configuration.items()}
