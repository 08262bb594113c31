"""Flink's own dashboard, fetched for the tests and never part of the repository."""

from __future__ import annotations

import hashlib
import os
import urllib.request
from pathlib import Path

from tests import isolation

VERSION = "2.3.0"
SHA256 = "c5476003a9357e6ce876a19d1daa7e37b573ad9fada6448fe665de8bad7162e8"
_PATH = f"org/apache/flink/flink-runtime-web/{VERSION}/flink-runtime-web-{VERSION}.jar"
_CENTRAL = "https://repo1.maven.org/maven2"


def jar() -> Path:
    """The jar as its makers published it, where the other jars are kept. Raises OSError, and
    ValueError for a file of another content."""
    path = isolation.JARS / Path(_PATH).name
    if not path.exists():
        central = os.environ.get("HEADRACE_MAVEN_URL", _CENTRAL).rstrip("/")
        with urllib.request.urlopen(f"{central}/{_PATH}", timeout=60) as answer:
            content = answer.read()
        _check(content)
        path.parent.mkdir(parents=True, exist_ok=True)
        temporary = path.with_name(f".{path.name}.{os.getpid()}")
        temporary.write_bytes(content)
        temporary.replace(path)
    _check(path.read_bytes())
    return path


def _check(content: bytes) -> None:
    found = hashlib.sha256(content).hexdigest()
    if found != SHA256:
        raise ValueError(f"{Path(_PATH).name} has the hash {found}, not {SHA256}")
