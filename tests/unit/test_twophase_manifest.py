"""Manifests and owners: created once, found again, pruned."""

from __future__ import annotations

import json
import threading
from pathlib import Path

import pytest

from headrace.connectors.twophase import commitlog, errors, files, manifest
from headrace.connectors.twophase.manifest import Manifest, ManifestStore
from headrace.connectors.twophase.messages import Prepared
from headrace.connectors.twophase.ownership import KEPT_OWNERS, OwnerStore

HANDLE = {"transactional_id": "job-out-1.0123abcd-0", "producer_id": 4000, "producer_epoch": 3}
PREPARED = Prepared("out", 2, 10, HANDLE, attempt=5)


@pytest.fixture
def store(tmp_path: Path) -> ManifestStore:
    return ManifestStore(tmp_path)


def of(batch_id: int, number: int = 0) -> Manifest:
    return Manifest(batch_id, number, 1, [PREPARED], ["out"], {"out": "id"}, 17, {"note": [1]})


def test_what_was_created_is_read(store: ManifestStore) -> None:
    store.create(of(3))
    assert store.read(3, 0) == of(3)
    assert store.read(3, 1) is None
    assert store.newest_batch() == [of(3)]


def test_the_second_to_create_loses(store: ManifestStore) -> None:
    results: list[str] = []

    def create() -> None:
        try:
            store.create(of(3))
            results.append("won")
        except FileExistsError:
            results.append("lost")

    threads = [threading.Thread(target=create) for _ in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert sorted(results) == ["lost"] * 7 + ["won"]
    assert [path.name for path in store.directory.iterdir()] == [f"{3:020d}-0.json"]


def test_the_newest_batch_has_all_its_manifests(store: ManifestStore) -> None:
    for each in (of(9), of(10), of(10, 1), of(10, 2)):
        store.create(each)
    assert store.newest_batch() == [of(10), of(10, 1), of(10, 2)]
    assert store.newest_name() == (10, 2)


def test_before_the_first_batch(store: ManifestStore) -> None:
    assert store.newest_batch() == []
    assert store.newest_name() is None
    store.prune()


def test_old_ones_are_pruned(store: ManifestStore) -> None:
    for batch in range(manifest.KEPT_BATCHES + 5):
        store.create(of(batch))
        store.mark_done(of(batch))
    store.prune()
    assert store.read(4, 0) is None
    assert not store.is_done(of(4))
    assert store.read(5, 0) == of(5)
    assert store.is_done(of(5))


def test_a_damaged_manifest_stops_the_job(store: ManifestStore) -> None:
    store.create(of(3))
    path = next(store.directory.iterdir())
    path.write_text(path.read_text()[:40])
    with pytest.raises(ValueError, match="is damaged"):
        store.newest_batch()


def test_a_manifest_of_the_first_format_is_read(store: ManifestStore) -> None:
    store.create(of(3))
    path = next(store.directory.iterdir())
    values = json.loads(path.read_text())
    [prepared] = values["prepared"]
    del prepared["retry"]
    prepared.update(prepared.pop("handle"))
    values.update(format=1, marker_topics=values.pop("ledgers"))
    path.write_text(json.dumps(values))
    assert store.read(3, 0) == of(3)


def test_a_checkpoint_keeps_its_name(tmp_path: Path) -> None:
    name = OwnerStore(tmp_path).job()
    assert len(name) == 8
    assert OwnerStore(tmp_path).job() == name
    assert OwnerStore(tmp_path / "other").job() != name


def test_owners_take_over_one_after_the_other(tmp_path: Path) -> None:
    owners = OwnerStore(tmp_path)
    assert (owners.newest(), owners.newest_recovered()) == (0, 0)
    assert owners.claim() == 1
    owners.check(1)
    owners.mark_recovered(1)
    assert owners.claim() == 2
    with pytest.raises(errors.SecondDriver, match="epoch 1 here, epoch 2 took over"):
        owners.check(1)
    assert owners.newest_recovered() == 1
    assert owners.claim(above=40) == 41


def test_old_owners_are_forgotten(tmp_path: Path) -> None:
    owners = OwnerStore(tmp_path)
    for _ in range(KEPT_OWNERS + 10):
        owners.mark_recovered(owners.claim())
    assert len(list(owners.directory.iterdir())) == 2 * KEPT_OWNERS
    assert owners.newest_recovered() == KEPT_OWNERS + 10


def test_sparks_commit_log(tmp_path: Path) -> None:
    assert commitlog.newest(tmp_path) is None
    log = tmp_path / "commits"
    log.mkdir()
    assert commitlog.newest(tmp_path) is None
    for name in ("9", "10", ".10.crc", ".11.abc.tmp"):
        (log / name).touch()
    assert commitlog.newest(tmp_path) == 10


def test_new_directories_are_durable_in_their_parents(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    synced: list[Path] = []
    monkeypatch.setattr(files, "sync_directory", synced.append)
    files.create_exclusively(tmp_path / "a" / "b" / "first", b"1")
    assert synced == [tmp_path, tmp_path / "a", tmp_path / "a" / "b"]
    files.create_exclusively(tmp_path / "a" / "b" / "second", b"2")
    assert synced[3:] == [tmp_path / "a" / "b"]
