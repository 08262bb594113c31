"""The readers behind collections, sockets and control rows, as Spark calls them."""

from __future__ import annotations

import json
import pickle
import socket
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from pyspark.sql.streaming.datasource import ReadAllAvailable

from headrace.runtime.python_sources import (
    CollectionData,
    ControlData,
    ControlFile,
    SocketData,
    _Reader,
)
from headrace.runtime.sources import CollectionSource
from headrace.runtime.spark_sources import _kept_values

ALL = ReadAllAvailable()


def latest(reader: _Reader, start: int) -> int:
    return reader.latestOffset({"position": start}, ALL)["position"]


def read(reader: _Reader, start: int, end: int) -> list[object]:
    [partition] = reader.partitions({"position": start}, {"position": end})
    return [row for rows in reader.read(partition) for row in rows]


def lines(reader: _Reader, start: int, end: int) -> list[Any]:
    return [line for chunk in read(reader, start, end) for line in pickle.loads(chunk)]


def kept(values: tuple[object, ...], folder: Path) -> _Reader:
    """The reader of a collection as a job's start leaves it."""
    path = _kept_values(CollectionSource(values), folder / "collection-1.pickle")
    return CollectionData({"path": str(path)}).streamReader(None)


def test_a_collection_stays_what_it_was_at_the_first_start(tmp_path: Path) -> None:
    assert latest(kept(("a", "b"), tmp_path), 0) == 2
    assert lines(kept(("x", "a", "b"), tmp_path), 1, 2) == ["b"]


def test_a_collection_holds_instances_of_the_scripts_own_classes(tmp_path: Path) -> None:
    script: dict[str, Any] = {"__name__": "__main__"}
    exec("class Word:\n    def __init__(self, text): self.text = text", script)
    [word] = lines(kept((script["Word"]("to be"),), tmp_path), 0, 1)
    assert (type(word).__name__, word.text) == ("Word", "to be")


@pytest.fixture
def server() -> Iterator[socket.socket]:
    with socket.create_server(("127.0.0.1", 0)) as listening:
        listening.settimeout(120)
        yield listening


def unconnected(server: socket.socket, closed: str = "/nowhere/closed") -> _Reader:
    host, port = server.getsockname()
    return SocketData({"host": host, "port": str(port), "closed": closed}).streamReader(None)


def connect(
    server: socket.socket, start: int = 0, closed: str = "/nowhere/closed"
) -> tuple[_Reader, socket.socket]:
    reader = pickle.loads(pickle.dumps(unconnected(server, closed)))
    assert latest(reader, start) == start
    return reader, server.accept()[0]


def wait(reader: _Reader, start: int, end: int) -> None:
    deadline = time.monotonic() + 120
    while latest(reader, start) < end:
        assert time.monotonic() < deadline
        time.sleep(0.01)


def test_lines_of_a_socket_can_be_read_again_until_they_are_committed(
    server: socket.socket,
) -> None:
    reader, client = connect(server)
    with client:
        client.sendall("eins\nzwei\r\ndr\xfci\n".encode())
        wait(reader, 0, 3)
        assert lines(reader, 0, 3) == ["eins", "zwei", "drüi"]
        assert lines(reader, 0, 2) == ["eins", "zwei"]
        reader.commit({"position": 2})
        assert lines(reader, 2, 3) == ["drüi"]
        client.sendall(b"vier\n")
        wait(reader, 3, 4)
        assert lines(reader, 3, 4) == ["vier"]


def test_a_restored_socket_counts_on(server: socket.socket) -> None:
    reader, client = connect(server, start=5)
    with client:
        client.sendall(b"sechs\n")
        wait(reader, 5, 6)
        assert lines(reader, 5, 6) == ["sechs"]


def test_lines_an_earlier_driver_had_read_are_gone(server: socket.socket) -> None:
    reader = unconnected(server)
    assert lines(reader, 5, 8) == []
    assert latest(reader, 8) == 8
    with server.accept()[0] as client:
        client.sendall(b"neun\n")
        wait(reader, 8, 9)
        assert lines(reader, 8, 9) == ["neun"]


def test_a_closed_socket_says_so_once_its_lines_are_planned(
    server: socket.socket, tmp_path: Path
) -> None:
    closed = tmp_path / "closed"
    reader, client = connect(server, closed=str(closed))
    with client:
        client.sendall(b"eins\n")
    wait(reader, 0, 1)
    assert not closed.exists()
    deadline = time.monotonic() + 120
    while not closed.exists():
        assert latest(reader, 1) == 1
        assert time.monotonic() < deadline
    assert latest(unconnected(server, str(closed)), 1) == 1  # it does not connect again


def test_a_collection_is_read_in_chunks(tmp_path: Path) -> None:
    values = tuple(range(2500))
    (tmp_path / "c").write_bytes(pickle.dumps(values))
    reader = CollectionData({"path": str(tmp_path / "c")}).streamReader(None)
    assert latest(reader, 0) == 2500
    chunks = read(reader, 0, 2500)
    assert [len(pickle.loads(chunk)) for chunk in chunks] == [1000, 1000, 500]
    assert [v for chunk in chunks for v in pickle.loads(chunk)] == list(values)


def test_ticks_grow_after_a_restart_and_the_end_comes_once(tmp_path: Path) -> None:
    path = tmp_path / "control.json"
    reader = ControlData({"path": str(path)}).streamReader(None)
    assert latest(reader, 0) == 0
    ControlFile(path).tick()
    assert latest(reader, 0) == 1
    assert read(reader, 0, 1) == [False, "[]"]
    ControlFile(path).end()
    ControlFile(path).end()
    assert latest(reader, 1) == 2
    assert read(reader, 1, 2) == [True, "[]"]
    assert read(reader, 2, 2) == []


def test_ended_splits_are_told_once_and_the_same_again(tmp_path: Path) -> None:
    path = tmp_path / "control.json"
    reader = ControlData({"path": str(path)}).streamReader(None)
    ControlFile(path).end_splits(["1:in-0"])
    ControlFile(path).tick()
    ControlFile(path).end_splits(["1:in-1", "1:in-0"])
    assert latest(reader, 0) == 3

    def told(start: int, end: int) -> list[str]:
        _, splits = read(reader, start, end)
        return sorted(json.loads(str(splits)))

    assert told(0, 1) == ["1:in-0"]
    assert told(1, 2) == []
    assert told(1, 3) == ["1:in-1"]
    assert told(0, 3) == ["1:in-0", "1:in-1"]
