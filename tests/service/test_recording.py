"""The journal becomes rows, each event once, whoever reads it and however often."""

from __future__ import annotations

from pathlib import Path

import pytest

from headrace.wire import events, journal
from jobs import actions, attempts, recording, taskmanagers
from jobs.models import Attempt, Checkpoint, Event, Job, TaskManager
from jobs.restart_strategies import ExponentialDelay, FixedDelay
from jobs.states import AttemptState, JobState, change_state
from tests.service.conftest import driver_of
from workers.supervisor import Supervisor

pytestmark = pytest.mark.django_db


@pytest.fixture
def attempt() -> Attempt:
    job = actions.submit("job", (b"pass\n", "job.py"))
    row = taskmanagers.register("tm", "here", 1, 1, 1024)
    change_state(job, JobState.CREATED)
    attempt = attempts.begin(job, row.pk, [row.slot_set.get().pk])
    attempts.deploy(attempt)
    Path(attempt.run_dir).mkdir(parents=True)
    return attempt


def write(attempt: Attempt, *told: events.Event) -> None:
    writer = journal.JournalWriter(Path(attempt.run_dir))
    for event in told:
        writer.append(event, durable=False)
    writer.close()


def unread(attempt: Attempt) -> list[journal.Entry]:
    return list(journal.read(Path(attempt.run_dir), attempt.journal_position))


def checkpoint(number: int, **values: object) -> events.CheckpointCompleted:
    return events.CheckpointCompleted(number, 1_000_000 + number, 20, **values)  # type: ignore[arg-type]


def test_running_makes_the_job_run(attempt: Attempt) -> None:
    write(
        attempt,
        events.Started(7, "local[1]", {"pyspark": "4"}),
        events.Planned({"nodes": [{"id": "1"}]}, checkpoint_interval=500),
        events.Running(41, "app-1", {"aborted": 2}),
    )

    assert recording.record(attempt, unread(attempt))

    job = Job.objects.get()
    assert (job.state, job.checkpoint_interval) == ("RUNNING", 500)
    assert job.plan == {"nodes": [{"id": "1"}]}
    assert (attempt.state, attempt.restored_checkpoint) == ("RUNNING", 41)
    assert attempt.journal_number == 3
    assert unread(attempt) == []


def test_a_program_says_how_it_is_restarted(attempt: Attempt) -> None:
    kind, attempts_key = "restart-strategy.type", "restart-strategy.fixed-delay.attempts"
    write(attempt, events.Planned({}, restart_strategy={kind: "fixed-delay", attempts_key: "3"}))
    recording.record(attempt, unread(attempt))
    assert Job.objects.get().strategy == FixedDelay(3, 1000)

    # A driver that asked nobody, and a program that says what cannot be used, change nothing.
    write(attempt, events.Planned({}), events.Planned({}, restart_strategy={kind: "hope"}))
    recording.record(attempt, unread(attempt))
    assert Job.objects.get().strategy == FixedDelay(3, 1000)
    assert Event.objects.filter(message__contains="'hope' is not known").exists()

    write(attempt, events.Planned({}, restart_strategy={}))
    recording.record(attempt, unread(attempt))
    assert Job.objects.get().strategy == ExponentialDelay()


def test_a_failure_has_a_cause(attempt: Attempt) -> None:
    write(attempt, events.Failed("another driver", restartable=True, cause="fenced"))
    recording.record(attempt, unread(attempt))
    attempts.end(attempt, 1)

    assert (attempt.cause, attempt.restartable) == ("fenced", True)
    assert Event.objects.get(kind=Event.Kind.FAILURE).detail["cause"] == "fenced"


def test_running_does_not_call_off_a_cancel(attempt: Attempt) -> None:
    change_state(Job.objects.get(), JobState.CANCELLING)
    write(attempt, events.Running())

    recording.record(attempt, unread(attempt))

    assert Job.objects.get().state == "CANCELLING"


def test_of_two_readers_one_records(attempt: Attempt) -> None:
    write(attempt, events.Started(7, "local[1]"), *map(checkpoint, range(1, 4)))
    other = Attempt.objects.get(pk=attempt.pk)
    entries = unread(attempt)

    assert recording.record(attempt, entries)
    assert not recording.record(other, entries)

    assert Checkpoint.objects.count() == 3
    assert Event.objects.filter(message__startswith="driver started").count() == 1


