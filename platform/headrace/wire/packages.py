"""Programs that are archives (.zip, .whl): whether they can be trusted, and what in them is run.

What is run is named as `module`, `package.module` (as `python -m` does) or `module:function` (as
the console script of a wheel). Without a name an archive has to leave no choice.
"""

from __future__ import annotations

import configparser
import stat
import struct
import zipfile
import zlib
from collections.abc import Iterator
from pathlib import Path, PurePosixPath
from typing import IO

#: The setting that says what of an archive is run: Flink's entry class.
ENTRY_CLASS = "headrace.entry-class"
SUFFIXES = (".zip", ".whl")
#: The file of this name at an archive's top is what Python itself runs.
MAIN = "__main__"

MAX_FILES = 10_000
MAX_UNPACKED_BYTES = 256 * 1024 * 1024
MAX_NAME = 240
_METHODS = (zipfile.ZIP_STORED, zipfile.ZIP_DEFLATED)
_ENCRYPTED = 0x1
_CHUNK = 1024 * 1024
_NO_ENTRY = ("setup", "conftest")


class BadPackage(ValueError):
    """The archive cannot be run; `args[0]` says why. Nothing of it was unpacked."""


def is_package(name: str) -> bool:
    return name.endswith(SUFFIXES)


def check(file: str | Path | IO[bytes]) -> None:
    """That it can be unpacked whole, into its folder and nowhere else, within bounds. Raises
    BadPackage."""
    try:
        with zipfile.ZipFile(file) as archive:
            _check_list(archive.infolist())
            for info in archive.infolist():
                _check_content(archive, info)
    except (zipfile.BadZipFile, zlib.error, struct.error, EOFError, NotImplementedError) as error:
        raise BadPackage(f"it is no whole zip archive: {error}") from error
    except (OverflowError, RuntimeError, UnicodeDecodeError, ValueError) as error:
        if isinstance(error, BadPackage):
            raise
        raise BadPackage(f"its zip archive cannot be read: {error}") from error


def entries(file: str | Path | IO[bytes]) -> list[str]:
    """What can be run in an archive that was checked, the likeliest first."""
    with zipfile.ZipFile(file) as archive:
        return list(dict.fromkeys(_entries(archive)))


def choose(file: str | Path | IO[bytes], wanted: str = "") -> str:
    """What is run: `wanted` (a console script's name, or `path/to/file.py`, too), else the only
    one that it can be. Raises BadPackage."""
    with zipfile.ZipFile(file) as archive:
        if wanted:
            return _named(archive, wanted)
        names = _names(archive)
        if f"{MAIN}.py" in names:
            return MAIN
        for found in (list(_scripts(archive).values()), _packages(names), _modules(names)):
            if len(set(found)) == 1:
                return found[0]
        known = ", ".join(dict.fromkeys(_entries(archive))) or "nothing that could be"
        raise BadPackage(
            f"it does not say what to run: give the entry class, or add {MAIN}.py (it has: {known})"
        )


def unpack(file: Path, folder: Path) -> Path:
    """Its content in `folder`, which is made. Raises BadPackage, FileNotFoundError."""
    check(file)
    with zipfile.ZipFile(file) as archive:
        archive.extractall(folder)
    return folder


def listing(file: str | Path) -> list[str]:
    """A line for each file in it, as a person compares two of them: checksum, size, name."""
    with zipfile.ZipFile(file) as archive:
        files = sorted(archive.infolist(), key=lambda info: info.filename)
        return [f"{info.CRC:08x} {info.file_size:>10} {info.filename}" for info in files]


# --- what it may hold --------------------------------------------------------------------------


def _check_list(files: list[zipfile.ZipInfo]) -> None:
    """Before anything is decompressed: nothing decompresses to more than is declared."""
    if len(files) > MAX_FILES:
        raise BadPackage(f"it has {len(files):,} files; at most {MAX_FILES:,} are taken")
    total = sum(info.file_size for info in files)
    if total > MAX_UNPACKED_BYTES:
        raise BadPackage(f"it unpacks to {total:,} bytes; at most {MAX_UNPACKED_BYTES:,} are taken")
    seen: set[str] = set()
    for info in files:
        _check_name(info)
        _check_kind(info)
        if info.filename in seen:
            raise BadPackage(f"it has {info.filename!r} twice")
        seen.add(info.filename)
    _check_folders(seen)


