"""What a Kafka sink tells the operator about its claim."""

from __future__ import annotations

from typing import NoReturn

import pytest

from headrace.connectors.kafka import coordinator, errors
from headrace.connectors.kafka.participant import KafkaParticipant
from headrace.connectors.kafka.settings import DeliveryGuarantee, SinkSettings
from headrace.connectors.twophase.ownership import Identity


def test_forbidden_claims_are_told_once(
    monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    def forbidden(*_: object) -> NoReturn:
        raise errors.CommitRefused("GROUP_AUTHORIZATION_FAILED")

    monkeypatch.setattr(coordinator.Coordinator, "read_notes", forbidden)
    guarantee = DeliveryGuarantee.EXACTLY_ONCE
    settings = SinkSettings("out", "broker:9092", "topic", guarantee, "no-claims-allowed")
    for _ in range(3):
        KafkaParticipant(settings).hold(Identity("job", "/checkpoint"), starting=False)
    told = [each for each in caplog.records if "not checked whether" in each.getMessage()]
    assert len(told) == 1
