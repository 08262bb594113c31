"""The hooks of a two-phase-commit sink: when they are called, and what their answers mean."""

from __future__ import annotations

import pickle
import shutil
from collections.abc import Iterable
from pathlib import Path
from typing import Any

import pytest

from headrace.connectors.twophase import errors, hooks, writer
from headrace.connectors.twophase.committer import Committer
from headrace.connectors.twophase.hooks import HookParticipant
from headrace.connectors.twophase.manifest import ManifestStore
from headrace.connectors.twophase.messages import Prepared, Resume, TaskIdentity, Written
from headrace.connectors.twophase.names import TransactionName, parse
from headrace.connectors.twophase.ownership import Identity
from headrace.connectors.twophase.participant import Message
from headrace.connectors.twophase.sink import (
    InvokeContext,
    TransactionContext,
    TwoPhaseCommitSink,
)

ROOT = "job-store"


class Store(TwoPhaseCommitSink[str, dict[str, Any]]):
    """A system in a folder: a file per transaction, `*.open`, `*.prepared` or `*.visible`."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.called: list[str] = []
        #: What `commit` raises, one after the other.
        self.troubles: list[Exception] = []

    def begin_transaction(self, context: TransactionContext) -> dict[str, Any]:
        self._path(context.name, "open").touch()
        return {"name": context.name}

    def invoke(self, transaction: dict[str, Any], value: str, context: InvokeContext) -> None:
        if value == "bad":
            raise ValueError("a bad value")
        with self._path(transaction["name"], "open").open("a") as file:
            file.write(f"{value}@{context.timestamp()}\n")

    def pre_commit(self, transaction: dict[str, Any]) -> None:
        name = transaction["name"]
        self._path(name, "open").rename(self._path(name, "prepared"))

    def commit(self, transaction: dict[str, Any]) -> None:
        self.called.append("commit")
        if self.troubles:
            raise self.troubles.pop(0)
        name = transaction["name"]
        if not self._path(name, "visible").exists():
            self._path(name, "prepared").rename(self._path(name, "visible"))

    def recover_and_commit(self, transaction: dict[str, Any]) -> None:
        self.called.append("recover_and_commit")
        self.commit(transaction)

    def abort(self, transaction: dict[str, Any]) -> None:
        for state in ("open", "prepared"):
            self._path(transaction["name"], state).unlink(missing_ok=True)

    def recover_and_abort(self, transaction: dict[str, Any]) -> None:
        self.called.append("recover_and_abort")
        self.abort(transaction)

    def list_transactions(self, root: str) -> Iterable[tuple[str, dict[str, Any]]]:
        names = [p.stem for p in self.folder.iterdir() if p.suffix in (".open", ".prepared")]
        return [(name, {"name": name}) for name in names]

    def visible(self) -> list[str]:
        return sorted(
            line.partition("@")[0]
            for path in self.folder.glob("*.visible")
            for line in path.read_text().splitlines()
        )

    def hidden(self) -> list[str]:
        return sorted(p.name for p in self.folder.iterdir() if p.suffix != ".visible")

    def _path(self, name: str, state: str) -> Path:
        return self.folder / f"{name}.{state}"


@pytest.fixture
def store(tmp_path: Path) -> Store:
    (tmp_path / "store").mkdir()
    return Store(tmp_path / "store")


def committer(store: Store, tmp_path: Path, resume: Resume | None = None) -> Committer:
    return Committer([HookParticipant(store, "store", ROOT)], tmp_path / "checkpoint", resume)


def written(store: Store, resume: Resume, batch: int, retry: int = 0) -> list[Message | None]:
    """Two partitions with a value each, and one without."""
    messages = []
    for partition in range(3):
        task = TaskIdentity(batch, partition, attempt=partition + 10 * retry, retry=retry)
        opened = writer.open_writer(store, "store", ROOT, task, resume)
        opened.write([(7, f"{batch}-{partition}")] if partition < 2 else [])
        messages.append(opened.prepare())
    return messages


def test_names_are_parsed() -> None:
    name = TransactionName("job-1.2-out", 3, 4, 5, 6, "0123abcd")
    assert str(name) == "job-1.2-out-3.4.5.6.0123abcd"
    assert parse("job-1.2-out", str(name)) == name
    assert parse("job-1.2", str(name)) is None
    assert parse("job", "something-else") is None


def test_a_batch_is_visible_when_it_is_committed(store: Store, tmp_path: Path) -> None:
    driver = committer(store, tmp_path)
    resume = driver.recover().resume
    messages = written(store, resume, 0)
    assert [type(each) for each in messages] == [Prepared, Prepared, type(None)]
    assert store.visible() == []

    committer(store, tmp_path, resume).commit(0, pickle.loads(pickle.dumps(messages)))

    assert store.visible() == ["0-0", "0-1"]
    assert store.hidden() == []


def test_a_task_that_fails_aborts(store: Store) -> None:
    opened = writer.open_writer(store, "store", ROOT, TaskIdentity(0, 0), Resume(epoch=1))
    opened.write([(None, "good")])
    with pytest.raises(ValueError, match="a bad value"):
        opened.write([(None, "bad")])
    opened.abort()
    assert store.hidden() == []


def test_each_task_works_on_a_copy(store: Store) -> None:
    opened = writer.open_writer(store, "store", ROOT, TaskIdentity(0, 0), Resume(epoch=1))
    assert opened._sink is not store  # type: ignore[attr-defined]


def test_a_transaction_that_is_no_json_is_refused() -> None:
    with pytest.raises(TypeError, match="sink out: its transaction is no JSON value"):
        writer.as_json("out", {"connection": object()})


def test_what_dead_tasks_left_is_aborted_at_the_next_start(store: Store, tmp_path: Path) -> None:
    first = committer(store, tmp_path)
    written(store, first.recover().resume, 0)

    found = committer(store, tmp_path).recover()

    assert found.counts() == {"recommitted": 0, "aborted": 2, "recomputed": 0}
    assert store.hidden() == []


def test_a_batch_with_a_retried_task_is_swept_at_once(store: Store, tmp_path: Path) -> None:
    resume = committer(store, tmp_path).recover().resume
    driver = committer(store, tmp_path, resume)
    driver.commit(0, written(store, resume, 0))  # the first commit sweeps anyhow
    left = writer.open_writer(store, "store", ROOT, TaskIdentity(1, 0, attempt=99), resume)
    left.write([(None, "left by a dead task")])
    driver.commit(1, written(store, resume, 1))
    assert len(store.hidden()) == 1

    driver.commit(2, written(store, resume, 2, retry=1))

    assert store.hidden() == []
    assert store.visible() == ["0-0", "0-1", "1-0", "1-1", "2-0", "2-1"]


def test_passing_trouble_is_tried_again(
    store: Store, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(hooks, "FIRST_PAUSE_SECONDS", 0.001)
    resume = committer(store, tmp_path).recover().resume
    store.troubles = [OSError("away"), OSError("still away")]
    committer(store, tmp_path, resume).commit(0, written(store, resume, 0))
    assert store.visible() == ["0-0", "0-1"]


def test_trouble_that_stays_keeps_the_batch_on_record(store: Store, tmp_path: Path) -> None:
    resume = committer(store, tmp_path).recover().resume
    store.commit_timeout_seconds = 0.0
    store.troubles = [OSError("away")]
    with pytest.raises(errors.CommitIncomplete, match="OSError: away"):
        committer(store, tmp_path, resume).commit(0, written(store, resume, 0))
    assert not committer(store, tmp_path, resume).is_current()

    found = committer(store, tmp_path).recover()

    assert found.counts() == {"recommitted": 2, "aborted": 0, "recomputed": 0}
    assert store.called[-4:] == ["recover_and_commit", "commit"] * 2
    assert store.visible() == ["0-0", "0-1"]


def test_what_is_certainly_lost_is_written_again(store: Store, tmp_path: Path) -> None:
    resume = committer(store, tmp_path).recover().resume
    messages = written(store, resume, 0)
    store.troubles = [errors.TransactionLost("timed out")]
    with pytest.raises(errors.CommitIncomplete, match="1 of 2 transactions"):
        committer(store, tmp_path, resume).commit(0, messages)
    first = next(each for each in messages if isinstance(each, Prepared))
    store.abort(first.handle)

    store.troubles = [errors.TransactionLost("timed out")]
    again = committer(store, tmp_path).recover()

    assert again.counts() == {"recommitted": 1, "aborted": 0, "recomputed": 1}
    messages = written(store, again.resume, 0)
    assert [type(each) for each in messages] == [Prepared, Written, type(None)]
    committer(store, tmp_path, again.resume).commit(0, messages)
    assert store.visible() == ["0-0", "0-1"]
    batches = ManifestStore(tmp_path / "checkpoint").newest_batch()
    assert [each.number for each in batches] == [0, 1]


def test_nobody_guesses(store: Store, tmp_path: Path) -> None:
    resume = committer(store, tmp_path).recover().resume
    store.troubles = [errors.OutcomeUnknown("the log is gone")]
    with pytest.raises(errors.OutcomeUnknown, match="the log is gone"):
        committer(store, tmp_path, resume).commit(0, written(store, resume, 0))


def test_other_records_in_a_batch_that_is_half_committed(store: Store) -> None:
    names = frozenset({"store"})
    resume = Resume(2, 0, 1, missing={("store", 0): 2}, sinks=names, counted=names)
    opened = writer.open_writer(store, "store", ROOT, TaskIdentity(0, 0), resume)
    opened.write([(None, "only one")])
    with pytest.raises(errors.ChangedRecords, match="2 records then, 1 now"):
        opened.prepare()


def test_two_sinks_of_one_name_are_refused(store: Store, tmp_path: Path) -> None:
    both = [HookParticipant(store, "store", ROOT), HookParticipant(store, "store", ROOT)]
    with pytest.raises(errors.InvalidSettings, match="names of their own"):
        Committer(both, tmp_path)


def test_what_a_failed_query_left_is_aborted_at_once(store: Store, tmp_path: Path) -> None:
    resume = committer(store, tmp_path).recover().resume
    driver = committer(store, tmp_path, resume)
    driver.commit(0, written(store, resume, 0))
    written(store, resume, 1)

    driver.clean_up(completed=0)

    assert store.hidden() == []
    assert store.visible() == ["0-0", "0-1"]


def test_what_is_decided_or_of_another_driver_is_left_alone(store: Store, tmp_path: Path) -> None:
    resume = committer(store, tmp_path).recover().resume
    store.commit_timeout_seconds = 0.0
    store.troubles = [OSError("away")]
    with pytest.raises(errors.CommitIncomplete):
        committer(store, tmp_path, resume).commit(0, written(store, resume, 0))
    committer(store, tmp_path, resume).clean_up()
    assert len(store.hidden()) == 2

    newer = committer(store, tmp_path).recover().resume
    written(store, newer, 1)
    committer(store, tmp_path, resume).clean_up(completed=0)
    assert len(store.hidden()) == 2


def test_a_failure_while_cleaning_up_hides_nothing(store: Store, tmp_path: Path) -> None:
    resume = committer(store, tmp_path).recover().resume

    class Unruly(HookParticipant):
        def hold(self, job: Identity, *, starting: bool) -> None:
            raise LookupError("not a SinkError")

        def release(self, job: Identity) -> None:
            raise LookupError("nor this")

    driver = Committer([Unruly(store, "store", ROOT)], tmp_path / "checkpoint", resume)
    driver.clean_up()
    driver.release()


def test_a_job_that_has_ended_does_not_fail_for_a_system_that_is_away(
    store: Store, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    resume = committer(store, tmp_path).recover().resume
    committer(store, tmp_path, resume).commit(0, written(store, resume, 0))
    monkeypatch.setattr(hooks, "CHECK_SECONDS", 0.0)

    def away(_root: str) -> None:
        raise OSError("away")

    monkeypatch.setattr(store, "check", away)
    committer(store, tmp_path, resume).finish()

    # But what was decided is not silently left invisible.
    store.commit_timeout_seconds = 0.0
    store.troubles = [OSError("away")]
    with pytest.raises(errors.CommitIncomplete):
        committer(store, tmp_path, resume).commit(1, written(store, resume, 1))
    with pytest.raises(errors.Unreachable):
        committer(store, tmp_path, resume).finish()
    monkeypatch.undo()
    committer(store, tmp_path, resume).finish()
    assert store.visible() == ["0-0", "0-1", "1-0", "1-1"]


def test_what_was_left_under_a_former_prefix_is_aborted(store: Store, tmp_path: Path) -> None:
    written(store, committer(store, tmp_path).recover().resume, 0)
    assert len(store.hidden()) == 2
    place = tmp_path / "checkpoint"

    # A copy of the checkpoint is another job: what it names is not its own.
    shutil.copytree(place, tmp_path / "copy")
    Committer([HookParticipant(store, "store", "copy-store")], tmp_path / "copy").recover()
    assert len(store.hidden()) == 2

    found = Committer([HookParticipant(store, "store", "renamed-store")], place).recover()

    assert found.aborted == 2
    assert store.hidden() == []


def test_a_sink_that_is_gone_is_told_once(
    store: Store, tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    committer(store, tmp_path).recover()
    for _ in range(2):
        other = HookParticipant(store, "other", "job-other")
        Committer([other], tmp_path / "checkpoint").recover()
    told = [each for each in caplog.records if "no exactly-once sink store" in each.getMessage()]
    assert len(told) == 1
