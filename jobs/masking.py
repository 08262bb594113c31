"""Settings of a job as they may be shown."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping

MASK = "••••••"

_SECRET_KEY = re.compile(
    r"pass(word|wd|phrase)|secret|token|jaas|credential|(access|api|private).?key", re.IGNORECASE
)


#: Speaks of secrets and only names them.
_NAMES = "headrace.secrets"


def speaks_of_secret(key: str) -> bool:
    """Whether the value of a setting of this name is to be hidden."""
    return key != _NAMES and _SECRET_KEY.search(key) is not None


def masked(configuration: Mapping[str, str]) -> dict[str, str]:
    """The settings with the values of those hidden whose keys speak of a secret."""
    return {key: MASK if speaks_of_secret(key) else value for key, value in configuration.items()}


#: In a log: what stands behind such a name and `=` or `:`, in quotes or up to a space or comma.
_SECRET_IN_TEXT = re.compile(
    rb"""(?ix) ["']?[\w.\-]* (?:pass(?:word|wd|phrase)|secret|token|credential
        |(?:access|api|private)[._\-]?key) [\w.\-]* ["']? \s* [=:] \s*
        (?: (?:bearer|basic) \s+ )? ( "[^"\n]*" | '[^'\n]*' | [^\s,;}\])]+ )"""
)


def in_text(text: bytes) -> bytes:
    """As long as it was, with the values of secrets starred out."""
    return _SECRET_IN_TEXT.sub(_starred, text)


def _starred(found: re.Match[bytes]) -> bytes:
    return found[0][: -len(found[1])] + b"*" * len(found[1])


#: Shorter pieces of a secret are found in too many words.
_SHORTEST = 4


def without(text: str, secrets: Iterable[str]) -> str:
    """The text with each of the secrets masked, and each line of one that has several."""
    pieces = {piece for secret in secrets for piece in (secret, *secret.splitlines())}
    for piece in sorted(pieces, key=len, reverse=True):
        if len(piece.strip()) >= _SHORTEST:
            text = text.replace(piece, MASK)
    return text
