"""Slots are given all at once or not at all, in the order of the queue."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from workers import slots
from workers.slots import Balance, Grant, Offer, Refusal, Request

#: The machine may be busy: how long an example takes says nothing.
unhurried = settings(deadline=None, derandomize=True, suppress_health_check=[HealthCheck.too_slow])


def offer(taskmanager: int, free: int, exist: int | None = None, pool: str = "") -> Offer:
    ids = tuple(taskmanager * 100 + index for index in range(free))
    return Offer(taskmanager, f"tm-{taskmanager}", free if exist is None else exist, ids, pool)


def one(request: Request, *offers: Offer, balance: Balance = Balance.NONE) -> Grant | Refusal:
    return slots.allocate([request], offers, balance)[request.job]


def test_filling_up_takes_the_tightest_fit() -> None:
    offers = [offer(1, 4), offer(2, 2), offer(3, 3)]

    assert one(Request("a", 2), *offers) == Grant(2, (200, 201))


def test_spreading_out_takes_the_one_with_the_greatest_share_free() -> None:
    offers = [offer(1, 2, exist=4), offer(2, 2, exist=3), offer(3, 1, exist=1)]

    assert one(Request("a", 2), *offers, balance=Balance.SLOTS) == Grant(2, (200, 201))


def test_the_previous_taskmanager_goes_first() -> None:
    offers = [offer(1, 4), offer(2, 2)]

    for balance in Balance:
        assert one(Request("a", 2, previous=1), *offers, balance=balance) == Grant(1, (100, 101))


def test_what_a_job_holds_goes_before_where_it_was() -> None:
    request = Request("a", 2, previous=1, holds={2: (208, 209)})

    assert one(request, offer(1, 4), offer(2, 0, exist=9)) == Grant(2, (208, 209))


def test_a_job_in_its_driver_is_not_spread() -> None:
    offers = [offer(1, 1), offer(2, 1)]

    assert isinstance(one(Request("a", 2), *offers), Refusal)
    assert one(Request("a", 2, anywhere=True), *offers) == Grant(1, (100, 200))


def test_taskmanagers_of_one_spark_cluster_give_slots_together() -> None:
    cluster = "spark://master:7077"
    offers = [offer(1, 2, pool=cluster), offer(2, 2), offer(3, 2, pool=cluster)]

    assert one(Request("a", 4), *offers) == Grant(1, (100, 101, 300, 301))
    assert one(Request("a", 4, previous=3), *offers) == Grant(3, (300, 301, 100, 101))
    spread = one(Request("a", 2), offers[0], offers[2], balance=Balance.SLOTS)
    assert spread == Grant(1, (100, 300))


def test_priority_goes_before_time_and_time_before_the_rest() -> None:
    requests = [Request("late", 1, since=2), Request("early", 1, since=1)]
    urgent = Request("urgent", 1, priority=1, since=3)

    given_ = slots.allocate([*requests, urgent], [offer(1, 2)])

    assert given_["urgent"] == Grant(1, (100,))
    assert given_["early"] == Grant(1, (101,))
    assert isinstance(given_["late"], Refusal)


def test_free_slots_are_kept_for_the_large_job_that_came_first() -> None:
    large, small = Request("large", 4, since=1), Request("small", 1, since=2)

    answers = slots.allocate([small, large], [offer(1, 3, exist=4), offer(2, 1, exist=2)])

    assert isinstance(answers["large"], Refusal)
    assert answers["small"] == Grant(2, (200,))
    alone = slots.allocate([small, large], [offer(1, 3, exist=4)])
    assert alone["small"] == Refusal(
        "needs 1 slot; 4 exist, 3 free, kept for jobs before it. "
        "It waits until those have theirs. Place 2 of 2 in the queue.",
        fits=True,
    )


def test_nothing_is_kept_for_a_job_that_cannot_run_here() -> None:
    huge, small = Request("huge", 9, since=1), Request("small", 1, since=2)

    answers = slots.allocate([huge, small], [offer(1, 3, exist=4)])

    assert answers["small"] == Grant(1, (100,))
    assert answers["huge"] == Refusal(
        "needs 9 slots; 4 exist, 3 free. It cannot run on what is registered: "
        "the job waits until TaskManagers with more slots register.",
        fits=False,
    )


@pytest.mark.parametrize(
    ("needed", "offers", "reason"),
    [
        (
            1,
            [],
            "needs 1 slot; no TaskManager is registered. The job waits and starts when one is.",
        ),
        (
            2,
            [offer(1, 1, exist=2)],
            "needs 2 slots; 2 exist, 1 free. The job waits until other jobs free theirs.",
        ),
        (
            3,
            [offer(1, 2), offer(2, 2)],
            "needs 3 slots on one TaskManager; 4 exist, 4 free, the largest (tm-1) has 2. It "
            "cannot run on what is registered: it waits until one with 3 slots registers.",
        ),
        (
            2,
            [offer(1, 1, exist=2), offer(2, 1, exist=2)],
            "needs 2 slots on one TaskManager; 4 exist, 2 free on several. "
            "It waits until one has them.",
        ),
    ],
)
def test_why_not(needed: int, offers: list[Offer], reason: str) -> None:
    refusal = one(Request("a", needed), *offers)

    assert isinstance(refusal, Refusal)
    assert refusal.reason == reason


def test_a_job_whose_files_are_on_one_machine_runs_nowhere_else() -> None:
    there = Request("a", 1, only=frozenset({2}), only_why="on host-2, where its files are")

    assert one(there, offer(1, 4), offer(2, 1)) == Grant(2, (200,))
    assert one(there, offer(1, 4), offer(2, 0, exist=1)) == Refusal(
        "needs 1 slot on host-2, where its files are; 1 exists, 0 free. "
        "The job waits until other jobs free theirs.",
        fits=True,
    )
    assert one(there, offer(1, 4)) == Refusal(
        "needs 1 slot on host-2, where its files are; no TaskManager is registered there. "
        "The job waits and starts when one is.",
        fits=False,
    )


@pytest.mark.parametrize(
    ("needed", "offers", "drained", "reason"),
    [
        (
            1,
            [],
            {7: "big"},
            "needs 1 slot; TaskManager big is drained. "
            "The job waits until one is undrained or registers.",
        ),
        (
            3,
            [offer(1, 2)],
            {7: "big", 8: "bigger"},
            "needs 3 slots; 2 exist, 2 free; 2 TaskManagers are drained (big is one). It cannot "
            "run on what is registered: the job waits until TaskManagers with more slots register.",
        ),
        (
            2,
            [offer(1, 1, exist=2)],
            {7: "big"},
            "needs 2 slots; 2 exist, 1 free; TaskManager big is drained. "
            "The job waits until other jobs free theirs.",
        ),
    ],
)
def test_why_not_while_some_are_drained(
    needed: int, offers: list[Offer], drained: dict[int, str], reason: str
) -> None:
    refusal = slots.allocate([Request("a", needed)], offers, drained=drained)["a"]

    assert isinstance(refusal, Refusal)
    assert refusal.reason == reason


def test_a_drained_one_is_named_where_the_files_are_there() -> None:
    there = Request("a", 1, only=frozenset({2}), only_why="on host-2, where its files are")

    for drained, which in (
        ({2: "tm-2"}, "TaskManager tm-2 is drained. The job waits until one is undrained"),
        ({3: "tm-3"}, "no TaskManager is registered there"),
    ):
        refusal = slots.allocate([there], [offer(1, 4)], drained=drained)["a"]
        assert isinstance(refusal, Refusal)
        assert f"where its files are; {which}" in refusal.reason


def offers_() -> st.SearchStrategy[list[Offer]]:
    sizes = st.tuples(st.integers(0, 5), st.integers(0, 3), st.sampled_from(["", "", "spark://a"]))
    return st.lists(sizes, max_size=5).map(
        lambda found: [
            offer(number, free, free + taken, pool)
            for number, (free, taken, pool) in enumerate(found, 1)
            if free + taken
        ]
    )


def requests_() -> st.SearchStrategy[list[Request]]:
    return st.lists(
        st.builds(
            Request,
            job=st.uuids().map(str),
            slots=st.integers(1, 9),
            priority=st.integers(-1, 1),
            since=st.integers(0, 5).map(float),
            previous=st.none() | st.integers(1, 5),
            anywhere=st.booleans(),
        ),
        max_size=8,
        unique_by=lambda request: request.job,
    )


def holding(requests: Sequence[Request], offers: Sequence[Offer]) -> list[Request]:
    """Each TaskManager's taken slots are held by the requests, one after the other."""
    held: dict[str, dict[int, tuple[int, ...]]] = {request.job: {} for request in requests}
    for number, each in enumerate(offers):
        taken = tuple(each.taskmanager * 100 + 50 + i for i in range(each.slots - len(each.free)))
        if requests and taken:
            held[requests[number % len(requests)].job][each.taskmanager] = taken
    return [replace(request, holds=held[request.job]) for request in requests]