def _check_folders(names: set[str]) -> None:
    """No file is where others need a folder."""
    for name in names:
        for folder in PurePosixPath(name).parents:
            if str(folder) in names:
                raise BadPackage(f"it has {str(folder)!r} both as a file and as a folder")


def _check_name(info: zipfile.ZipInfo) -> None:
    name = info.orig_filename
    parts = PurePosixPath(name).parts
    outside = name.startswith("/") or ".." in parts or ":" in name or "\\" in name
    if outside or not parts or len(name) > MAX_NAME or not name.isprintable():
        raise BadPackage(f"it has a file named {name[:80]!r}, which could land outside its folder")


def _check_kind(info: zipfile.ZipInfo) -> None:
    mode = stat.S_IFMT(info.external_attr >> 16)
    if mode not in (0, stat.S_IFREG, stat.S_IFDIR):
        kind = "a link" if mode == stat.S_IFLNK else "no ordinary file"
        raise BadPackage(f"{info.filename!r} in it is {kind}; put the file itself there")
    if info.flag_bits & _ENCRYPTED:
        raise BadPackage(f"{info.filename!r} in it is encrypted")
    if info.compress_type not in _METHODS:
        raise BadPackage(f"{info.filename!r} in it is compressed by another method than deflate")


def _check_content(archive: zipfile.ZipFile, info: zipfile.ZipInfo) -> None:
    """Raises what zipfile raises for content that its checksum does not fit."""
    with archive.open(info) as content:
        while content.read(_CHUNK):
            pass


# --- what it offers ----------------------------------------------------------------------------


def _entries(archive: zipfile.ZipFile) -> Iterator[str]:
    names = _names(archive)
    if f"{MAIN}.py" in names:
        yield MAIN
    yield from _scripts(archive).values()
    yield from _packages(names)
    yield from _modules(names)


def _names(archive: zipfile.ZipFile) -> list[str]:
    return [name for name in archive.namelist() if not name.endswith("/")]


def _scripts(archive: zipfile.ZipFile) -> dict[str, str]:
    """A wheel's console scripts: name -> `module:function`."""
    for name in archive.namelist():
        if name.count("/") == 1 and name.endswith(".dist-info/entry_points.txt"):
            parser = configparser.ConfigParser(delimiters=("=",), interpolation=None)
            parser.optionxform = str  # type: ignore[assignment,method-assign]
            try:
                parser.read_string(archive.read(name).decode())
            except (configparser.Error, UnicodeDecodeError):
                return {}
            if parser.has_section("console_scripts"):
                found = parser.items("console_scripts")
                return {key: value.partition("[")[0].replace(" ", "") for key, value in found}
    return {}


def _packages(names: list[str]) -> list[str]:
    """Packages that `python -m` runs, the outer ones first."""
    suffix = f"/{MAIN}.py"
    folders = [name.removesuffix(suffix) for name in names if name.endswith(suffix)]
    found = [folder.replace("/", ".") for folder in folders]
    return sorted(filter(_is_dotted, found), key=lambda name: (name.count("."), name))


def _modules(names: list[str]) -> list[str]:
    """Modules at its top."""
    stems = [name.removesuffix(".py") for name in names if name.endswith(".py")]
    return sorted(stem for stem in stems if stem.isidentifier() and stem not in (MAIN, *_NO_ENTRY))


def _named(archive: zipfile.ZipFile, wanted: str) -> str:
    names, scripts = set(_names(archive)), _scripts(archive)
    if wanted in scripts:
        return scripts[wanted]
    if wanted.endswith(".py"):
        wanted = wanted.removesuffix(".py").replace("/", ".")
    module, colon, function = wanted.partition(":")
    path = module.replace(".", "/")
    if not _is_dotted(module) or (colon and not _is_dotted(function)):
        raise BadPackage(f"the entry class {wanted!r} is neither `module` nor `module:function`")
    there = [f"{path}.py", f"{path}/__init__.py" if colon else f"{path}/{MAIN}.py"]
    if not names.intersection(there):
        known = ", ".join(dict.fromkeys(_entries(archive)))
        raise BadPackage(f"the entry class {wanted!r} was not found in it (it has: {known})")
    return wanted


def _is_dotted(name: str) -> bool:
    return all(part.isidentifier() for part in name.split("."))
