"""A folder has one identity for all that see it, and another folder another."""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

from workers import storage


def test_all_that_see_a_folder_agree_from_the_first_moment(tmp_path: Path) -> None:
    with ThreadPoolExecutor(8) as pool:
        found = set(pool.map(storage.identity, [tmp_path] * 32))

    assert found == {storage.identity(tmp_path)}
    assert [path.name for path in tmp_path.iterdir()] == [storage.NAME]


def test_another_folder_is_another_storage(tmp_path: Path) -> None:
    names = ["one", "two"]
    for name in names:
        (tmp_path / name).mkdir()

    assert len({storage.identity(tmp_path / name) for name in names}) == 2
