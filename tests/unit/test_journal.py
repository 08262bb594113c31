"""What a driver says reaches the control plane as text that any database stores."""

from __future__ import annotations

from pathlib import Path

import pytest

from headrace.wire import events, holes, journal, rundir, text
from workers.supervisor import log_tail


def test_nul_and_lone_surrogates_do_not_get_out_of_the_journal(tmp_path: Path) -> None:
    writer = journal.JournalWriter(tmp_path)
    writer.append(events.Failed("bad \0byte \udcff", "Trace\0back \U0001f600 \\u0000"))
    writer.append(events.Planned({"nodes": [{"id\0": "a\0b", "parallelism": 2}]}))
    writer.close()

    failed, planned = journal.read(tmp_path)

    assert failed.event == events.Failed("bad byte \ufffd", "Traceback \U0001f600 \\u0000")
    assert planned.event == events.Planned({"nodes": [{"id": "ab", "parallelism": 2}]})
    assert planned.position == (tmp_path / "journal.jsonl").stat().st_size


def test_figures_are_packed(tmp_path: Path) -> None:
    table = {f"numRecords{n}": [n, None] for n in range(100)}
    told = events.Measured(job={"numRecordsIn": 4.5}, vertices={"v": table})  # type: ignore[dict-item]
    writer = journal.JournalWriter(tmp_path)
    writer.append(told, durable=False)
    writer.append(events.Stopped("finished"))
    writer.close()
    first, second = journal.read(tmp_path)
    assert (first.event, second.event) == (told, events.Stopped("finished"))
    assert len((tmp_path / rundir.JOURNAL).read_bytes()) < 1_000


def test_what_is_no_number_keeps_no_event_from_being_recorded(tmp_path: Path) -> None:
    writer = journal.JournalWriter(tmp_path)
    writer.append(events.CheckpointCompleted(1, 0, 0, gauges={"a": float("nan"), "b": 1.5}))
    writer.append(events.Measured(job={"x": float("-inf")}))
    writer.close()
    made, told = journal.read(tmp_path)
    assert made.event == events.CheckpointCompleted(1, 0, 0, gauges={"a": None, "b": 1.5})  # type: ignore[dict-item]
    assert told.event == events.Measured(job={"x": None})  # type: ignore[dict-item]


def test_what_is_recorded_is_forgotten_in_time(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(journal, "KEPT", 1 << 16)
    monkeypatch.setattr(journal, "STEP", 1 << 16)
    path, writer, position = tmp_path / rundir.JOURNAL, journal.JournalWriter(tmp_path), 0
    for number in range(1, 2_001):
        writer.append(events.CommandDone(f"{number}", "long " * 200), durable=False)
        if number % 50 == 0:
            before = position
            position = [entry.position for entry in journal.read(tmp_path, position)][-1]
            journal.forget(tmp_path, before, position)
    writer.close()
    assert path.stat().st_size == position > 2_000_000
    if not holes.punch(path, 1):
        pytest.skip("no holes in files here")
    assert path.stat().st_blocks * 512 <= 3 * (1 << 16)
    with pytest.raises(ValueError, match="forgotten"):
        next(journal.read(tmp_path))
    with pytest.raises(ValueError, match="forgotten"):
        next(journal.read(tmp_path, position - 500_000))
    with path.open("ab") as torn:
        torn.write(b'{"n": 2001, "at"')
    writer = journal.JournalWriter(tmp_path)
    writer.append(events.Stopped("finished"))
    writer.close()
    [entry] = journal.read(tmp_path, position)
    assert (entry.number, entry.event) == (2_001, events.Stopped("finished"))


@pytest.mark.parametrize("length", [1, 60_000, 70_000, 5_000_000])
def test_a_torn_line_of_any_length_is_cut(tmp_path: Path, length: int) -> None:
    writer = journal.JournalWriter(tmp_path)
    writer.append(events.CommandDone("one"))
    writer.append(events.CommandDone("long", "x" * length))
    writer.close()
    with (tmp_path / rundir.JOURNAL).open("ab") as torn:
        torn.write(b"y" * length)
    writer = journal.JournalWriter(tmp_path)
    assert writer.append(events.Stopped("finished")) == 3
    writer.close()
    assert [entry.number for entry in journal.read(tmp_path)] == [1, 2, 3]


def test_text_without_such_characters_stays_as_it_is() -> None:
    assert text.storable("line\n\tüñ \U0001f600 �") == "line\n\tüñ \U0001f600 �"


def test_kept_end_of_a_log_has_no_nul(tmp_path: Path) -> None:
    (tmp_path / rundir.LOG).write_bytes(b"\0\0\0first\nsec\0ond \xff\n")

    assert log_tail(tmp_path) == "first\nsecond \ufffd\n"
    assert log_tail(tmp_path / "nowhere") == ""
