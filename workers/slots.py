"""Which slots a waiting job gets: all of what it needs at once, or none. No I/O."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Offer:
    """What a registered TaskManager has to give: ids of its slots that no other job holds."""

    taskmanager: int
    name: str
    slots: int
    free: tuple[int, ...]


@dataclass(frozen=True, slots=True)
class Grant:
    """The slots a job gets, and the TaskManager that launches its driver."""

    taskmanager: int
    slots: tuple[int, ...]


def choose(
    needed: int, offers: Sequence[Offer], *, together: bool, previous: int | None = None
) -> Grant | None:
    """`needed` slots, or None when there are not as many.

    `together`: all of one TaskManager, because the job runs inside its driver (`local[n]`).
    The TaskManager the job ran on before goes first, then the one where least stays free, so that
    big gaps remain for big jobs.
    """
    fitting = [offer for offer in offers if len(offer.free) >= needed]
    if fitting:
        best = min(fitting, key=lambda o: (o.taskmanager != previous, len(o.free), o.taskmanager))
        return Grant(best.taskmanager, best.free[:needed])
    if together or sum(len(offer.free) for offer in offers) < needed:
        return None
    order = sorted(offers, key=lambda o: (o.taskmanager != previous, -len(o.free), o.taskmanager))
    slots = [slot for offer in order for slot in offer.free]
    return Grant(order[0].taskmanager, tuple(slots[:needed]))


def why_not(needed: int, offers: Sequence[Offer], *, together: bool) -> str:
    """In a sentence for the page: what is missing, and whether waiting can help."""
    exist = sum(offer.slots for offer in offers)
    free = sum(len(offer.free) for offer in offers)
    wants = f"needs {needed} slot{'s' if needed > 1 else ''}"
    if not offers:
        return f"{wants}; no TaskManager is registered. The job waits and starts when one is."
    has = f"{exist} exist{'s' if exist == 1 else ''}, {free} free"
    if together and exist >= needed > max(offer.slots for offer in offers):
        largest = max(offers, key=lambda offer: offer.slots)
        return (
            f"{wants} on one TaskManager; {has}, the largest ({largest.name}) has "
            f"{largest.slots}. The job waits until one with {needed} slots registers."
        )
    if exist < needed:
        return f"{wants}; {has}. The job waits until TaskManagers with more slots register."
    if together and free >= needed:
        return f"{wants} on one TaskManager; {has} on several. The job waits until one has them."
    return f"{wants}; {has}. The job waits until other jobs free theirs."
