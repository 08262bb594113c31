"""Plain queries: which driver goes on when two of one query meet."""

from __future__ import annotations

import shutil
from collections.abc import Callable
from pathlib import Path

import pytest

from headrace.common import Encoder
from headrace.connectors.twophase import commitlog, errors, query
from headrace.connectors.twophase.committer import Committer
from headrace.connectors.twophase.hooks import HookParticipant
from headrace.connectors.twophase.messages import Resume
from headrace.connectors.twophase.ownership import OwnerStore
from headrace.datastream.connectors.file_system import FileSink

#: Begins the next batch as a process of the Spark application with that name.
Begin = Callable[[str], Resume]


@pytest.fixture
def checkpoint(tmp_path: Path) -> Path:
    (tmp_path / "checkpoint" / commitlog.DIRECTORY).mkdir(parents=True)
    return tmp_path / "checkpoint"


@pytest.fixture
def begin(checkpoint: Path, monkeypatch: pytest.MonkeyPatch) -> Begin:
    base = checkpoint.parent / "out"
    sink = FileSink.for_row_format(str(base), Encoder.simple_string_encoder()).build()

    def committer_of(resume: Resume | None) -> Committer:
        return Committer([HookParticipant(sink, "files", "job-files")], checkpoint, resume)

    def begin(application: str) -> Resume:
        monkeypatch.setenv("SPARK_LOCAL_DIRS", application)
        return query.resume(checkpoint, committer_of)

    return begin


def complete(checkpoint: Path, batch: int) -> None:
    (checkpoint / commitlog.DIRECTORY / str(batch)).touch()


def another_takes_over(checkpoint: Path, monkeypatch: pytest.MonkeyPatch) -> int:
    monkeypatch.setenv("SPARK_LOCAL_DIRS", "another")
    return OwnerStore(checkpoint).claim()


def test_a_driver_that_wakes_up_does_not_take_its_query_back(
    begin: Begin, checkpoint: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    begin("first")
    newest = another_takes_over(checkpoint, monkeypatch)
    complete(checkpoint, 0)

    with pytest.raises(errors.SecondDriver, match="another Spark application runs the query"):
        begin("first")
    assert OwnerStore(checkpoint).newest() == newest

    assert begin("first").epoch > newest  # started again, on purpose


@pytest.mark.parametrize("batches", [0, 3])
def test_a_query_comes_back_to_an_application_that_had_it(
    begin: Begin, checkpoint: Path, monkeypatch: pytest.MonkeyPatch, batches: int
) -> None:
    """Its own batch has failed, since another one took the query over and perhaps went on."""
    begin("first")
    newest = another_takes_over(checkpoint, monkeypatch)
    for batch in range(batches):
        complete(checkpoint, batch)
    assert begin("first").epoch > newest


def test_another_process_of_the_application_may_have_recovered(
    begin: Begin, checkpoint: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    begin("first")
    monkeypatch.setenv("SPARK_LOCAL_DIRS", "first")
    newest = OwnerStore(checkpoint).claim()
    complete(checkpoint, 0)
    assert begin("first").epoch > newest


def test_a_checkpoint_that_was_deleted_and_made_anew_is_another_query(
    begin: Begin, checkpoint: Path
) -> None:
    begin("first")
    shutil.rmtree(checkpoint)
    (checkpoint / commitlog.DIRECTORY).mkdir(parents=True)
    assert begin("first").epoch == 1


def test_a_batch_that_is_older_than_what_the_driver_before_completed(checkpoint: Path) -> None:
    query.check_planned(0, checkpoint)
    complete(checkpoint, 4)
    query.check_planned(4, checkpoint)  # recovery knows what became of it
    with pytest.raises(errors.SecondDriver, match=r"batch 4 was completed .* began with batch 3"):
        query.check_planned(3, checkpoint)
