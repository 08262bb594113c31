"""Which files go into a savepoint, and that a job goes on from it elsewhere."""

from __future__ import annotations

import json
import os
import stat
import zipfile
from pathlib import Path

import pytest

from headrace.connectors.twophase.errors import SecondDriver
from headrace.connectors.twophase.manifest import Manifest, ManifestStore
from headrace.connectors.twophase.messages import Prepared
from headrace.connectors.twophase.ownership import OwnerStore
from headrace.runtime import checkpoint_files, savepoints
from headrace.runtime.checkpoint_files import IncompleteCheckpoint
from headrace.runtime.savepoints import Held, Origin
from headrace.wire import rundir, savepoint
from headrace.wire.commands import SavepointOptions
from headrace.wire.savepoint import BadSavepoint, Restore

CONF = json.dumps({"conf": {"spark.sql.shuffle.partitions": "1"}, "batchTimestampMs": 1})


def checkpoint(home: Path, completed: int = 5) -> Path:
    """As Spark leaves it: a batch more is planned and run in part, old files are still there."""
    spark, state = home / "spark", home / "spark/state/0"
    files = {
        spark / "metadata": '{"id":"q"}',
        spark / "sources/0/0": "v1\n{}",
        state / "_stateSchema/default/0_s": "schema",
        state / "_metadata/v2/0": f'v2\n{{"paths":["file:{state}/_stateSchema/default/0_s"]}}',
        state / f"_metadata/v2/{completed + 1}": "v2\n{}",
        state / "0/SSTs/a.sst": "table a",
        state / "0/SSTs/b.sst": "table b",
        state / "0/SSTs/late.sst": "table of a later copy",
        state / "0/.9.changelog.x.tmp": "half",
        home / "headrace/program.json": json.dumps(
            {"parallelism": 1, "max_parallelism": 8, "operators": {"count": 1}, "layout": 2}
        ),
        home / "headrace/control.json": '{"tick": 3, "ended_at": null}',
        home / "headrace/job.json": '{"job": "0badcafe"}',
        home / "headrace/owners/00000001.json": "{}",
        home / "headrace/reports/000000000006.pickle": "report",
    }
    for batch in range(completed + 2):
        files[spark / f"offsets/{batch}"] = f'v1\n{CONF}\n{{"t":{{"0":{batch}}}}}\n-'
        files[state / f"0/{batch + 1}.changelog"] = f"changes {batch + 1}"
    for batch in range(completed + 1):
        files[spark / f"commits/{batch}"] = "v1"
    for path, text in files.items():
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text)
    for version, tables in ((2, "a"), (4, "ab"), (completed + 2, "late")):
        names = [tables] if tables == "late" else list(tables)
        with zipfile.ZipFile(state / f"0/{version}.zip", "w") as packed:
            listed = [{"localFileName": "x", "dfsSstFileName": f"{name}.sst"} for name in names]
            packed.writestr("metadata", "v1\n" + json.dumps({"sstFiles": listed}))
    return home


def taken(home: Path, directory: Path) -> Path:
    entry = home.parent / "words.py"
    entry.write_text("")
    held = Held.hold(Origin("a" * 32, "words", entry, home, {"out": "words-out"}), 5)
    assert held is not None
    try:
        return held.save(SavepointOptions("5" * 32, str(directory), "it", by="alice"))[0]
    finally:
        held.release()


def names(home: Path, batch: int) -> set[str]:
    found = [*checkpoint_files.of_spark(home, batch), *checkpoint_files.of_runtime(home)]
    return {path.relative_to(home).as_posix() for path in found}


def test_a_batch_has_its_newest_copy_and_the_changes_behind_it(tmp_path: Path) -> None:
    home = checkpoint(tmp_path / "checkpoint")
    assert names(home, 5) == {
        "spark/metadata",
        *("spark/offsets/4", "spark/offsets/5", "spark/commits/4", "spark/commits/5"),
        "spark/sources/0/0",
        *("spark/state/0/_metadata/v2/0", "spark/state/0/_stateSchema/default/0_s"),
        *("spark/state/0/0/4.zip", "spark/state/0/0/SSTs/a.sst", "spark/state/0/0/SSTs/b.sst"),
        *("spark/state/0/0/5.changelog", "spark/state/0/0/6.changelog"),
        *("headrace/program.json", "headrace/control.json", "headrace/job.json"),
    }


@pytest.mark.parametrize("gone", ["commits/5", "state/0/0/5.changelog", "metadata"])
def test_a_batch_that_is_not_whole_is_told(tmp_path: Path, gone: str) -> None:
    home = checkpoint(tmp_path / "checkpoint")
    (home / "spark" / gone).unlink()
    with pytest.raises(IncompleteCheckpoint):
        names(home, 5)


def test_changes_from_the_beginning_do_without_a_copy(tmp_path: Path) -> None:
    home = checkpoint(tmp_path / "checkpoint")
    for path in (home / "spark/state/0/0").glob("*.zip"):
        path.unlink()
    changes = {name for name in names(home, 5) if name.endswith(".changelog")}
    assert changes == {f"spark/state/0/0/{n}.changelog" for n in range(1, 7)}


