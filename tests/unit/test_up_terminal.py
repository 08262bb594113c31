"""What `up` writes: plain lines into a file, one line drawn again and again on a terminal."""

from __future__ import annotations

import io

import pytest

from workers.up import summary
from workers.up.terminal import Step, Terminal, describe


def test_a_step_is_one_line(capsys: pytest.CaptureFixture[str]) -> None:
    out = io.StringIO()
    with Terminal(out).step("Kafka") as step:
        step.detail = "127.0.0.1:9092"
    assert out.getvalue() == "  ✓ Kafka           127.0.0.1:9092\n"


def test_a_step_that_fails_has_a_cross() -> None:
    out = io.StringIO()
    with pytest.raises(OSError), Terminal(out).step("Kafka"):
        raise OSError
    assert out.getvalue() == "  ✗ Kafka\n"


def test_seconds_are_told_when_there_are_some() -> None:
    step = Step("Kafka", "here")
    step.started -= 12
    assert describe(step) == "Kafka           here  (12 s)"


def test_a_summary_lines_up() -> None:
    rows = [("web", "http://127.0.0.1:8081/", "pages"), ("database", "SQLite", "")]
    assert summary.table(rows) == ("  web       http://127.0.0.1:8081/  pages\n  database  SQLite")


@pytest.mark.parametrize(
    ("url", "shown"),
    [
        ("redis://127.0.0.1:6379/0", "redis://127.0.0.1:6379/0"),
        ("redis://user:secret@redis:6379/0", "redis://redis:6379/0"),
        ("kafka:9092", "kafka:9092"),
    ],
)
def test_addresses_are_shown_without_passwords(url: str, shown: str) -> None:
    assert summary.address(url) == shown
