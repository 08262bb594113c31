"""Which waiting job gets which slots: all of what it needs at once, or none. No I/O.

Requests are served by priority, and those of one priority in the order in which they began to
wait. A request that could be served by what is registered, and is not yet, keeps the free slots
that it waits for: of the TaskManagers of one pool nothing more goes to requests behind it. So a
large job is not starved by small ones that come after it, while these still get slots that the
large one cannot use. The pool that is kept is the one with most free slots; as nobody behind takes
any of it, the number of free slots that it keeps never falls until it is served.
"""

from __future__ import annotations

import enum
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field

_NOBODY = "no TaskManager is registered"
_CANNOT = "It cannot run on what is registered"


class Balance(enum.StrEnum):
    """Flink's `taskmanager.load-balance.mode`: NONE fills up, so that large gaps remain for large
    jobs; SLOTS spreads out: the TaskManager with the greatest share of free slots goes first."""

    NONE = "NONE"
    SLOTS = "SLOTS"


@dataclass(frozen=True, slots=True)
class Offer:
    """What a registered TaskManager has to give: ids of its slots that no job holds."""

    taskmanager: int
    name: str
    slots: int
    free: tuple[int, ...]
    #: One job can have slots of all TaskManagers of a pool: those whose jobs run on one Spark
    #: cluster. "" is a pool of its own: its jobs run inside their drivers, on one machine.
    pool: str = ""


@dataclass(frozen=True, slots=True)
class Request:
    """What a job needs. Requests with equal `priority` and `since` are served by job id."""

    job: str
    slots: int
    priority: int = 0
    #: When it began to wait; any clock.
    since: float = 0.0
    #: Slots that it holds already, by TaskManager.
    holds: Mapping[int, tuple[int, ...]] = field(default_factory=dict)
    #: The TaskManager that it ran on.
    previous: int | None = None
    #: It brings a Spark cluster of its own: slots of all TaskManagers can be combined.
    anywhere: bool = False
    #: The TaskManagers that it can run on, when not on all; and where that is, in words.
    only: frozenset[int] | None = None
    only_why: str = ""


@dataclass(frozen=True, slots=True)
class Grant:
    """The slots a job gets, and the TaskManager that launches its driver."""

    taskmanager: int
    slots: tuple[int, ...]


@dataclass(frozen=True, slots=True)
class Refusal:
    """Why it gets none now, in a sentence; `fits`: what is registered would do if it were free."""

    reason: str
    fits: bool


def allocate(
    requests: Iterable[Request],
    offers: Sequence[Offer],
    balance: Balance = Balance.NONE,
    drained: Mapping[int, str] | None = None,
) -> dict[str, Grant | Refusal]:
    """What each job gets, or why it gets nothing. No slot is given twice, and none that another
    job holds. `drained`: TaskManagers, by name, that are registered and offer nothing."""
    floor = _Floor(offers, balance, drained or {})
    answers: dict[str, Grant | Refusal] = {}
    waiting: list[Request] = []
    for request in sorted(requests, key=lambda r: (-r.priority, r.since, r.job)):
        grant = floor.give(request)
        if grant is None:
            answers[request.job] = floor.refuse(request)
            waiting.append(request)
        else:
            answers[request.job] = grant
    if len(waiting) > 1:
        for place, request in enumerate(waiting, 1):
            refusal = answers[request.job]
            assert isinstance(refusal, Refusal)
            where = f" Place {place} of {len(waiting)} in the queue."
            answers[request.job] = Refusal(refusal.reason + where, refusal.fits)
    return answers


