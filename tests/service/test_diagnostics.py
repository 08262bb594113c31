"""Thread dumps and flame graphs: asked for by people, answered by those who run the processes."""

from __future__ import annotations

import subprocess
import sys
import time
from collections.abc import Iterator
from datetime import timedelta

import pytest
from django.utils import timezone

from jobs import diagnostics
from jobs.models import Diagnosis
from jobs.states import TaskManagerState
from tests.service.pages import make_attempt, make_job, make_taskmanager
from workers import sampling
from workers.diagnosing import Diagnosing

pytestmark = pytest.mark.django_db(transaction=True)

PROGRAM = """
import threading, time

def waits_for_long():
    time.sleep(1000)

def keeps_busy():
    while True:
        sum(range(1000))

threading.Thread(target=waits_for_long, name="waiter", daemon=True).start()
print("ready", flush=True)
keeps_busy()
"""


@pytest.fixture(scope="module")
def program() -> Iterator[int]:
    """The pid of a Python process with a busy thread and one that waits."""
    process = subprocess.Popen(
        [sys.executable, "-c", PROGRAM], stdout=subprocess.PIPE, start_new_session=True
    )
    assert process.stdout is not None
    assert process.stdout.readline() == b"ready\n"
    yield process.pid
    process.kill()
    process.wait()
    process.stdout.close()


def names(tree: dict[str, object]) -> str:
    return str(tree)


def test_threads_of_another_process(program: int) -> None:
    found = sampling.threads([program])
    text = "\n".join(each["text"] for each in found)
    assert "waits_for_long" in text
    assert "keeps_busy" in text


def test_a_flame_graph_knows_who_works_and_who_waits(program: int) -> None:
    found = sampling.flame_graph([program], 1)
    assert "keeps_busy" in names(found["on_cpu"])
    assert "waits_for_long" not in names(found["on_cpu"])
    assert "waits_for_long" in names(found["off_cpu"])
    assert {"keeps_busy", "waits_for_long"} <= {
        word for word in ("keeps_busy", "waits_for_long") if word in names(found["full"])
    }
    assert found["full"]["value"] == sum(each["value"] for each in found["full"]["children"])


def test_a_process_that_is_gone_is_said() -> None:
    with pytest.raises(sampling.CannotLook, match="py-spy cannot look"):
        sampling.threads([2**22 - 1])


def test_a_taskmanager_answers_with_its_own_threads() -> None:
    row = make_taskmanager()
    asked = diagnostics.of_taskmanager(row, None)
    assert diagnostics.of_taskmanager(row, None) == asked  # under way: not asked twice
    assert diagnostics.is_pending(asked)

    Diagnosing(taskmanager=row).look()
    answered = diagnostics.wait(asked, 10)

    assert any("MainThread" in each["name"] for each in diagnostics.threads(answered))
    assert diagnostics.of_taskmanager(row, None) == answered  # fresh: not asked again
    Diagnosis.objects.update(answered_at=timezone.now() - timedelta(minutes=1))
    assert diagnostics.of_taskmanager(row, None) != answered


def test_one_is_answered_by_one() -> None:
    row = make_taskmanager()
    diagnostics.of_taskmanager(row, None)
    assert diagnostics.take(taskmanager=row, own=True) is not None
    assert diagnostics.take(taskmanager=row, own=True) is None
    assert diagnostics.take(jobmanager="other", own=True) is None


def test_a_driver_that_has_ended_meanwhile_is_said() -> None:
    row = make_taskmanager()
    job = make_job(current_attempt=1)
    attempt = make_attempt(job)
    attempt.taskmanager = row
    attempt.save()
    asked = diagnostics.of_job(job, Diagnosis.Kind.FLAME_GRAPH, None)
    Diagnosing(taskmanager=row).look()
    answered = diagnostics.wait(asked, 10)
    assert diagnostics.error_of(answered) == "the driver has ended meanwhile"
    assert diagnostics.newest_of_job(job, Diagnosis.Kind.FLAME_GRAPH) is None


def test_a_flame_graph_under_way_holds_up_no_thread_dump() -> None:
    row = make_taskmanager()
    attempt = make_attempt(make_job(current_attempt=1))
    attempt.taskmanager = row
    attempt.save()
    flame = diagnostics.of_job(attempt.job, Diagnosis.Kind.FLAME_GRAPH, None)
    threads = diagnostics.of_taskmanager(row, None)
    assert diagnostics.take(taskmanager=row, own=True) == threads
    assert diagnostics.take(taskmanager=row, own=False) == flame


def test_what_does_not_run_is_not_asked() -> None:
    gone = make_taskmanager()
    gone.state = TaskManagerState.LOST
    gone.save()
    with pytest.raises(diagnostics.NotRunning):
        diagnostics.of_taskmanager(gone, None)
    with pytest.raises(diagnostics.NotRunning, match="no driver"):
        diagnostics.of_job(make_job(), Diagnosis.Kind.THREADS, None)


def test_an_answer_is_bounded() -> None:
    deep = ";".join(f"f{n}" for n in range(5000))
    raw = f"{deep} 3\nmain;nul\0l 2\n" + "\n".join(f"main;g{n} 1" for n in range(5000))
    stacks = sampling._stacks(7, raw)
    assert stacks.total() == 5005  # none is lost from the count
    assert len(stacks) == sampling.STACKS + 1
    assert max(map(len, stacks)) == sampling.DEPTH + 2
    assert stacks["process 7", "main", "null"] == 2
    assert sampling._tree(stacks)["value"] == 5005
    text = sampling._bounded("x", "\ud800" + "a" * 50_000)["text"]
    assert len(text) < sampling.CHARACTERS + 10
    assert text[0] == "\ufffd"


def test_few_answers_are_kept() -> None:
    row = make_taskmanager()
    for n in range(diagnostics.KEPT_EACH + 5):
        asked = diagnostics.of_taskmanager(row, None)
        diagnostics.fail(asked, f"no {n} \0")
    assert Diagnosis.objects.count() == diagnostics.KEPT_EACH
    newest = Diagnosis.objects.first()
    assert newest is not None
    assert newest.error == f"no {diagnostics.KEPT_EACH + 4} "


def test_whoever_was_asked_is_removed_meanwhile() -> None:
    asked = diagnostics.of_taskmanager(make_taskmanager(), None)
    Diagnosis.objects.all().delete()
    assert "removed" in diagnostics.error_of(diagnostics.wait(asked, 5))


def test_nobody_answers() -> None:
    asked = diagnostics.of_taskmanager(make_taskmanager(), None)
    began = time.monotonic()
    assert diagnostics.wait(asked, 0.2).answered_at is None
    Diagnosis.objects.update(asked_at=timezone.now() - timedelta(seconds=20))
    asked.refresh_from_db()
    assert diagnostics.wait(asked, 20).answered_at is None  # others have waited long enough
    assert time.monotonic() - began < 5
    Diagnosis.objects.update(asked_at=timezone.now() - timedelta(minutes=2))
    asked.refresh_from_db()
    assert "nobody answered" in diagnostics.error_of(asked)
