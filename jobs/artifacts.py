"""The files that jobs are made of: checked, stored by content, found again."""

from __future__ import annotations

import contextlib
import hashlib
import io
import os
import shutil
import tempfile
import threading
import traceback
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import IO

from django.conf import settings

from headrace.wire import packages
from jobs import masking

EXAMPLES = Path(__file__).parent / "examples"
#: Of a program that is text, and of one that is an archive.
MAX_BYTES = 5 * 1024 * 1024
MAX_PACKAGE_BYTES = 100 * 1024 * 1024
#: Of a file's name: file systems take 255, and it stands in names of other files.
MAX_NAME = 200
#: A Python file, a SQL script, and what Python can import: a zip, a wheel.
SUFFIXES = (".py", ".sql", *packages.SUFFIXES)
KINDS = f"a Python file (.py), an archive ({' or '.join(packages.SUFFIXES)}) or a script (.sql)"
#: The setting that says what of an archive is run.
ENTRY_CLASS = packages.ENTRY_CLASS
_CHUNK = 1024 * 1024


class UnusableFile(ValueError):
    """The job file cannot be run; nothing was stored. `args[0]` says why, as Python does for a
    program that does not compile."""


@dataclass(frozen=True, slots=True)
class Artifact:
    """A stored file: `<artifacts>/<sha256>/<name>`; equal content is there once, whatever names it
    has."""

    path: Path
    name: str
    sha256: str

    @property
    def is_package(self) -> bool:
        return packages.is_package(self.name)


def store(content: bytes | IO[bytes], name: str) -> Artifact:
    """Check that `content` is a program and store it; the same content is stored once. An archive
    is read in pieces. Raises UnusableFile."""
    name = checked_name(name)
    file = io.BytesIO(content) if isinstance(content, bytes) else content
    _check_size(file, name)
    _check(file, name)
    sha256 = digest(file)
    path = settings.HEADRACE_ARTIFACTS / sha256 / name
    if not path.exists() and not _linked(path):
        _write(file, path)
    return Artifact(path, name, sha256)


def digest(file: IO[bytes]) -> str:
    """By which its content is found."""
    file.seek(0)
    return hashlib.file_digest(file, "sha256").hexdigest()  # type: ignore[arg-type]


def size(file: IO[bytes]) -> int:
    """Bytes of an open file."""
    return file.seek(0, os.SEEK_END)


def remove(sha256: str, is_used: Callable[[], bool]) -> None:
    """The stored content with all its names, unless it is used. It is put aside before that is
    asked: what is stored meanwhile is not what is removed."""
    folder: Path = settings.HEADRACE_ARTIFACTS / sha256
    aside = folder.with_name(f".{sha256}.{os.getpid()}.{threading.get_ident()}")
    if not sha256 or is_used():
        return
    try:
        folder.rename(aside)
    except OSError:  # gone already, or not on this machine
        return
    if is_used():
        folder.mkdir(exist_ok=True)
        for file in aside.iterdir():
            file.replace(folder / file.name)
    shutil.rmtree(aside, ignore_errors=True)


def checked_name(name: str) -> str:
    """Without its folders. Raises UnusableFile for a file that is none of KINDS."""
    name = Path(name.replace("\\", "/")).name
    fits = name.endswith(SUFFIXES) and not name.startswith(".") and name.isprintable()
    if not fits or len(name.encode()) > MAX_NAME:
        raise UnusableFile(f"{name!r} is no name of a program: it has to end as {KINDS} does")
    return name


def entry_class(artifact: Artifact, wanted: str = "") -> str:
    """What of an archive is run; "" for a file that is run as it is, and for an archive that only
    TaskManagers reach. Raises UnusableFile."""
    if not artifact.is_package:
        return ""
    try:
        return packages.choose(artifact.path, wanted)
    except packages.BadPackage as error:
        raise UnusableFile(f"{artifact.name}: {error}") from error
    except OSError:
        return ""


def lines(path: str | Path) -> list[str]:
    """A stored program as a person reads it: its text, or what is in an archive. Raises OSError."""
    if packages.is_package(str(path)):
        return [f"{line}\n" for line in packages.listing(path)]
    text = Path(path).read_text(encoding="utf-8", errors="replace")
    return (masking.in_sql(text) if str(path).endswith(".sql") else text).splitlines(True)


def examples() -> dict[str, Path]:
    """The jobs that come with Headrace, by the name to submit them under: the modules that can
    be run, not those they share."""
    return {
        path.stem: path
        for path in sorted(EXAMPLES.glob("*.py"))
        if '\nif __name__ == "__main__":' in path.read_text()
    }


def _linked(path: Path) -> bool:
    """A further name for content that is there under another; False when it cannot have one."""
    for same in path.parent.glob("[!.]*"):
        with contextlib.suppress(OSError):  # a file system without links, or two at once
            os.link(same, path)
        return path.exists()
    return False


def _write(file: IO[bytes], path: Path) -> None:
    """Readers see all of it or nothing; only the owner may read it."""
    path.parent.mkdir(parents=True, exist_ok=True)
    file.seek(0)
    fd, temporary = tempfile.mkstemp(dir=path.parent, prefix=f".{path.name[:100]}.")
    try:
        with os.fdopen(fd, "wb") as target:
            while piece := file.read(_CHUNK):
                target.write(piece)
            target.flush()
            os.fsync(target.fileno())
        Path(temporary).replace(path)
    except BaseException:
        Path(temporary).unlink(missing_ok=True)
        raise


def _check_size(file: IO[bytes], name: str) -> None:
    length = size(file)
    most = MAX_PACKAGE_BYTES if packages.is_package(name) else MAX_BYTES
    if length > most:
        raise UnusableFile(f"{name} has {length} bytes; at most {most} are taken")


def _check(file: IO[bytes], name: str) -> None:
    if packages.is_package(name):
        try:
            packages.check(file)
        except packages.BadPackage as error:
            raise UnusableFile(f"{name}: {error}") from error
        return
    file.seek(0)
    content = file.read()
    if name.endswith(".py"):
        _check_syntax(content, name)
    else:
        _check_text(content, name)


def _check_text(content: bytes, name: str) -> None:
    try:
        if not content.decode().strip():
            raise UnusableFile(f"{name} is empty")
    except UnicodeDecodeError as error:
        raise UnusableFile(f"{name} is no text in UTF-8: {error}") from error


def _check_syntax(content: bytes, name: str) -> None:
    """Compiled, never run: the program runs in the driver only."""
    try:
        compile(content, name, "exec", dont_inherit=True)
    except (SyntaxError, ValueError) as error:
        # ValueError: null bytes; SyntaxError: the rest, an unknown encoding included.
        lines = traceback.format_exception_only(type(error), error)
        raise UnusableFile("".join(lines).strip()) from error
    except (RecursionError, MemoryError, OverflowError) as error:
        raise UnusableFile(f"{name} cannot be compiled: {error!r}") from error