def test_what_is_restored_names_its_new_place(tmp_path: Path) -> None:
    home = checkpoint(tmp_path / "checkpoint")
    path = taken(home, tmp_path / "savepoints")
    manifest = savepoint.verify(path)
    assert (manifest.batch, manifest.checkpoint_id) == (5, 6)
    assert manifest.offsets == [{"t": {"0": 5}}, None]
    assert not [each for each in home.iterdir() if each.name.startswith(".")]

    schema = "spark/state/0/_stateSchema/default/0_s"
    [saved] = path.rglob("_metadata/v2/0")
    assert f"file:{path}/checkpoint/{schema}" in saved.read_text(), "it can be read offline"
    assert f"file:{home}/{schema}" in (home / "spark/state/0/_metadata/v2/0").read_text()

    new = tmp_path / "new" / "checkpoint"
    assert savepoints.restore(Restore(str(path)), new) == manifest
    metadata = (new / "spark/state/0/_metadata/v2/0").read_text()
    assert metadata == f'v2\n{{"paths":["file:{new}/spark/state/0/_stateSchema/default/0_s"]}}'
    assert (OwnerStore(new).job(), OwnerStore(new).suffix()) == ("0badcafe", "")
    assert savepoints.restore(Restore(str(path)), new) is None, "the next attempt goes on"
    assert savepoints.claimed(new) is None


def test_files_are_as_private_as_the_jobs(tmp_path: Path) -> None:
    home = checkpoint(tmp_path / "checkpoint")
    rundir.write_atomically(home / "headrace/source-0.pickle", b"password=hunter2")
    before = os.umask(0o022)
    try:
        path = taken(home, tmp_path / "savepoints")
        savepoints.restore(Restore(str(path)), tmp_path / "new")
    finally:
        os.umask(before)
    secret = "headrace/source-0.pickle"
    for each in (path / savepoint.CONTENT / secret, tmp_path / "new" / secret):
        assert stat.S_IMODE(each.stat().st_mode) == 0o600
    assert stat.S_IMODE(path.stat().st_mode) == 0o700


