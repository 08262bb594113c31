"""What a savepoint's directory says, and when it is refused."""

from __future__ import annotations

import json
import shutil
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import pytest

from headrace.wire import savepoint
from headrace.wire.savepoint import BadSavepoint, Manifest, SavedFile


def made(directory: Path) -> Manifest:
    """One with two files."""
    source = directory.parent / "source"
    files = []
    for name, content in (("spark/offsets/7", b"v1"), ("headrace/control.json", b"{}")):
        source.write_bytes(content)
        path = f"{savepoint.CONTENT}/{name}"
        files.append(SavedFile(path, *savepoint.copy_hashed(source, directory / path)))
    manifest = Manifest(
        savepoint_id="5" * 32,
        job_id="a" * 32,
        job_name="words",
        artifact_sha256="0" * 64,
        entry_name="words.py",
        batch=7,
        checkpoint_id=8,
        parallelism=2,
        max_parallelism=128,
        operators={"count": 1},
        files=files,
    )
    savepoint.write_manifest(directory, manifest)
    return manifest


def test_it_reads_the_same_wherever_it_is_moved(tmp_path: Path) -> None:
    manifest = made(tmp_path / "one")
    shutil.move(tmp_path / "one", tmp_path / "two")
    assert savepoint.verify(tmp_path / "two") == manifest
    assert manifest.size == 4


def _cut(directory: Path) -> None:
    (directory / "checkpoint/spark/offsets/7").write_bytes(b"v")


def _exchanged(directory: Path) -> None:
    (directory / "checkpoint/spark/offsets/7").write_bytes(b"v2")


def _missing(directory: Path) -> None:
    (directory / "checkpoint/headrace/control.json").unlink()


def _forged(directory: Path) -> None:
    path = directory / savepoint.MANIFEST
    path.write_text(path.read_text().replace('"batch": 7', '"batch": 8'))


def _torn(directory: Path) -> None:
    path = directory / savepoint.MANIFEST
    path.write_bytes(path.read_bytes()[:100])


def _later(directory: Path) -> None:
    path = directory / savepoint.MANIFEST
    path.write_text(path.read_text().replace('"format": 1', '"format": 99'))


def _foreign(directory: Path) -> None:
    (directory / savepoint.MANIFEST).write_text(json.dumps({"version": 4}))


def _outside(directory: Path) -> None:
    manifest = savepoint.read(directory)
    files = [replace(manifest.files[0], path=f"{savepoint.CONTENT}/../../source")]
    savepoint.write_manifest(directory, replace(manifest, files=files))


@pytest.mark.parametrize(
    ("harm", "why"),
    [
        (_cut, "checkpoint/spark/offsets/7 has 1 bytes and should have 2"),
        (_exchanged, "checkpoint/spark/offsets/7 has another content"),
        (_missing, "checkpoint/headrace/control.json is missing"),
        (_forged, "savepoint.json was changed after it was written"),
        (_torn, "is damaged: savepoint.json"),
        (_later, "has format 99, and this Headrace reads format 1"),
        (_foreign, "is no manifest of a savepoint"),
        (_outside, "which is outside of it"),
        (shutil.rmtree, "there is no savepoint at"),
    ],
)
def test_what_is_damaged_or_foreign_is_refused_with_the_reason(
    tmp_path: Path, harm: Callable[[Path], None], why: str
) -> None:
    made(tmp_path / "it")
    harm(tmp_path / "it")
    with pytest.raises(BadSavepoint, match=why):
        savepoint.verify(tmp_path / "it")


@pytest.mark.parametrize(
    "text", ["/data/it", "file:/data/it", "file:///data/it/", "/data/it/_metadata"]
)
def test_it_is_named_as_in_flink(text: str) -> None:
    assert savepoint.locate(text) == Path("/data/it")


@pytest.mark.parametrize("text", ["s3://bucket/it", "data/it", "file://elsewhere/it", ""])
def test_other_addresses_are_refused(text: str) -> None:
    with pytest.raises(BadSavepoint):
        savepoint.locate(text)


def test_only_the_savepoint_itself_is_disposed_of(tmp_path: Path) -> None:
    it = tmp_path / "it"
    manifest = made(it)
    with pytest.raises(BadSavepoint, match="another savepoint"):
        savepoint.dispose(it, "6" * 32)
    with pytest.raises(BadSavepoint, match="is no savepoint; it is left alone"):
        savepoint.dispose(tmp_path, manifest.savepoint_id)
    assert savepoint.verify(it) == manifest
    assert savepoint.dispose(it, manifest.savepoint_id)
    assert not it.exists()
    assert not savepoint.dispose(it, manifest.savepoint_id)


def test_a_removal_that_was_cut_short_is_finished(tmp_path: Path) -> None:
    it = tmp_path / "it"
    manifest = made(it)
    (it / savepoint.MANIFEST).unlink()
    (it / f".{manifest.savepoint_id}").touch()
    assert savepoint.dispose(it, manifest.savepoint_id)
    assert not it.exists()


def test_what_lies_beside_it_is_left(tmp_path: Path) -> None:
    it = tmp_path / "it"
    manifest = made(it)
    (it / "notes").mkdir()
    (it / "notes/precious").write_text("mine")
    assert savepoint.dispose(it, manifest.savepoint_id)
    assert [path.relative_to(it).as_posix() for path in it.rglob("*")] == [
        "notes",
        "notes/precious",
    ]
    assert str(it) in savepoint.left_beside(it)
    assert not savepoint.left_beside(tmp_path / "gone")
