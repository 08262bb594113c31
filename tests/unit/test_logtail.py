"""A log is read by range, in whole lines."""

from __future__ import annotations

from pathlib import Path

from jobs import logtail


def test_tail_starts_at_a_line(tmp_path: Path) -> None:
    (tmp_path / "driver.log").write_text("first line\nsecond line\nthird line\n")

    piece = logtail.read(tmp_path, limit=25)

    assert piece.text == "second line\nthird line\n"
    assert (piece.start, piece.end, piece.size) == (11, 34, 34)


def test_reads_on_where_it_ended(tmp_path: Path) -> None:
    log = tmp_path / "driver.log"
    log.write_text("one\ntwo\nthr")

    first = logtail.read(tmp_path, offset=0)
    log.write_text("one\ntwo\nthree ä\n")
    second = logtail.read(tmp_path, offset=first.end)

    assert first.text == "one\ntwo\n"
    assert second.text == "three ä\n"
    assert second.end == second.size


def test_a_line_longer_than_the_limit_is_read_in_pieces(tmp_path: Path) -> None:
    (tmp_path / "driver.log").write_text("x" * 100)

    first = logtail.read(tmp_path, offset=0, limit=60)
    second = logtail.read(tmp_path, offset=first.end, limit=60)

    assert first.text + second.text == "x" * 100


def test_nothing_there(tmp_path: Path) -> None:
    assert logtail.read(tmp_path) == logtail.Piece("", 0, 0, 0)


def test_an_offset_behind_the_end_answers_from_the_end(tmp_path: Path) -> None:
    (tmp_path / "driver.log").write_text("short\n")

    assert logtail.read(tmp_path, offset=999) == logtail.Piece("", 6, 6, 6)
