"""What the environment says becomes settings, whatever characters a path has."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

from config import home
from tests.isolation import ROOT

SHOW = """
import json
from django.conf import settings
from django.db import connection
connection.ensure_connection()
print(json.dumps([settings.DATABASES["default"]["NAME"], settings.HEADRACE_SPARK_JARS]))
"""


def settings_under(environment: dict[str, str]) -> tuple[str, list[str] | None]:
    """Name of the database, which was opened, and Spark's jars."""
    done = subprocess.run(
        [sys.executable, "-c", SHOW],
        env={
            **os.environ,
            "DJANGO_SETTINGS_MODULE": "config.settings",
            "PYTHONPATH": f"{ROOT}:{ROOT / 'platform'}",
            **environment,
        },
        capture_output=True,
        text=True,
        check=True,
    )
    name, jars = json.loads(done.stdout)
    return name, jars


def test_a_home_with_characters_of_a_url_holds_the_database(tmp_path: Path) -> None:
    folder = tmp_path / "a#b +c%20d?e=f"
    name, jars = settings_under({"HEADRACE_HOME": str(folder), "DATABASE_URL": ""})

    assert name == str(folder / "db.sqlite3")
    assert (folder / "db.sqlite3").is_file()
    assert folder.stat().st_mode & 0o777 == 0o700
    assert jars is None


@pytest.mark.parametrize(
    ("value", "jars"),
    [("", []), ("/a,b.jar", ["/a,b.jar"]), ("/a.jar:/b.jar", ["/a.jar", "/b.jar"])],
)
def test_jars_are_joined_as_in_path(tmp_path: Path, value: str, jars: list[str]) -> None:
    _, found = settings_under({"HEADRACE_HOME": str(tmp_path), "HEADRACE_SPARK_JARS": value})
    assert found == jars


def test_a_folder_of_ours_is_for_its_owner_only_and_one_of_the_users_stays(tmp_path: Path) -> None:
    made, was_ours, users = (tmp_path / name for name in ("deep/made", "was_ours", "users"))
    for folder in (was_ours, users):
        folder.mkdir()
        folder.chmod(0o755)

    home.create(made, ours=False)
    home.create(was_ours, ours=True)
    home.create(users, ours=False)

    modes = [folder.stat().st_mode & 0o777 for folder in (made, was_ours, users)]
    assert modes == [0o700, 0o700, 0o755]
