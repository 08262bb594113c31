"""Two hundred people who watch one job cost one reader: connections as a web server makes them."""

from __future__ import annotations

import asyncio
import threading
from typing import Any

import pytest
from asgiref.sync import sync_to_async
from asgiref.testing import ApplicationCommunicator
from django.conf import settings
from django.contrib.auth.models import User
from django.db import connections
from django.test import Client

from config.asgi import application
from dashboard import live, pages
from dashboard.regions import Region, Snapshot
from jobs import vertices
from jobs.models import Job
from jobs.states import JobState
from tests.service import busy_job

VIEWERS = 200
_FIRST_WAIT, _WAIT = 60, 30


class Counted:
    """`pages.job_again`, counting how often it reads and how many read at the same time."""

    def __init__(self) -> None:
        self.reads = 0
        self.at_once = 0
        self.most_at_once = 0
        self._lock = threading.Lock()
        self._real = pages.job_again

    def __call__(self, job_id: str, regions: tuple[Region, ...]) -> Snapshot:
        with self._lock:
            self.reads += 1
            self.at_once += 1
            self.most_at_once = max(self.most_at_once, self.at_once)
        try:
            return self._real(job_id, regions)
        finally:
            with self._lock:
                self.at_once -= 1


@pytest.fixture
def counted(monkeypatch: pytest.MonkeyPatch) -> Counted:
    counted = Counted()
    monkeypatch.setattr(pages, "job_again", counted)
    return counted


class Viewer:
    """One browser's stream."""

    def __init__(self, path: str, cookie: str) -> None:
        scope = {
            **{"type": "http", "http_version": "1.1", "method": "GET", "path": path},
            **{"query_string": b"", "scheme": "http", "server": ("testserver", 80)},
            "headers": [
                (b"host", b"testserver"),
                (b"cookie", f"{settings.SESSION_COOKIE_NAME}={cookie}".encode()),
            ],
        }
        # asgiref has no types for it
        self.connection: Any = ApplicationCommunicator(application, scope)  # type: ignore[no-untyped-call]
        self._rest = ""

    async def open(self) -> int:
        """The status."""
        await self.connection.send_input({"type": "http.request", "body": b""})
        started = await self.connection.receive_output(_FIRST_WAIT)
        return int(started["status"])

    async def until(self, words: str) -> str:
        """What is sent until these words come."""
        while words not in self._rest:
            message: dict[str, Any] = await self.connection.receive_output(_WAIT)
            self._rest += message.get("body", b"").decode()
        return self._rest

    async def close(self) -> None:
        await self.connection.send_input({"type": "http.disconnect"})
        await self.connection.wait(_WAIT)


def addresses(job: Job) -> list[str]:
    """Of VIEWERS streams: most watch the overview, some each other page and two vertices."""
    of_job = vertices.of(job.plan)
    others = [f"/jobs/{job.pk}/live/{tab}/" for tab in ("checkpoints", "kafka", "timeline", "log")]
    others += [f"/jobs/{job.pk}/vertices/{each.id}/live/detail/" for each in of_job[:2]]
    overview = f"/jobs/{job.pk}/live/overview/"
    return [others[n] if n < len(others) else overview for n in range(VIEWERS)]


def test_two_hundred_viewers_cost_one_reader(
    transactional_db: None, alice: User, counted: Counted
) -> None:
    job = busy_job.make()
    client = Client()
    client.force_login(alice)
    cookie = client.cookies[settings.SESSION_COOKIE_NAME].value
    viewers = [Viewer(path, cookie) for path in addresses(job)]

    async def watch() -> tuple[int, float]:
        for viewer in viewers:
            assert await viewer.open() == 200
        await asyncio.gather(*(viewer.until("event: regions") for viewer in viewers))
        assert len(live._feeds) == 1
        before, begun = counted.reads, asyncio.get_running_loop().time()
        await sync_to_async(_restart)(job)
        shown = await asyncio.gather(*(viewer.until("Restarting") for viewer in viewers))
        took = asyncio.get_running_loop().time() - begun
        assert all("regions" in each for each in shown)
        for viewer in viewers:
            await viewer.close()
        await sync_to_async(connections.close_all)()
        return counted.reads - before, took

    reads, took = asyncio.run(watch())
    assert counted.most_at_once == 1
    assert reads <= took / live.TICK + 2
    assert live._feeds == {}


def _restart(job: Job) -> None:
    Job.objects.filter(pk=job.pk).update(state=JobState.RESTARTING)