def test_who_asks_for_what_another_recorded_and_forgot_goes_on_from_there(
    attempt: Attempt, monkeypatch: pytest.MonkeyPatch
) -> None:
    assert attempt.taskmanager is not None
    monkeypatch.setattr(journal, "KEPT", 5_000)
    monkeypatch.setattr(journal, "STEP", 100)
    write(attempt, *(checkpoint(number) for number in range(1, 100)))
    late = Attempt.objects.get(pk=attempt.pk)
    own, driver = Supervisor(attempt.taskmanager), driver_of(attempt)
    assert own._record(attempt, driver)
    if (Path(attempt.run_dir) / "journal.jsonl").read_bytes()[:1] != b"\0":
        pytest.skip("no holes in files here")
    write(attempt, checkpoint(100))

    assert not own._record(late, driver)
    assert own._record(late, driver)

    assert (Checkpoint.objects.count(), late.journal_number) == (100, 100)
    late.refresh_from_db()
    assert not late.abandoned


def test_nothing_is_recorded_when_a_row_cannot_be_written(attempt: Attempt) -> None:
    write(attempt, checkpoint(1), events.Stopped("nonsense"))

    with pytest.raises(ValueError, match="nonsense"):
        recording.record(attempt, unread(attempt))

    attempt.refresh_from_db()
    assert attempt.journal_number == 0
    assert not Checkpoint.objects.exists()


def test_a_batch_that_ran_again_replaces_its_row(attempt: Attempt) -> None:
    write(attempt, checkpoint(1, records_in=5), checkpoint(2), checkpoint(1, records_in=9))

    recording.record(attempt, unread(attempt))
    write(attempt, checkpoint(2, records_in=3))
    recording.record(attempt, unread(attempt))

    rows = Checkpoint.objects.order_by("checkpoint_id").values_list("checkpoint_id", "records_in")
    assert list(rows) == [(1, 9), (2, 3)]


def test_lag_is_known_while_nothing_comes_in(attempt: Attempt) -> None:
    write(
        attempt,
        checkpoint(1, lag={"flights": {"0": 5}}),
        events.Progressed({"flights": {"0": 0}}),
    )

    recording.record(attempt, unread(attempt))

    job = Job.objects.get()
    assert job.lag == {"flights": {"0": 0}}
    assert job.progressed_at is not None


def test_old_checkpoints_are_pruned(attempt: Attempt, settings: object) -> None:
    settings.HEADRACE_CHECKPOINT_ROWS = 50  # type: ignore[attr-defined]
    write(attempt, *map(checkpoint, range(1, 501)))

    recording.record(attempt, unread(attempt))

    ids = Checkpoint.objects.values_list("checkpoint_id", flat=True)
    assert len(ids) <= 50
    assert set(ids) >= set(range(496, 501))


def test_the_first_word_about_the_end_counts(attempt: Attempt) -> None:
    write(attempt, events.Failed("ValueError: x", "Traceback"), events.Stopped("finished"))

    recording.record(attempt, unread(attempt))
    attempts.end(attempt, 1, "last lines")

    attempt.refresh_from_db()
    assert (attempt.state, attempt.error) == ("FAILED", "ValueError: x")
    failure = Event.objects.get(kind=Event.Kind.FAILURE)
    assert failure.detail["traceback"] == "Traceback"
    assert failure.detail["log"] == "last lines"


def test_what_was_given_up_stays_as_it_was_told(attempt: Attempt) -> None:
    """Its machine is back: its driver has ended meanwhile, as another had taken over."""
    stale = Attempt.objects.get(pk=attempt.pk)
    taskmanagers.lose(TaskManager.objects.get())
    assert attempts.abandon(Attempt.objects.get(pk=attempt.pk), AttemptState.FAILED)
    before = Attempt.objects.values("state", "cause", "error", "outcome").get()
    assert before["cause"] == "lost"

    write(stale, events.Failed("SecondDriver: another has taken over", cause="fenced"))
    assert recording.record(stale, unread(stale))

    assert Attempt.objects.values("state", "cause", "error", "outcome").get() == before
    assert Event.objects.filter(message__endswith="said SecondDriver: another has taken over")


def test_an_end_is_written_down_once(attempt: Attempt) -> None:
    other = Attempt.objects.get(pk=attempt.pk)

    assert attempts.end(attempt, -9)
    assert not attempts.end(other, -9)

    assert Event.objects.filter(kind=Event.Kind.FAILURE).count() == 1


def test_a_refused_command_is_told(attempt: Attempt) -> None:
    write(attempt, events.CommandDone("suspend-1", error="not now"))

    recording.record(attempt, unread(attempt))

    assert Event.objects.filter(message="driver refused suspend: not now").exists()


def test_history_does_not_grow_for_ever(attempt: Attempt) -> None:
    job = Job.objects.get()
    Event.objects.bulk_create(
        Event(job=job, kind=Event.Kind.FAILURE, message=f"failure {n}") for n in range(30)
    )

    attempts.prune_events(job.pk, keep=10)

    kept = job.events.values_list("message", flat=True)
    assert list(kept) == [f"failure {n}" for n in range(29, 19, -1)]
