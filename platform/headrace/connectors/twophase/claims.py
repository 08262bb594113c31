"""One job per prefix: who uses the names that begin with it says so in the system it writes to, and
who would share them is refused before it ends the other's transactions.

A job claims its names when it starts, and renews the claims while it runs.

- The claim is this job's own, or released, or there is none: taken at once.
- It is another job's: watched until its lease has passed without a renewal, then taken over. Seen
  to be renewed, it is respected: `PrefixInUse`.
- It was this job's and is another's now, while this one runs: `PrefixInUse`.

Only renewals that this process sees count, so clocks may differ. A job is its checkpoint: the
identity kept in it, and where it is; so a copy of a checkpoint is another job. Two jobs that claim
at the same moment read what they have written again, and the later one stays.
"""

from __future__ import annotations

import json
import logging
import secrets
import socket
from collections.abc import Mapping
from dataclasses import asdict, dataclass, field, replace
from enum import Enum, auto
from time import monotonic, sleep, time
from typing import Protocol

from headrace.connectors.twophase import errors
from headrace.connectors.twophase.ownership import Identity

log = logging.getLogger(__name__)

#: Unrenewed for longer, a claim may be taken over: several renewals. A job with rare batches, and
#: so with rare renewals, claims for longer.
SHORTEST_LEASE_SECONDS = 15.0
LONGEST_LEASE_SECONDS = 120.0
POLL_SECONDS = 0.5
#: After which what was written at the same moment can be seen.
SETTLE_SECONDS = 0.5
#: Kafka keeps 4096 bytes of a claim.
_LONGEST_PATH = 1000


@dataclass(frozen=True, slots=True)
class Claim:
    """Who uses a name. `beat` is another one in each renewal."""

    job: str
    checkpoint: str
    host: str
    lease_seconds: float
    released: bool = False
    #: By the clock of the job's own host, ms since 1970.
    at: int = field(default_factory=lambda: int(time() * 1000))
    beat: str = field(default_factory=lambda: secrets.token_hex(4))

    @classmethod
    def of(cls, identity: Identity) -> Claim:
        place, host = identity.checkpoint[-_LONGEST_PATH:], socket.gethostname()
        return cls(identity.job, place, host, SHORTEST_LEASE_SECONDS)

    def is_of(self, other: Claim) -> bool:
        return (self.job, self.checkpoint) == (other.job, other.checkpoint)

    def after(self, last: Claim | None) -> Claim:
        """This claim with a lease that suits how often its job has renewed it."""
        if last is None or not last.is_of(self):
            return self
        lease = 2 * max(0.0, (self.at - last.at) / 1000)
        return replace(
            self, lease_seconds=min(LONGEST_LEASE_SECONDS, max(SHORTEST_LEASE_SECONDS, lease))
        )

    def to_text(self) -> str:
        return json.dumps(asdict(self), separators=(",", ":"))

    @classmethod
    def from_text(cls, text: str | None) -> Claim | None:
        """None for what is no claim."""
        try:
            return cls(**json.loads(text or ""))
        except (ValueError, TypeError):
            return None


class Register(Protocol):
    """Where claims are kept, each as a text with a name."""

    def read(self) -> Mapping[str, str]:
        """What was written last, of those that were; whoever wrote it."""

    def write(self, notes: Mapping[str, str]) -> None:
        """Seen by every later `read` of anybody."""


class Verdict(Enum):
    TAKE = auto()
    WAIT = auto()
    REFUSE = auto()


class Watch:
    """May a name be taken? Decides from one look at its claim after the other, without I/O."""

    def __init__(self, mine: Claim) -> None:
        self._mine = mine
        self._first: tuple[Claim, float] | None = None

    def look(self, found: Claim | None, now: float) -> Verdict:
        """`now` in seconds of a clock that never goes back."""
        if found is None or found.released or found.is_of(self._mine):
            return Verdict.TAKE
        if self._first is None:
            self._first = found, now
        seen, since = self._first
        if found != seen:
            return Verdict.REFUSE
        return Verdict.TAKE if now - since >= seen.lease_seconds else Verdict.WAIT


class Claims:
    """The names of one sink that no other job may use."""

    def __init__(self, register: Register, names: Mapping[str, str], kept: str = "") -> None:
        """`names`: what each text in the register claims, in words. `kept` says with such a name
        where it is kept."""
        self._register = register
        self._names = names
        self._kept = kept

    def take(self, identity: Identity) -> None:
        """At a job's start. May wait for a lease to pass. Raises `PrefixInUse`."""
        mine = Claim.of(identity)
        while True:
            found = self._wait_until_free(mine)
            self._write(mine, found)
            if all(each is not None and each.is_of(mine) for each in found.values()):
                return
            sleep(SETTLE_SECONDS)
            if all(each is not None and each.is_of(mine) for each in self._read().values()):
                return

    def renew(self, identity: Identity) -> None:
        """While a job runs. Raises `PrefixInUse` when another has taken a name over."""
        mine = Claim.of(identity)
        found = self._read()
        for name, claim in found.items():
            if claim is not None and not claim.released and not claim.is_of(mine):
                raise self._in_use(name, claim)
        self._write(mine, found)

    def release(self, identity: Identity) -> None:
        """At a job's end: the next job need not wait."""
        mine = Claim.of(identity)
        found = self._read()
        kept = [name for name, each in found.items() if each is not None and each.is_of(mine)]
        note = replace(mine, released=True).to_text()
        self._register.write(dict.fromkeys(kept, note))

    def _wait_until_free(self, mine: Claim) -> dict[str, Claim | None]:
        watches = {name: Watch(mine) for name in self._names}
        waited = False
        while True:
            found, now = self._read(), monotonic()
            verdicts = {name: watches[name].look(found[name], now) for name in found}
            for name, claim in found.items():
                if verdicts[name] is Verdict.REFUSE and claim is not None:
                    raise self._in_use(name, claim)
                if verdicts[name] is Verdict.WAIT and claim is not None and not waited:
                    waited = True
                    log.warning("%s; waiting whether it still runs", self._words(name, claim))
            if Verdict.WAIT not in verdicts.values():
                return found
            sleep(POLL_SECONDS)

    def _read(self) -> dict[str, Claim | None]:
        notes = self._register.read()
        return {name: Claim.from_text(notes.get(name)) for name in self._names}

    def _write(self, mine: Claim, found: dict[str, Claim | None]) -> None:
        self._register.write({name: mine.after(found[name]).to_text() for name in self._names})

    def _in_use(self, name: str, claim: Claim) -> errors.PrefixInUse:
        return errors.PrefixInUse(
            f"{self._words(name, claim)}; its claim is kept as {self._kept}{name}"
        )

    def _words(self, name: str, claim: Claim) -> str:
        return (
            f"{self._names[name]} belongs to the job with checkpoint {claim.checkpoint} on host "
            f"{claim.host}"
        )