@unhurried
@given(requests=requests_(), offers=offers_(), balance=st.sampled_from(Balance))
def test_no_slot_is_given_twice_and_no_job_gets_a_part(
    requests: list[Request], offers: list[Offer], balance: Balance
) -> None:
    requests = holding(requests, offers)

    answers = slots.allocate(requests, offers, balance)

    owner = {slot: each for each in offers for slot in each.free}
    own: Mapping[str, set[int]] = {
        r.job: {slot for held in r.holds.values() for slot in held} for r in requests
    }
    given_: list[int] = []
    for request in requests:
        answer = answers[request.job]
        if isinstance(answer, Refusal):
            continue
        given_ += answer.slots
        assert len(answer.slots) == request.slots
        fresh = set(answer.slots) - own[request.job]
        assert fresh <= owner.keys(), "a slot that somebody else holds"
        held_on = {tm for tm, held in request.holds.items() if set(held) & set(answer.slots)}
        places = {owner[slot].taskmanager for slot in fresh} | held_on
        assert answer.taskmanager in places
        pools = {o.pool or str(o.taskmanager) for o in offers if o.taskmanager in places}
        assert request.anywhere or len(pools) == 1
    assert len(given_) == len(set(given_)), "a slot given to two jobs"


@unhurried
@given(requests=requests_(), offers=offers_(), balance=st.sampled_from(Balance))
def test_the_first_of_the_queue_gets_what_it_would_get_alone(
    requests: list[Request], offers: list[Offer], balance: Balance
) -> None:
    if not requests:
        return
    first = min(requests, key=lambda r: (-r.priority, r.since, r.job))

    together = slots.allocate(requests, offers, balance)[first.job]

    alone = one(first, *offers, balance=balance)
    assert isinstance(together, Refusal) if isinstance(alone, Refusal) else together == alone


