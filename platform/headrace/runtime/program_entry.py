"""What of a job's file is run: a Python file, a SQL script, or what an archive says."""

from __future__ import annotations

import importlib
import os
import runpy
import shutil
import sys
from collections.abc import Sequence
from functools import reduce
from pathlib import Path

from headrace.runtime.errors import JobFailed
from headrace.wire import packages
from headrace.wire.failures import Cause

#: Where an archive is unpacked, within the run directory.
FOLDER = "program"
#: Runs the script that `sys.argv[0]` names.
SQL = "headrace.runtime.sql_program"


def run(entry: Path, arguments: Sequence[str], run_dir: Path, entry_class: str = "") -> None:
    """As `python entry arguments...`: its folder first on the path, here and in the workers.

    Raises JobFailed for what cannot be run, else what the program raises."""
    sys.argv = [str(entry), *arguments]
    if packages.is_package(entry.name):
        _run_package(entry, run_dir / FOLDER, entry_class)
    elif entry.suffix == ".sql":
        runpy.run_module(SQL, run_name="__main__")
    else:
        _first_on_path(entry.parent)
        runpy.run_path(str(entry), run_name="__main__")


def remove(run_dir: Path) -> None:
    """What was unpacked, when nothing of the program runs any more."""
    shutil.rmtree(run_dir / FOLDER, ignore_errors=True)


def is_own(file: str, entry: Path, run_dir: Path) -> bool:
    """Whether a frame of a traceback is the program's."""
    return file == str(entry) or Path(file).is_relative_to(run_dir / FOLDER)


def _run_package(entry: Path, folder: Path, entry_class: str) -> None:
    """Unpacked, so that it finds its data files. The archive itself is on the path, too: workers
    on other machines may see no more than that."""
    try:
        chosen = packages.choose(entry, entry_class)
        packages.unpack(entry, folder)
    except packages.BadPackage as error:
        raise JobFailed(f"{entry.name}: {error}", cause=Cause.PROGRAM) from error
    _first_on_path(folder, entry)
    if chosen == packages.MAIN:
        runpy.run_path(str(folder), run_name="__main__")
    elif ":" in chosen:
        module, _, function = chosen.partition(":")
        main = reduce(getattr, function.split("."), importlib.import_module(module))
        code = main()  # type: ignore[operator]
        if isinstance(code, int | str):
            sys.exit(code)
    else:
        runpy.run_module(chosen, run_name="__main__", alter_sys=True)


def _first_on_path(*places: Path) -> None:
    paths = [str(place) for place in places]
    sys.path[:0] = paths
    known = os.environ.get("PYTHONPATH", "")
    os.environ["PYTHONPATH"] = os.pathsep.join([*paths, *filter(None, [known])])
