"""One reader per live page, however many watch it."""

from __future__ import annotations

import asyncio
import json
from collections.abc import AsyncGenerator, Callable, Coroutine
from typing import Any

import pytest
from django.utils.safestring import SafeString

from dashboard import live
from dashboard.regions import Fragment, Region, Snapshot

TICK = 0.01


class Source:
    """A page whose text the test changes; counts how often it is read."""

    def __init__(self) -> None:
        self.text = "one"
        self.reads = 0
        self.error: Exception | None = None
        self.asked: set[str] = set()

    def take(self, regions: tuple[Region, ...]) -> Snapshot:
        self.reads += 1
        self.asked = {region.name for region in regions}
        if self.error is not None:
            raise self.error
        fragments = {
            "changes": Fragment(SafeString(self.text), self.text),
            "stays": Fragment(SafeString("same"), "same"),
        }
        return Snapshot("title", fragments)


def run(test: Callable[[Source], Coroutine[Any, Any, None]]) -> Source:
    source = Source()

    async def bounded() -> None:
        async with asyncio.timeout(20):
            await test(source)
        others = asyncio.all_tasks() - {asyncio.current_task()}
        await asyncio.gather(*others, return_exceptions=True)

    asyncio.run(bounded())
    assert live._feeds == {}
    return source


async def next_event(stream: AsyncGenerator[bytes, None]) -> tuple[str, dict[str, Any]]:
    kind, data = (await anext(stream)).decode().strip().split("\n")
    return kind.removeprefix("event: "), json.loads(data.removeprefix("data: "))


def test_a_new_window_gets_all_and_then_what_changes() -> None:
    async def test(source: Source) -> None:
        stream = live.events("page", source.take, TICK)
        kind, first = await next_event(stream)
        assert (kind, set(first["regions"])) == ("regions", {"changes", "stays"})
        source.text = "two"
        kind, second = await next_event(stream)
        assert (kind, second["regions"]) == ("regions", {"changes": "two"})
        await stream.aclose()

    run(test)


def test_fifty_windows_cost_one_reader() -> None:
    async def test(source: Source) -> None:
        streams = [live.events("page", source.take, 0.2) for _ in range(50)]
        first = await asyncio.gather(*(next_event(stream) for stream in streams))
        assert {kind for kind, _ in first} == {"regions"}
        assert source.reads <= 3
        for stream in streams:
            await stream.aclose()

    run(test)


def test_pages_of_one_subject_share_a_reader_and_get_their_own_regions() -> None:
    changes, stays = Region("changes", ""), Region("stays", "")

    async def test(source: Source) -> None:
        first = live.events("job", source.take, 0.05, (changes,))
        second = live.events("job", source.take, 0.05, (stays,))
        (_, one), (_, other) = await asyncio.gather(next_event(first), next_event(second))
        assert (set(one["regions"]), set(other["regions"])) == ({"changes"}, {"stays"})
        assert source.asked == {"changes", "stays"}
        assert source.reads <= 3
        await second.aclose()
        source.text = "two"
        assert (await next_event(first))[1]["regions"] == {"changes": "two"}
        assert source.asked == {"changes"}
        await first.aclose()

    run(test)


def test_nothing_is_read_when_the_last_window_has_gone() -> None:
    async def test(source: Source) -> None:
        stream = live.events("page", source.take, TICK)
        await next_event(stream)
        await stream.aclose()
        await asyncio.sleep(5 * TICK)
        reads = source.reads
        await asyncio.sleep(20 * TICK)
        assert source.reads == reads

    run(test)


def test_quiet_pages_get_a_beat_and_unreadable_ones_get_none(
    monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    monkeypatch.setattr(live, "BEAT", 3 * TICK)

    async def test(source: Source) -> None:
        stream = live.events("page", source.take, TICK)
        await next_event(stream)
        assert (await next_event(stream))[0] == "beat"
        source.error = OSError("the database is away")
        waiting = asyncio.ensure_future(next_event(stream))
        await asyncio.wait({waiting}, timeout=30 * TICK)
        while not waiting.done() and source.reads < 20:
            await asyncio.sleep(TICK)
        assert not waiting.done() or (await waiting)[0] == "beat"
        source.error, source.text = None, "back"
        kind, news = await waiting if not waiting.done() else await next_event(stream)
        assert (kind, news["regions"]) == ("regions", {"changes": "back"})
        await stream.aclose()

    run(test)
    assert "it is tried again" in caplog.text


def test_what_does_not_exist_any_more_ends_the_stream() -> None:
    async def test(source: Source) -> None:
        stream = live.events("page", source.take, TICK)
        await next_event(stream)
        source.error = live.Gone()
        kind, _ = await next_event(stream)
        assert kind == "gone"
        with pytest.raises(StopAsyncIteration):
            await anext(stream)

    run(test)


def test_alerts_that_begin_to_fire_are_told_at_once() -> None:
    firing = 0

    async def count() -> int:
        return firing

    async def test(source: Source) -> None:
        nonlocal firing
        stream = live.events("page", source.take, TICK, (), count)
        assert (await next_event(stream))[1]["firing"] == 0
        firing = 3
        kind, data = await next_event(stream)
        assert (kind, data["firing"]) == ("beat", 3)
        await stream.aclose()

    run(test)


def test_a_stream_ends_after_a_while_so_that_the_login_is_looked_at_again(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(live, "STREAM_SECONDS", 3 * TICK)

    async def test(source: Source) -> None:
        kinds = [event async for event in live.events("page", source.take, TICK)]
        assert len(kinds) == 1

    run(test)
