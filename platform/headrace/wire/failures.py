"""Causes of failed attempts, and which of them are worth another attempt.

Not worth one is what another attempt would meet again, or what going on could lose or double data
for. Everything else is left to the job's restart strategy.
"""

from __future__ import annotations

import enum
from typing import Self


class Cause(enum.StrEnum):
    """Why an attempt failed. `final` says why no other follows; "" when one may."""

    final: str

    def __new__(cls, name: str, final: str = "") -> Self:
        member = str.__new__(cls, name)
        member._value_ = name
        member.final = final
        return member

    PROGRAM = "program", "its program failed before the job ran, and would again; correct it"
    MISSING = "missing", "something that it names is not there; create it or correct the name"
    SETTINGS = "settings", "its settings cannot be used; correct them"
    CHECKPOINT = (
        "checkpoint",
        "program and checkpoint do not fit together; restore the earlier program, or submit it "
        "as a new job",
    )
    IN_DOUBT = (
        "in-doubt",
        "going on could lose records or write them twice; the error says what to look into",
    )
    IN_USE = "in-use", "what it writes with belongs to another job; give it names of its own"
    SUPERSEDED = "superseded", "a later version of the job has committed output since"
    FINAL = "final", "another attempt would meet the same error"

    #: A function of the program, or anything else of the running job.
    RUNNING = "running"
    #: It took more memory than its slots have.
    MEMORY = "memory"
    #: A broker, a database or another server does not answer.
    UNREACHABLE = "unreachable"
    #: Another driver has taken over the job's sinks.
    FENCED = "fenced"
    #: The driver's process ended and said nothing.
    DIED = "died"
    #: The driver lived and did nothing; it was killed.
    HUNG = "hung"
    #: Its TaskManager is not heard from, and the job moved on.
    LOST = "lost"
    #: There was no driver to begin with.
    NOT_LAUNCHED = "not-launched"

    @property
    def restartable(self) -> bool:
        return not self.final

    @classmethod
    def of(cls, name: str, *, restartable: bool) -> Cause:
        """By name; of a driver that names none, or one that is not known here, what it says of
        `restartable` counts."""
        fallback = cls.RUNNING if restartable else cls.FINAL
        found = cls.__members__.get(name.upper().replace("-", "_"), fallback)
        return found if found.restartable == restartable else fallback
