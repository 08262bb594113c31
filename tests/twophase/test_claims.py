"""Two jobs that would use the same staging or the same rows: one of them runs."""

from __future__ import annotations

import logging
import shutil
import threading
import uuid
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from headrace.common import Encoder
from headrace.connectors.files.buckets import BucketAssigner
from headrace.connectors.files.formats import RowFormat
from headrace.connectors.files.sink import FilesSink
from headrace.connectors.postgres.sink import PostgresSink
from headrace.connectors.twophase import claims, errors
from headrace.connectors.twophase.committer import Committer
from headrace.connectors.twophase.hooks import HookParticipant
from headrace.connectors.twophase.messages import TaskIdentity
from headrace.connectors.twophase.participant import Message
from headrace.connectors.twophase.sink import TwoPhaseCommitSink
from headrace.connectors.twophase.writer import open_writer
from tests.twophase.postgresql import OWNER, Server

Sink = TwoPhaseCommitSink[Any, Any]


@pytest.fixture
def root() -> str:
    return f"job-{uuid.uuid4().hex[:8]}-out"


@pytest.fixture(params=["files", "postgres"])
def sink(request: pytest.FixtureRequest, tmp_path: Path) -> Sink:
    if request.param == "files":
        form = RowFormat(Encoder.simple_string_encoder())
        where = str(tmp_path / "output")
        return FilesSink(where, form, BucketAssigner.base_path_bucket_assigner())
    postgres: Server = request.getfixturevalue("postgres")
    table = f"out_{uuid.uuid4().hex[:8]}"
    postgres.execute(f"CREATE TABLE {table} (value text)")
    return PostgresSink(postgres.settings, f"INSERT INTO {table} VALUES (?)")


@pytest.fixture
def job(sink: Sink, root: str, tmp_path: Path) -> Callable[[str], Committer]:
    """The driver of a job with its checkpoint in a folder of this name."""
    return lambda folder: Committer([HookParticipant(sink, "out", root)], tmp_path / folder)


def prepared(job: Committer, sink: Sink, root: str) -> Message | None:
    writer = open_writer(sink, "out", root, TaskIdentity(0, 0), job.resume)
    writer.write([(None, "one")])
    return writer.prepare()


@contextmanager
def kept_alive(job: Committer) -> Iterator[None]:
    ended = threading.Event()

    def renew() -> None:
        while not ended.wait(0.2):
            job.hold()

    thread = threading.Thread(target=renew)
    thread.start()
    try:
        yield
    finally:
        ended.set()
        thread.join()


def never(seconds: float) -> None:
    raise AssertionError("it waits")


@pytest.mark.parametrize("is_copy", [True, False])
def test_a_second_job_is_refused_and_the_first_goes_on(
    job: Callable[[str], Committer], sink: Sink, root: str, tmp_path: Path, is_copy: bool
) -> None:
    first = job("first")
    first.recover()
    message = prepared(first, sink, root)
    if is_copy:
        shutil.copytree(tmp_path / "first", tmp_path / "second")
    with kept_alive(first), pytest.raises(errors.PrefixInUse, match=f"{root}.*/first"):
        job("second").recover()
    first.commit(0, [message])
    assert list(sink.list_transactions(root)) == []


def test_the_same_job_starts_again_at_once(
    job: Callable[[str], Committer], monkeypatch: pytest.MonkeyPatch
) -> None:
    job("first").recover()
    monkeypatch.setattr(claims, "sleep", never)
    job("first").recover()
    job("first").hold()


def test_a_job_that_no_longer_runs_is_followed_by_another(
    job: Callable[[str], Committer], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(claims, "SHORTEST_LEASE_SECONDS", 1.0)
    first, second = job("first"), job("second")
    first.recover()
    second.recover()
    with pytest.raises(errors.PrefixInUse, match="/second"):
        first.hold()
    second.hold()


def test_a_job_that_has_ended_is_followed_without_delay(
    job: Callable[[str], Committer], monkeypatch: pytest.MonkeyPatch
) -> None:
    first = job("first")
    first.recover()
    first.release()
    monkeypatch.setattr(claims, "POLL_SECONDS", 1000.0)
    job("second").recover()


def test_who_may_not_claim_goes_on_and_it_is_said(
    postgres: Server, root: str, tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    schema = f"of_{uuid.uuid4().hex[:8]}"
    with postgres.connect(OWNER) as owner:
        owner.execute(f"CREATE SCHEMA {schema}".encode())
        owner.execute(f"GRANT USAGE ON SCHEMA {schema} TO writer".encode())
        for table in (
            "headrace_commits (gid text PRIMARY KEY, root text, batch_id bigint)",
            "out (value text)",
        ):
            owner.execute(f"CREATE TABLE {schema}.{table}".encode())
        owner.execute(f"GRANT ALL ON ALL TABLES IN SCHEMA {schema} TO writer".encode())
    settings = replace(postgres.settings, options={"options": f"-c search_path={schema}"})
    sink = PostgresSink(settings, "INSERT INTO out VALUES (?)")
    only = Committer([HookParticipant(sink, "out", root)], tmp_path)
    with caplog.at_level(logging.WARNING):
        only.recover()
    assert "not checked whether another job uses the sink" in caplog.text
    only.commit(0, [prepared(only, sink, root)])
    assert postgres.query(f"SELECT value FROM {schema}.out") == [("one",)]
