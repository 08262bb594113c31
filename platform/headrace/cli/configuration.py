"""Which server, and as whom: by option, else by environment, else by a file."""

from __future__ import annotations

import os
import stat
import sys
import tomllib
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from urllib.parse import urlsplit

from headrace.cli.exits import Exit, Failure

DEFAULT_URL = "http://127.0.0.1:8081"
URL, TOKEN, FILE = "HEADRACE_URL", "HEADRACE_TOKEN", "HEADRACE_CONFIG"


@dataclass(frozen=True, slots=True)
class Server:
    url: str
    #: "" when none is known; the server then refuses.
    token: str


def server(
    url: str | None, token_file: str | None, environment: Mapping[str, str] = os.environ
) -> Server:
    """Raises Failure. A token is no option's value: other people see those in process lists."""
    kept = _file(environment)
    found = url or environment.get(URL) or kept.get("url") or DEFAULT_URL
    token = (
        _read_token(token_file) if token_file else environment.get(TOKEN) or kept.get("token") or ""
    )
    return Server(_checked(found), token.strip())


def _checked(url: str) -> str:
    """Flink's `-m` has no scheme: `host:port` is taken as well."""
    full = (url if "://" in url else f"http://{url}").rstrip("/")
    parts = urlsplit(full)
    if parts.scheme not in ("http", "https") or not parts.netloc or parts.username:
        raise Failure(
            f"{url!r} is no address of a server, like {DEFAULT_URL} or host:8081", Exit.USAGE
        )
    return full


def _read_token(name: str) -> str:
    if name == "-":
        return sys.stdin.readline()
    try:
        return Path(name).read_text()
    except (OSError, UnicodeDecodeError) as error:
        raise Failure(f"the token cannot be read: {error}", Exit.USAGE) from error


def path(environment: Mapping[str, str]) -> Path:
    if named := environment.get(FILE):
        return Path(named)
    folder = environment.get("XDG_CONFIG_HOME") or Path.home() / ".config"
    return Path(folder) / "headrace" / "config.toml"


def _file(environment: Mapping[str, str]) -> Mapping[str, str]:
    """`url` and `token`. A file with a token that others may read is refused, not used."""
    file = path(environment)
    try:
        with file.open("rb") as opened:
            mode = stat.S_IMODE(os.fstat(opened.fileno()).st_mode)
            values = tomllib.load(opened)
    except FileNotFoundError:
        return {}
    except (OSError, tomllib.TOMLDecodeError) as error:
        raise Failure(f"{file} cannot be used: {error}", Exit.USAGE) from error
    unknown = [name for name, value in values.items() if name not in ("url", "token")]
    if unknown or any(not isinstance(value, str) for value in values.values()):
        raise Failure(f"{file}: it may have `url` and `token`, both texts", Exit.USAGE)
    if "token" in values and mode & 0o077:
        raise Failure(
            f"{file} has a token and others may read it; chmod 600 {file}, and take another "
            "token if somebody may have seen this one",
            Exit.USAGE,
        )
    return values