class _Floor:
    """The slots that are left while requests are served one after the other."""

    def __init__(
        self, offers: Sequence[Offer], balance: Balance, drained: Mapping[int, str]
    ) -> None:
        self._drained = drained
        self._offers = offers
        self._balance = balance
        self._free = {offer.taskmanager: list(offer.free) for offer in offers}
        #: TaskManagers whose free slots are kept for a request that came before.
        self._kept: set[int] = set()

    def give(self, request: Request) -> Grant | None:
        pools = [p for p in self._pools(request) if self._room(p, request) >= request.slots]
        if not pools:
            return None
        pool = min(pools, key=lambda pool: self._preference(pool, request))
        chosen = list(self._pick(pool, request))
        for taskmanager, slot in chosen:
            if slot in self._free[taskmanager]:
                self._free[taskmanager].remove(slot)
        first = [taskmanager for taskmanager, _ in chosen]
        home = request.previous if request.previous in first else first[0]
        return Grant(home, tuple(slot for _, slot in chosen))

    def refuse(self, request: Request) -> Refusal:
        """Say why, and keep for it what it waits for."""
        pools = self._pools(request)
        large = [pool for pool in pools if sum(o.slots for o in pool) >= request.slots]
        reason = self._why_not(request, pools, large)
        mine = [p for p in large if not all(o.taskmanager in self._kept for o in p)]
        if mine:
            best = max(mine, key=lambda p: (self._room(p, request), -p[0].taskmanager))
            self._kept |= {offer.taskmanager for offer in best}
        return Refusal(reason, bool(large))

    def _pools(self, request: Request) -> list[list[Offer]]:
        """The TaskManagers whose slots it could have together."""
        pools: dict[object, list[Offer]] = {}
        for offer in self._for(request):
            pool = "" if request.anywhere else offer.pool or offer.taskmanager
            pools.setdefault(pool, []).append(offer)
        return list(pools.values())

    def _for(self, request: Request) -> list[Offer]:
        return [o for o in self._offers if request.only is None or o.taskmanager in request.only]

    def _usable(self, offer: Offer, request: Request) -> list[int]:
        """Those that it holds first."""
        free = [] if offer.taskmanager in self._kept else self._free[offer.taskmanager]
        return [*request.holds.get(offer.taskmanager, ()), *free]

    def _room(self, pool: Sequence[Offer], request: Request) -> int:
        return sum(len(self._usable(offer, request)) for offer in pool)

    def _preference(self, pool: Sequence[Offer], request: Request) -> tuple[float, ...]:
        """Least first: what it holds, then where it was, then as the balance says."""
        held = sum(len(request.holds.get(o.taskmanager, ())) for o in pool)
        back = any(o.taskmanager == request.previous for o in pool)
        room, exist = self._room(pool, request), sum(o.slots for o in pool)
        order = -room / exist if self._balance is Balance.SLOTS else room
        return (-min(held, request.slots), not back, order, pool[0].taskmanager)

    def _pick(self, pool: Sequence[Offer], request: Request) -> Iterator[tuple[int, int]]:
        """As many (TaskManager, slot) as it needs: those it holds, then from as few TaskManagers
        as possible, or from each in turn the one with the greatest share left."""
        left = {o: self._usable(o, request) for o in pool}
        held = {slot for slots in request.holds.values() for slot in slots}
        needed = request.slots
        while needed:
            offer = min(
                (o for o in pool if left[o]),
                key=lambda o: (
                    left[o][0] not in held,
                    *self._turn(o, len(left[o]), needed, request),
                ),
            )
            many = 1 if self._balance is Balance.SLOTS else min(needed, len(left[offer]))
            yield from ((offer.taskmanager, slot) for slot in left[offer][:many])
            del left[offer][:many]
            needed -= many

    def _turn(self, offer: Offer, left: int, needed: int, request: Request) -> tuple[float, ...]:
        away = offer.taskmanager != request.previous
        if self._balance is Balance.SLOTS:
            return (-left / offer.slots, away, offer.taskmanager)
        enough = left >= needed
        return (not enough, away, left if enough else -left, offer.taskmanager)

    # --- why not

    def _why_not(
        self, request: Request, pools: Sequence[Sequence[Offer]], large: Sequence[Sequence[Offer]]
    ) -> str:
        offers = self._for(request)
        wants = f"needs {request.slots} slot{'s' if request.slots > 1 else ''}"
        if request.only_why:
            wants += f" {request.only_why}"
        drained = self._drained_for(request)
        if not offers and drained:
            return f"{wants}; {drained}. The job waits until one is undrained or registers."
        if not offers:
            which = "no TaskManager is registered there" if request.only_why else _NOBODY
            return f"{wants}; {which}. The job waits and starts when one is."
        exist = sum(offer.slots for offer in offers)
        free = sum(len(self._free[offer.taskmanager]) for offer in offers)
        has = f"{exist} exist{'s' if exist == 1 else ''}, {free} free"
        also = f"; {drained}" if drained else ""
        if exist < request.slots:
            then = "TaskManagers with more slots register"
            return f"{wants}; {has}{also}. {_CANNOT}: the job waits until {then}."
        if not large:
            best = max(pools, key=lambda pool: sum(o.slots for o in pool))
            most = f"the largest ({best[0].name}) has {sum(o.slots for o in best)}"
            then = f"one with {request.slots} slots registers"
            has += f", {most}{also}"
            return f"{wants} on one TaskManager; {has}. {_CANNOT}: it waits until {then}."
        if any(self._room_for_all(pool, request) >= request.slots for pool in large):
            return f"{wants}; {has}, kept for jobs before it. It waits until those have theirs."
        if free >= request.slots:
            return f"{wants} on one TaskManager; {has} on several. It waits until one has them."
        return f"{wants}; {has}{also}. The job waits until other jobs free theirs."

    def _drained_for(self, request: Request) -> str:
        """In words: those that could have it, were they not drained."""
        names = [
            name
            for taskmanager, name in self._drained.items()
            if request.only is None or taskmanager in request.only
        ]
        if len(names) > 1:
            return f"{len(names)} TaskManagers are drained ({names[0]} is one)"
        return f"TaskManager {names[0]} is drained" if names else ""

    def _room_for_all(self, pool: Sequence[Offer], request: Request) -> int:
        """As if nothing were kept."""
        held = sum(len(request.holds.get(o.taskmanager, ())) for o in pool)
        return held + sum(len(self._free[o.taskmanager]) for o in pool)
