"""Slots are given all at once or not at all."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from workers import slots
from workers.slots import Grant, Offer


def offer(taskmanager: int, free: int, exist: int | None = None) -> Offer:
    ids = tuple(taskmanager * 100 + index for index in range(free))
    return Offer(taskmanager, f"tm-{taskmanager}", free if exist is None else exist, ids)


def test_the_tightest_fit_is_taken() -> None:
    offers = [offer(1, 4), offer(2, 2), offer(3, 3)]

    assert slots.choose(2, offers, together=True) == Grant(2, (200, 201))


def test_the_previous_taskmanager_goes_first() -> None:
    offers = [offer(1, 4), offer(2, 2)]

    assert slots.choose(2, offers, together=True, previous=1) == Grant(1, (100, 101))


def test_a_job_in_its_driver_is_not_spread() -> None:
    offers = [offer(1, 1), offer(2, 1)]

    assert slots.choose(2, offers, together=True) is None
    assert slots.choose(2, offers, together=False) == Grant(1, (100, 200))


@given(
    needed=st.integers(1, 12),
    free=st.lists(st.integers(0, 6), max_size=5),
    together=st.booleans(),
)
def test_all_or_nothing(needed: int, free: list[int], together: bool) -> None:
    offers = [offer(number, count) for number, count in enumerate(free, 1)]
    enough = max(free, default=0) >= needed if together else sum(free) >= needed

    grant = slots.choose(needed, offers, together=together)

    assert (grant is not None) == enough
    if grant is not None:
        assert len(set(grant.slots)) == needed
        assert set(grant.slots) <= {slot for each in offers for slot in each.free}
        owners = {slot // 100 for slot in grant.slots}
        assert grant.taskmanager in owners
        assert not together or owners == {grant.taskmanager}


def test_why_not() -> None:
    def why(needed: int, *offers: Offer) -> str:
        return slots.why_not(needed, offers, together=True)

    assert why(1) == (
        "needs 1 slot; no TaskManager is registered. The job waits and starts when one is."
    )
    assert why(4, offer(1, 1, exist=2)) == (
        "needs 4 slots; 2 exist, 1 free. The job waits until TaskManagers with more slots register."
    )
    assert why(2, offer(1, 1, exist=2)) == (
        "needs 2 slots; 2 exist, 1 free. The job waits until other jobs free theirs."
    )
    assert why(3, offer(1, 2), offer(2, 2)) == (
        "needs 3 slots on one TaskManager; 4 exist, 4 free, the largest (tm-1) has 2. "
        "The job waits until one with 3 slots registers."
    )
    assert why(2, offer(1, 1, exist=2), offer(2, 1, exist=2)) == (
        "needs 2 slots on one TaskManager; 4 exist, 2 free on several. "
        "The job waits until one has them."
    )