def test_every_name_in_it_is_durable(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    synced = set()
    fsync = os.fsync

    def noted(fd: int) -> None:
        fsync(fd)
        synced.add(os.fstat(fd).st_ino)

    monkeypatch.setattr(os, "fsync", noted)
    home = checkpoint(tmp_path / "checkpoint")
    path = taken(home, tmp_path / "new" / "savepoints")
    assert not _not_synced(path, synced)
    assert {each.stat().st_ino for each in (tmp_path, *path.parents[:2])} <= synced
    new = tmp_path / "other" / "checkpoint"
    savepoints.restore(Restore(str(path)), new)
    assert not _not_synced(new, synced)
    assert new.parent.stat().st_ino in synced


def _not_synced(directory: Path, synced: set[int]) -> list[Path]:
    return [each for each in (directory, *directory.rglob("*")) if each.stat().st_ino not in synced]


def test_a_copy_beside_the_first_has_names_of_its_own(tmp_path: Path) -> None:
    path = taken(checkpoint(tmp_path / "checkpoint"), tmp_path / "savepoints")
    new = tmp_path / "copy"
    savepoints.restore(Restore(str(path), beside=True, claim_mode="CLAIM"), new)
    job = OwnerStore(new).job()
    assert job != "0badcafe"
    assert OwnerStore(new).suffix() == f"-{job}"
    assert savepoints.claimed(new) == (path, "5" * 32)


def test_nothing_is_left_of_a_restore_that_is_refused(tmp_path: Path) -> None:
    path = taken(checkpoint(tmp_path / "checkpoint"), tmp_path / "savepoints")
    [file] = path.rglob("6.changelog")
    file.write_text("Changes 6")
    with pytest.raises(BadSavepoint, match=r"6\.changelog has another content"):
        savepoints.restore(Restore(str(path)), tmp_path / "jobs" / "new")
    assert not list(tmp_path.glob("jobs/*"))


def test_a_savepoint_is_for_a_first_start(tmp_path: Path) -> None:
    home = checkpoint(tmp_path / "checkpoint")
    path = taken(home, tmp_path / "savepoints")
    with pytest.raises(BadSavepoint, match="has a checkpoint of its own"):
        savepoints.restore(Restore(str(path)), home)


def test_a_copy_that_is_given_up_leaves_nothing(tmp_path: Path) -> None:
    home = checkpoint(tmp_path / "checkpoint")
    (tmp_path / "words.py").write_text("")
    held = Held.hold(Origin("a" * 32, "words", tmp_path / "words.py", home, {}), 5)
    assert held is not None
    wish = SavepointOptions("5" * 32, str(tmp_path / "savepoints"), "it")
    answers = iter(["", "", "the job was canceled before"])
    with pytest.raises(savepoints.SavepointFailed, match="was canceled before"):
        held.save(wish, lambda: next(answers))
    held.release()
    assert not list((tmp_path / "savepoints").iterdir())
    assert not list(home.glob(".*"))


def test_a_batch_that_ends_meanwhile_is_waited_for(tmp_path: Path) -> None:
    home = checkpoint(tmp_path / "checkpoint")
    origin = Origin("a" * 32, "words", tmp_path / "words.py", home, {})
    assert Held.hold(origin, 4) is None
    assert not list(home.glob(".*"))


def test_of_a_copy_that_fails_nothing_is_left(tmp_path: Path) -> None:
    home = checkpoint(tmp_path / "checkpoint")
    (tmp_path / "savepoints").mkdir()
    (tmp_path / "savepoints" / "it").mkdir()
    with pytest.raises(savepoints.SavepointFailed, match="exists already"):
        taken(home, tmp_path / "savepoints")
    assert [each.name for each in (tmp_path / "savepoints").iterdir()] == ["it"]


def test_a_start_in_the_place_of_another_shuts_that_out(tmp_path: Path) -> None:
    path = taken(checkpoint(tmp_path / "checkpoint"), tmp_path / "savepoints")
    other, back = tmp_path / "job-1", tmp_path / "job-1-back"
    wish = Restore(str(path), instead_of=str(other))
    savepoints.restore(Restore(str(path)), other)
    epoch = OwnerStore(other).claim()
    # a batch without output is no output
    ManifestStore(other).create(Manifest(6, 0, epoch, []))
    assert savepoints.restore(wish, back) is not None
    with pytest.raises(SecondDriver):
        OwnerStore(other).check(epoch)


def test_the_way_back_needs_no_savepoint(tmp_path: Path) -> None:
    home = checkpoint(tmp_path / "checkpoint")
    path = taken(home, tmp_path / "savepoints")
    other = tmp_path / "job-1"
    savepoints.restore(Restore(str(path)), other)
    epoch = OwnerStore(other).claim()
    (home / "headrace/owners/00000001.recovered").touch()
    [damaged] = path.rglob("6.changelog")
    damaged.write_text("")
    before = {each: each.read_bytes() for each in home.rglob("*.changelog")}

    assert savepoints.restore(Restore(str(path), instead_of=str(other)), home) is None
    assert {each: each.read_bytes() for each in home.rglob("*.changelog")} == before
    with pytest.raises(SecondDriver):
        OwnerStore(other).check(epoch)
    # epochs of the other one may be smaller, and were not shut out by those here
    assert OwnerStore(home).newest_recovered() == 0

    ManifestStore(other).create(Manifest(6, 0, epoch, [Prepared("out", 0, 3, "id")]))
    with pytest.raises(savepoints.Superseded):
        savepoints.restore(Restore(str(path), instead_of=str(other)), home)
    assert OwnerStore(other).claim() > epoch  # that is the job's place now


def test_what_another_start_has_committed_is_not_written_again(tmp_path: Path) -> None:
    path = taken(checkpoint(tmp_path / "checkpoint"), tmp_path / "savepoints")
    other, back = tmp_path / "job-1", tmp_path / "job-1-back"
    wish = Restore(str(path), instead_of=str(other))
    savepoints.restore(Restore(str(path)), other)
    ManifestStore(other).create(Manifest(6, 0, 1, [Prepared("out", 0, 3, "id")]))
    with pytest.raises(savepoints.Superseded, match="has committed output"):
        savepoints.restore(wish, back)
    assert not back.exists()
    # it goes on where it was
    assert savepoints.restore(Restore(str(path)), other) is None


def test_another_start_that_has_yet_to_be_comes_too_late(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = taken(checkpoint(tmp_path / "checkpoint"), tmp_path / "savepoints")
    other, back = tmp_path / "job-1", tmp_path / "job-1-back"

    def meanwhile(hidden: Path) -> None:
        monkeypatch.undo()
        assert savepoints.restore(Restore(str(path), instead_of=str(other)), back) is not None

    monkeypatch.setattr(savepoints.files, "sync_tree", meanwhile)
    with pytest.raises(OSError, match="not empty"):
        savepoints.restore(Restore(str(path)), other)
    with pytest.raises(SecondDriver, match="another place took over"):
        OwnerStore(other).claim()
    assert OwnerStore(back).claim() == 1
    assert {each.name for each in tmp_path.glob("job-1*")} == {"job-1", "job-1-back"}
    assert not list(tmp_path.glob(".job-1*"))


def test_of_two_that_restore_at_once_one_has_it_whole(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = taken(checkpoint(tmp_path / "checkpoint"), tmp_path / "savepoints")
    new = tmp_path / "job-1"

    def meanwhile(hidden: Path) -> None:
        monkeypatch.undo()
        assert savepoints.restore(Restore(str(path)), new) is not None

    monkeypatch.setattr(savepoints.files, "sync_tree", meanwhile)
    with pytest.raises(OSError, match=r"not empty|No such file"):
        savepoints.restore(Restore(str(path)), new)
    copied = savepoint.read(path).files
    there = {f"checkpoint/{each.relative_to(new)}" for each in new.rglob("*") if each.is_file()}
    assert {each.path for each in copied} <= there
    assert not list(tmp_path.glob(".job-1*"))
