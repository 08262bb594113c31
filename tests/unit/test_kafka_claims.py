"""When a job may take a transactional id prefix, decided without a cluster."""

from __future__ import annotations

from dataclasses import replace

import pytest

from headrace.connectors.kafka import errors
from headrace.connectors.kafka.claims import Claims
from headrace.connectors.twophase import claims
from headrace.connectors.twophase.claims import Claim, Verdict, Watch
from headrace.connectors.twophase.ownership import Identity

ADA = Identity("ada", "/checkpoints/ada")
BOB = Identity("bob", "/checkpoints/bob")
LEASE = claims.SHORTEST_LEASE_SECONDS


class Shelf:
    """A register in memory."""

    def __init__(self) -> None:
        self.notes: dict[str, str] = {}

    def read_notes(self, topic: str, groups: object) -> dict[str, str]:
        return dict(self.notes)

    def write_notes(self, topic: str, notes: dict[str, str]) -> None:
        self.notes.update(notes)


@pytest.fixture
def shelf() -> Shelf:
    return Shelf()


def of(shelf: Shelf, prefix: str = "etl", sink: str = "out") -> Claims:
    return Claims(shelf, "markers", prefix, f"{prefix}-{sink}")


def test_a_name_that_nobody_holds_is_taken() -> None:
    watch = Watch(Claim.of(ADA))
    assert watch.look(None, 0.0) is Verdict.TAKE
    assert watch.look(Claim.of(ADA), 0.0) is Verdict.TAKE
    assert watch.look(replace(Claim.of(BOB), released=True), 0.0) is Verdict.TAKE


def test_another_jobs_claim_is_watched_for_its_lease_and_no_longer() -> None:
    watch, claim = Watch(Claim.of(ADA)), Claim.of(BOB)
    # Its own time does not matter: Bob's clock may be days ahead or behind.
    claim = replace(claim, at=0)
    assert watch.look(claim, 100.0) is Verdict.WAIT
    assert watch.look(claim, 100.0 + LEASE - 0.1) is Verdict.WAIT
    assert watch.look(claim, 100.0 + LEASE) is Verdict.TAKE


def test_a_claim_that_is_renewed_is_respected() -> None:
    watch = Watch(Claim.of(ADA))
    assert watch.look(Claim.of(BOB), 0.0) is Verdict.WAIT
    assert watch.look(Claim.of(BOB), 1.0) is Verdict.REFUSE


def test_a_claim_that_is_given_back_meanwhile_is_free() -> None:
    watch, claim = Watch(Claim.of(ADA)), Claim.of(BOB)
    assert watch.look(claim, 0.0) is Verdict.WAIT
    assert watch.look(replace(claim, released=True), 1.0) is Verdict.TAKE


def test_a_copy_of_a_checkpoint_is_another_job() -> None:
    copy = Identity(ADA.job, "/checkpoints/copy")
    assert Watch(Claim.of(copy)).look(Claim.of(ADA), 0.0) is Verdict.WAIT


@pytest.mark.parametrize(("gap", "lease"), [(1, LEASE), (40, 80), (4000, 120), (-4000, LEASE)])
def test_a_job_with_rare_batches_claims_for_longer(gap: float, lease: float) -> None:
    last = Claim.of(ADA)
    renewed = replace(last, at=last.at + int(gap * 1000))
    assert renewed.after(last).lease_seconds == lease
    assert renewed.after(Claim.of(BOB)).lease_seconds == LEASE
    assert renewed.after(None).lease_seconds == LEASE


def test_taken_renewed_released(shelf: Shelf) -> None:
    of(shelf).take(ADA)
    of(shelf).renew(ADA)
    with pytest.raises(errors.PrefixInUse, match=r"prefix 'etl' belongs to .* /checkpoints/ada "):
        of(shelf).renew(BOB)
    of(shelf).release(BOB)
    with pytest.raises(errors.PrefixInUse):
        of(shelf).renew(BOB)
    of(shelf).release(ADA)
    of(shelf).take(BOB)
    with pytest.raises(errors.PrefixInUse):
        of(shelf).renew(ADA)


def test_two_prefixes_that_give_the_same_ids(shelf: Shelf) -> None:
    of(shelf, "etl-orders", "eu").take(ADA)
    with pytest.raises(errors.PrefixInUse, match=r"ids etl-orders-eu-\* belongs to"):
        of(shelf, "etl", "orders-eu").renew(BOB)


def test_of_two_that_claim_at_the_same_moment_one_stays(
    shelf: Shelf, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(claims, "SHORTEST_LEASE_SECONDS", 60.0)
    monkeypatch.setattr(claims, "POLL_SECONDS", 0.01)
    settled: list[float] = []

    def bob_was_as_fast(seconds: float) -> None:
        """Bob saw no claim either; he writes after Ada, and renews while she looks on."""
        settled.append(seconds)
        note = Claim.of(BOB).to_text()
        shelf.write_notes("markers", dict.fromkeys(shelf.notes, note))

    monkeypatch.setattr(claims, "sleep", bob_was_as_fast)
    with pytest.raises(errors.PrefixInUse, match="/checkpoints/bob"):
        of(shelf).take(ADA)
    assert settled[0] == claims.SETTLE_SECONDS


def test_what_is_no_claim_is_none() -> None:
    assert Claim.from_text(None) is None
    assert Claim.from_text("") is None
    assert Claim.from_text("lag-exporter") is None
    assert Claim.from_text("[]") is None
    longest = Claim.of(Identity("x", "/long" * 1000))
    assert Claim.from_text(longest.to_text()) == longest
    assert len(longest.to_text()) < 4096
