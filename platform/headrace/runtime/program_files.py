"""Files that belong to a program: modules, jars, data."""

from __future__ import annotations

import importlib.metadata
import logging
import os
import re
import sys
from collections.abc import Iterable
from pathlib import Path
from urllib.parse import unquote, urlparse

log = logging.getLogger(__name__)


class ProgramFiles:
    """Collected while the program builds its graph."""

    def __init__(self) -> None:
        self.jars: list[str] = []
        #: name -> absolute path
        self.cached: dict[str, str] = {}
        self._python: list[Path] = []

    def add_python_file(self, file_path: str) -> None:
        """Raises FileNotFoundError."""
        self._python.append(_existing(file_path))

    def register(self, file_path: str, name: str) -> None:
        """Raises FileNotFoundError."""
        self.cached[name] = str(_existing(file_path))

    def add_jars(self, urls: Iterable[str]) -> None:
        """Raises FileNotFoundError."""
        for url in (each for given in urls for each in given.split(";") if each):
            if Path(urlparse(url).path).name.startswith("flink-"):
                log.info("%s is left out: Flink's connectors have their likes here", url)
            else:
                self.jars.append(str(_existing(url)))

    def require(self, requirements: str) -> None:
        """Raises ModuleNotFoundError with what is not installed."""
        missing = [name for name in _required(_existing(requirements)) if not _installed(name)]
        if missing:
            raise ModuleNotFoundError(
                f"{', '.join(missing)} of {requirements}: not installed here. Workers run with "
                f"the driver's Python; install them: {sys.executable} -m pip install -r "
                f"{requirements}"
            )

    def put_on_path(self) -> None:
        """Of this process and of the workers it starts."""
        folders = [str(path if _is_root(path) else path.parent) for path in self._python]
        for folder in folders:
            if folder not in sys.path:
                sys.path.append(folder)
        known = os.environ.get("PYTHONPATH", "").split(os.pathsep)
        wanted = [*filter(None, known), *(f for f in folders if f not in known)]
        if folders:
            os.environ["PYTHONPATH"] = os.pathsep.join(wanted)


def is_this_python(executable: str) -> bool:
    found = Path(executable)
    return (found.name in ("python", "python3") and not found.is_absolute()) or (
        found.exists() and found.resolve() == Path(sys.executable).resolve()
    )


def _existing(file: str) -> Path:
    path = Path(unquote(urlparse(file).path) if file.startswith("file:") else file).absolute()
    if not path.exists():
        raise FileNotFoundError(f"{file} does not exist")
    return path


def _is_root(path: Path) -> bool:
    """Whether modules are imported from within it: a zip, or a folder that is no package."""
    if path.is_dir():
        return not (path / "__init__.py").exists()
    return path.suffix in (".zip", ".egg", ".whl")


def _required(file: Path) -> list[str]:
    lines = (line.partition("#")[0].strip() for line in file.read_text().splitlines())
    found = (re.match(r"[A-Za-z0-9][\w.-]*", line) for line in lines)
    return [match[0] for match in found if match]


def _installed(name: str) -> bool:
    try:
        importlib.metadata.version(name)
    except importlib.metadata.PackageNotFoundError:
        return False
    return True
