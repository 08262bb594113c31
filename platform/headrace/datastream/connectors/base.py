"""What all connectors share; PyFlink's `pyflink.datastream.connectors.base`."""

from headrace.connectors.kafka.settings import DeliveryGuarantee
from headrace.connectors.twophase.sink import (
    ClaimPlace,
    InvokeContext,
    OutcomeUnknown,
    TransactionContext,
    TransactionLost,
    TwoPhaseCommitSink,
)

__all__ = [
    "ClaimPlace",
    "DeliveryGuarantee",
    "InvokeContext",
    "OutcomeUnknown",
    "Sink",
    "Source",
    "TransactionContext",
    "TransactionLost",
    "TwoPhaseCommitSink",
]


class Source:
    """Base of what `from_source` takes."""


class Sink:
    """Base of what `sink_to` takes, beside `TwoPhaseCommitSink`."""