@unhurried
@given(requests=requests_(), offers=offers_(), balance=st.sampled_from(Balance))
def test_slots_lie_idle_only_for_a_job_that_waits_for_them(
    requests: list[Request], offers: list[Offer], balance: Balance
) -> None:
    answers = slots.allocate(requests, offers, balance)
    waiting = [r for r in requests if isinstance(answers[r.job], Refusal)]
    taken = {s for a in answers.values() if isinstance(a, Grant) for s in a.slots}
    left = [replace(o, free=tuple(s for s in o.free if s not in taken)) for o in offers]

    first = min(waiting, key=lambda r: (-r.priority, r.since, r.job), default=None)

    if first is not None:
        assert isinstance(one(first, *left, balance=balance), Refusal)


@dataclass
class Floor:
    """TaskManagers on which jobs come and go; time is counted in rounds."""

    sizes: Sequence[int]
    balance: Balance
    #: slot -> (its job, the round in which the job ends)
    taken: dict[int, tuple[str, int]] = field(default_factory=dict)

    def offers(self) -> list[Offer]:
        found = []
        for number, size in enumerate(self.sizes, 1):
            ids = [number * 100 + index for index in range(size)]
            free = tuple(slot for slot in ids if slot not in self.taken)
            found.append(Offer(number, f"tm-{number}", size, free))
        return found

    def round(self, now: int, queue: list[tuple[Request, int]]) -> list[tuple[Request, int]]:
        """Jobs that are over leave, those that can start do; who still waits."""
        self.taken = {slot: (job, end) for slot, (job, end) in self.taken.items() if end > now}
        answers = slots.allocate([r for r, _ in queue], self.offers(), self.balance)
        waiting = []
        for request, lifetime in queue:
            answer = answers[request.job]
            if isinstance(answer, Refusal):
                waiting.append((request, lifetime))
                continue
            assert not set(answer.slots) & self.taken.keys()
            self.taken |= dict.fromkeys(answer.slots, (request.job, now + lifetime))
        return waiting


@unhurried
@given(
    sizes=st.lists(st.integers(1, 5), min_size=1, max_size=4),
    balance=st.sampled_from(Balance),
    lifetimes=st.lists(st.integers(1, 4), min_size=1, max_size=20),
    arrivals=st.lists(st.integers(0, 4), min_size=1, max_size=20),
)
def test_a_large_job_is_not_starved_by_small_ones(
    sizes: list[int], balance: Balance, lifetimes: list[int], arrivals: list[int]
) -> None:
    """However many small jobs come behind it, each running for at most four rounds."""
    large = Request("large", max(sizes), since=0.5)
    floor = Floor(sizes, balance)
    queue: list[tuple[Request, int]] = [
        (Request(f"before-{i}", 1), 1 + i % 4) for i in range(sum(sizes))
    ]
    queue.append((large, 1))
    for now in range(4 * (max(sizes) + 1) * len(sizes) + 1):
        for number in range(arrivals[now % len(arrivals)]):
            lifetime = lifetimes[(now + number) % len(lifetimes)]
            queue.append((Request(f"small-{now}-{number}", 1, since=1.0 + now), lifetime))
        queue = floor.round(now, queue)
        if all(request.job != "large" for request, _ in queue):
            return
    raise AssertionError("the large job still waits")
