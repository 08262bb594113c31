"""Settings of a job as they may be shown."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping

MASK = "••••••"

#: With those of which Flink hides the values (GlobalConfiguration.SENSITIVE_KEYS).
_SECRET_KEY = re.compile(
    r"pass(word|wd|phrase)|(?<![a-z])pwd(?![a-z])|secret|token|jaas|credential|authorization|http-headers"
    r"|basic[.\-_]?auth|auth[.\-_]params|(access|account|api|private|service|encryption).?key",
    re.IGNORECASE,
)
#: Name and password in an address.
_LOGIN = re.compile(r"(?<=://)[^\s/@:]*:[^\s/@]+(?=@)")


#: Speaks of secrets and only names them.
_NAMES = "headrace.secrets"


def speaks_of_secret(key: str) -> bool:
    """Whether the value of a setting of this name is to be hidden."""
    return key != _NAMES and _SECRET_KEY.search(key) is not None


def masked(configuration: Mapping[str, str]) -> dict[str, str]:
    """The settings with the values of those hidden whose keys speak of a secret, and logins in
    addresses."""
    return {
        key: MASK if speaks_of_secret(key) else _LOGIN.sub(MASK, value)
        for key, value in configuration.items()
    }


_OPTION = re.compile(r"(--?[^\s=]+)(=?)(.*)", re.DOTALL)


def in_arguments(arguments: Iterable[str]) -> list[str]:
    """Arguments of a program with the values of those hidden whose names speak of a secret
    (`--password x`, `--password=x`), and logins in addresses."""
    shown, hides = list[str](), False
    for argument in arguments:
        option = _OPTION.fullmatch(argument)
        if option and speaks_of_secret(option[1]):
            shown.append(f"{option[1]}={MASK}" if option[2] else argument)
            hides = not option[2]
            continue
        shown.append(MASK if hides and not option else _LOGIN.sub(MASK, argument))
        hides = False
    return shown


#: In a log: what stands behind such a name and `=` or `:`, in quotes or up to a space or comma. A
#: line of it may have any length: all that comes before the value is bounded, so that no line takes
#: time by the square of its length.
_SECRET_IN_TEXT = re.compile(
    rb"""(?ix) (?:pass(?:word|wd|phrase)|secret|token|credential
        |(?:access|account|api|private)[._\-]?key) [\w.\-]{0,100} ["']? \s{0,20} [=:] \s{0,20}
        (?: (?:bearer|basic) \s{1,20} )? ( "[^"\n]*" | '[^'\n]*' | [^\s,;}\])]+ )"""
)


def in_text(text: bytes) -> bytes:
    """As long as it was, with the values of secrets starred out."""
    return _SECRET_IN_TEXT.sub(_starred, text)


def _starred(found: re.Match[bytes]) -> bytes:
    return found[0][: -len(found[1])] + b"*" * len(found[1])


#: An option of a table, or a setting: 'key' = 'value', with quotes doubled.
_SQL_OPTION = re.compile(r"""'([^'\n]*)'(\s*=\s*)'((?:[^']|'')*)'""")


def in_sql(script: str) -> str:
    """A SQL script without logins in addresses and without the values of options whose keys speak
    of a secret; `${NAME}` only names one."""

    def shown(found: re.Match[str]) -> str:
        key, between, value = found.groups()
        if not speaks_of_secret(key) or re.fullmatch(r"\$\{\w+\}", value):
            return found[0]
        return f"'{key}'{between}'{MASK}'"

    return _LOGIN.sub(MASK, _SQL_OPTION.sub(shown, script))


#: Shorter pieces of a secret are found in too many words.
_SHORTEST = 4


def without(text: str, secrets: Iterable[str]) -> str:
    """The text with each of the secrets masked, and each line of one that has several."""
    pieces = {piece for secret in secrets for piece in (secret, *secret.splitlines())}
    for piece in sorted(pieces, key=len, reverse=True):
        if len(piece.strip()) >= _SHORTEST:
            text = text.replace(piece, MASK)
    return text
