"""A driver's log in pieces, its lines marked by level."""

from __future__ import annotations

from pathlib import Path

import pytest

from dashboard import loglines
from headrace.wire import rundir


@pytest.fixture
def log(tmp_path: Path) -> Path:
    return tmp_path / rundir.LOG


def texts(found: loglines.Lines) -> list[str]:
    return [line.text for line in found.lines]


def test_a_big_log_is_read_from_its_end_in_whole_lines(log: Path) -> None:
    lines = [f"line {n} ümläut" for n in range(20_000)]
    log.write_text("\n".join(lines) + "\n")
    found = loglines.tail(str(log.parent))
    assert texts(found)[-1] == lines[-1]
    assert texts(found) == lines[-len(found.lines) :]
    assert found.size == found.end == log.stat().st_size
    assert found.end - found.start <= loglines.CHUNK


def test_going_back_from_the_tail_meets_every_line_once(log: Path) -> None:
    lines = [f"line {n} ümläut" for n in range(12_000)]
    log.write_text("\n".join(lines) + "\n")
    piece = loglines.tail(str(log.parent))
    read = texts(piece)
    while piece.start:
        piece = loglines.before(str(log.parent), piece.start)
        read = texts(piece) + read
    assert read == lines


def test_what_came_since_and_nothing_else(log: Path) -> None:
    log.write_text("one\n")
    end = loglines.tail(str(log.parent)).end
    with log.open("a") as file:
        file.write("two\nthree\nhal")
    found = loglines.after(str(log.parent), end)
    assert (texts(found), found.start) == (["two", "three"], end)


def test_a_page_that_slept_gets_the_tail_in_one_piece(log: Path) -> None:
    log.write_text("x" * 99 + "\n")
    with log.open("a") as file:
        file.writelines("y" * 99 + "\n" for _ in range(5_000))
    found = loglines.after(str(log.parent), 100)
    assert found.end == found.size
    assert found.end - found.start <= loglines.CHUNK


def test_a_log_that_was_begun_anew_is_read_from_its_new_tail(log: Path) -> None:
    log.write_text("new\n")
    assert texts(loglines.after(str(log.parent), 5_000)) == ["new"]


def test_no_log_is_no_lines(tmp_path: Path) -> None:
    assert loglines.tail(str(tmp_path)).lines == []
    assert not loglines.exists(str(tmp_path))


@pytest.mark.parametrize(
    ("text", "colour"),
    [
        ("26/11/21 09:00:00 WARN TaskSetManager: lost task", "warn"),
        ("26/11/21 09:00:00 ERROR Executor: exception in task", "bad"),
        ("Traceback (most recent call last):", "bad"),
        ("org.apache.kafka.common.errors.TimeoutException: no answer", "bad"),
        ("Caused by: java.lang.NullPointerException", "bad"),
        ("DEBUG nothing much", "quiet"),
        ("26/11/21 09:00:00 INFO all is well", ""),
        ("WARNINGS are not a level", ""),
    ],
)
def test_lines_stand_out_by_level(text: str, colour: str) -> None:
    assert loglines.colour(text) == colour
