"""The word count, on a text file to its end and on a socket for ever."""

from __future__ import annotations

import re
import socket
import threading
from collections import Counter
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

from headrace.wire import events
from tests.driving import DrivenJob

WORD_COUNT = Path(__file__).parents[2] / "jobs/examples/word_count.py"
TEXT = "To be, or not to be: that is the question.\nNot the answer\n" * 20


def final_counts(log: str) -> dict[str, int]:
    """The last count of each word that was printed, in PyFlink's form: 2> (word,count)."""
    counts: dict[str, int] = {}
    for line in log.splitlines():
        if printed := re.fullmatch(r"(?:\d+> )?\((\S+),(\d+)\)", line):
            word, count = printed.groups()
            assert int(count) == counts.get(word, 0) + 1
            counts[word] = int(count)
    return counts


def test_a_text_file_is_counted_to_its_end(drive: Callable[..., DrivenJob], tmp_path: Path) -> None:
    (tmp_path / "text.txt").write_text(TEXT)
    job = drive(WORD_COUNT, "--file", str(tmp_path / "text.txt"))

    assert job.run() == 0, job.log()

    words = TEXT.lower().replace(",", "").replace(".", "").replace(":", "").split()
    assert final_counts(job.log()) == Counter(words)
    assert job.events()[-1] == events.Stopped("finished")
    [planned] = job.events(events.Planned)
    assert planned.sources == [f"file:{tmp_path / 'text.txt'}"]
    assert sum(c.records_in for c in job.events(events.CheckpointCompleted)) == 40


def test_a_socket_is_counted_until_the_job_is_suspended_and_goes_on(
    drive: Callable[..., DrivenJob],
) -> None:
    with line_server() as (address, send):
        job = drive(WORD_COUNT, "--socket", address)
        job.start()
        send("to be or not")
        job.until(lambda: "(not,1)" in job.log())
        send("to be")
        job.until(lambda: "(be,2)" in job.log())
        job.terminate()
        assert job.wait() == 0
        assert job.events()[-1] == events.Stopped("suspended")

    with line_server() as (address, send):
        job.arguments = ["--socket", address]
        job.start()
        send("be")
        job.until(lambda: "(be,3)" in job.log())
        assert job.events(events.Running)[0].restored_checkpoint is not None


@contextmanager
def line_server() -> Iterator[tuple[str, Callable[[str], None]]]:
    """host:port of a server for one client, and how to send it a line."""
    server = socket.create_server(("127.0.0.1", 0))
    connected = threading.Event()
    clients: list[socket.socket] = []

    def accept() -> None:
        clients.append(server.accept()[0])
        connected.set()

    threading.Thread(target=accept, daemon=True).start()

    def send(line: str) -> None:
        assert connected.wait(600), "the job did not connect"
        clients[0].sendall(line.encode() + b"\n")

    try:
        yield f"127.0.0.1:{server.getsockname()[1]}", send
    finally:
        for client in clients:
            client.close()
        server.close()
