"""The Python files that jobs are made of: checked, stored by content, found again."""

from __future__ import annotations

import contextlib
import hashlib
import os
import traceback
from dataclasses import dataclass
from pathlib import Path

from django.conf import settings

from headrace.wire import rundir

EXAMPLES = Path(__file__).parent / "examples"
MAX_BYTES = 5 * 1024 * 1024


class UnusableFile(ValueError):
    """The job file cannot be run; nothing was stored. `args[0]` is the Python error."""


@dataclass(frozen=True, slots=True)
class Artifact:
    """A stored file: `<artifacts>/<sha256>/<name>`; equal content is there once, whatever names it
    has."""

    path: Path
    name: str
    sha256: str


def store(content: bytes, name: str) -> Artifact:
    """Check that `content` is a Python program and store it; the same content is stored once."""
    name = _checked_name(name)
    _check_syntax(content, name)
    digest = hashlib.sha256(content).hexdigest()
    path = settings.HEADRACE_ARTIFACTS / digest / name
    if not path.exists() and not _linked(path):
        rundir.write_atomically(path, content)
    return Artifact(path, name, digest)


def _linked(path: Path) -> bool:
    """A further name for content that is there under another; False when it cannot have one."""
    for same in path.parent.glob("*.py"):
        with contextlib.suppress(OSError):  # a file system without links, or two at once
            os.link(same, path)
        return path.exists()
    return False


def examples() -> dict[str, Path]:
    """The jobs that come with Headrace, by the name to submit them under: the modules that can
    be run, not those they share."""
    return {
        path.stem: path
        for path in sorted(EXAMPLES.glob("*.py"))
        if '\nif __name__ == "__main__":' in path.read_text()
    }


def _checked_name(name: str) -> str:
    name = Path(name.replace("\\", "/")).name
    if not name.endswith(".py") or name.startswith(".") or len(name) > 200 or "\x00" in name:
        raise UnusableFile(f"{name!r} is no name of a Python file: it has to end in .py")
    return name


def _check_syntax(content: bytes, name: str) -> None:
    """Compiled, never run: the program runs in the driver only."""
    if len(content) > MAX_BYTES:
        raise UnusableFile(f"{name} has {len(content)} bytes; at most {MAX_BYTES} are taken")
    try:
        compile(content, name, "exec", dont_inherit=True)
    except (SyntaxError, ValueError) as error:
        # ValueError: null bytes; SyntaxError: the rest, an unknown encoding included.
        lines = traceback.format_exception_only(type(error), error)
        raise UnusableFile("".join(lines).strip()) from error
    except (RecursionError, MemoryError, OverflowError) as error:
        raise UnusableFile(f"{name} cannot be compiled: {error!r}") from error
