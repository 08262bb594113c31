"""Archives with a program: what of them is run, and which of them are refused."""

from __future__ import annotations

import io
import os
import stat
import sys
import zipfile
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from headrace.runtime import program_entry
from headrace.runtime.errors import JobFailed
from headrace.wire import packages
from headrace.wire.packages import BadPackage

SCRIPTS = "demo-1.0.dist-info/entry_points.txt"


def zipped(files: dict[str, str], mode: dict[str, int] | None = None) -> io.BytesIO:
    content = io.BytesIO()
    with zipfile.ZipFile(content, "w", zipfile.ZIP_DEFLATED) as archive:
        for name, text in files.items():
            info = zipfile.ZipInfo(name)
            info.compress_type = zipfile.ZIP_DEFLATED
            info.external_attr = (mode or {}).get(name, stat.S_IFREG | 0o644) << 16
            archive.writestr(info, text)
    return content


@pytest.mark.parametrize(
    ("files", "chosen"),
    [
        ({"__main__.py": "", "other.py": ""}, "__main__"),
        ({"app/__main__.py": "", "app/__init__.py": "", "lib/x.py": ""}, "app"),
        ({"only.py": "", "lib/x.py": "", "setup.py": ""}, "only"),
        ({"demo/a.py": "", SCRIPTS: "[console_scripts]\nrun = demo.a:main [extra]"}, "demo.a:main"),
    ],
)
def test_what_is_run_without_a_name(files: dict[str, str], chosen: str) -> None:
    assert packages.choose(zipped(files)) == chosen
    assert packages.entries(zipped(files))[0] == chosen


@pytest.mark.parametrize(
    ("wanted", "chosen"),
    [
        ("demo.a", "demo.a"),
        ("demo/a.py", "demo.a"),
        ("demo.a:main", "demo.a:main"),
        ("demo:main", "demo:main"),
        ("run", "demo.a:main"),
    ],
)
def test_what_is_run_by_its_name(wanted: str, chosen: str) -> None:
    files = {"demo/a.py": "", "demo/__init__.py": "", SCRIPTS: "[console_scripts]\nrun=demo.a:main"}
    assert packages.choose(zipped(files), wanted) == chosen


@pytest.mark.parametrize(
    ("files", "wanted", "why"),
    [
        ({"a.py": "", "b.py": ""}, "", "does not say what to run.*it has: a, b"),
        ({"data.txt": ""}, "", "nothing that could be"),
        ({"a.py": ""}, "Nope", "'Nope' was not found in it.*a"),
        ({"a.py": ""}, "a b", "neither `module`"),
        ({"a.py": ""}, "../a", "neither `module`"),
        ({"a.py": "", SCRIPTS: "no section"}, "demo", "not found"),
    ],
)
def test_what_cannot_be_chosen(files: dict[str, str], wanted: str, why: str) -> None:
    with pytest.raises(BadPackage, match=why):
        packages.choose(zipped(files), wanted)


@pytest.mark.parametrize(
    "name", ["../up.py", "/etc/passwd", "a/../../b", "c:\\x", "a\\b.py", "new\nline", "x" * 300]
)
def test_a_file_that_could_land_outside_is_refused(name: str) -> None:
    with pytest.raises(BadPackage, match="outside its folder"):
        packages.check(zipped({name: ""}))


def test_links_and_devices_are_refused() -> None:
    for mode, why in ((stat.S_IFLNK, "a link"), (stat.S_IFIFO, "no ordinary file")):
        with pytest.raises(BadPackage, match=why):
            packages.check(zipped({"x": "/etc/passwd"}, {"x": mode | 0o777}))


def test_an_archive_that_unpacks_to_too_much_is_refused_unread(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(packages, "MAX_UNPACKED_BYTES", 1000)
    monkeypatch.setattr(packages, "_check_content", lambda *_: pytest.fail("was read"))
    with pytest.raises(BadPackage, match="unpacks to 1,001 bytes"):
        packages.check(zipped({"a": "0" * 1001}))


def test_an_archive_of_too_many_files_is_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(packages, "MAX_FILES", 2)
    with pytest.raises(BadPackage, match="has 3 files"):
        packages.check(zipped({"a": "", "b": "", "c": ""}))


def test_a_size_that_is_a_lie_is_found_out() -> None:
    content = zipped({"a": "0" * 100_000}).getvalue()
    short = content.replace((100_000).to_bytes(4, "little"), (10).to_bytes(4, "little"))
    with pytest.raises(BadPackage, match="no whole zip"):
        packages.check(io.BytesIO(short))


@given(st.binary(max_size=40), st.integers(0, 300))
def test_whatever_comes_is_refused_with_a_reason(noise: bytes, at: int) -> None:
    whole = bytearray(zipped({"a.py": "print(1)", "b/__main__.py": "print(2)"}).getvalue())
    whole[at : at + len(noise)] = noise
    try:
        packages.check(io.BytesIO(bytes(whole)))
        packages.entries(io.BytesIO(bytes(whole)))
    except BadPackage as error:
        assert "it" in str(error)


@pytest.fixture
def process(monkeypatch: pytest.MonkeyPatch) -> None:
    """Paths, arguments and modules are this test's."""
    monkeypatch.setattr(sys, "path", list(sys.path))
    monkeypatch.setattr(sys, "argv", [])
    monkeypatch.setattr(sys, "modules", dict(sys.modules))
    monkeypatch.setenv("PYTHONPATH", "/before")


TELLS = "import sys, pathlib\npathlib.Path(sys.argv[1]).write_text(__name__ + TEXT)\n"


@pytest.mark.parametrize(
    ("files", "entry_class", "told"),
    [
        ({"__main__.py": "from part import TEXT\n" + TELLS, "part.py": "TEXT = '1'"}, "", "1"),
        ({"p/__main__.py": "from p.q import TEXT\n" + TELLS, "p/q.py": "TEXT = '2'"}, "p", "2"),
    ],
)
def test_an_archive_runs_as_a_program(
    process: None, tmp_path: Path, files: dict[str, str], entry_class: str, told: str
) -> None:
    entry = tmp_path / "job.zip"
    entry.write_bytes(zipped(files).getvalue())
    program_entry.run(entry, [str(tmp_path / "said")], tmp_path / "run", entry_class)
    assert (tmp_path / "said").read_text() == "__main__" + told
    path = os.environ["PYTHONPATH"].split(os.pathsep)
    assert path == [str(tmp_path / "run/program"), str(entry), "/before"]
    assert program_entry.is_own(str(tmp_path / "run/program/part.py"), entry, tmp_path / "run")


def test_the_script_of_a_wheel_is_called_and_its_result_is_its_exit(
    process: None, tmp_path: Path
) -> None:
    entry = tmp_path / "demo-1.0-py3-none-any.whl"
    main = (
        "import sys\ndef main():\n    return int(sys.argv[1])\ndef other():\n    return object()\n"
    )
    files = {"demo_of_it.py": main, SCRIPTS: "[console_scripts]\nrun = demo_of_it:main"}
    entry.write_bytes(zipped(files).getvalue())
    with pytest.raises(SystemExit) as end:
        program_entry.run(entry, ["3"], tmp_path / "run")
    assert end.value.code == 3
    program_entry.run(entry, [], tmp_path / "again", "demo_of_it:other")  # as if it were None


def test_an_archive_without_an_entry_fails_the_job_with_the_reason(
    process: None, tmp_path: Path
) -> None:
    entry = tmp_path / "job.zip"
    entry.write_bytes(zipped({"a.py": "", "b.py": ""}).getvalue())
    with pytest.raises(JobFailed, match=r"job\.zip: it does not say what to run"):
        program_entry.run(entry, [], tmp_path / "run")


@pytest.mark.parametrize("files", [("a", "a/b.py"), ("x/y/z.py", "x/y")])
def test_a_file_in_the_place_of_a_folder_is_refused(files: tuple[str, ...]) -> None:
    with pytest.raises(BadPackage, match="both as a file and as a folder"):
        packages.check(zipped(dict.fromkeys(files, "")))
    packages.check(zipped({"a/": "", "a/b.py": ""}))
