"""What all connectors share; PyFlink's `pyflink.datastream.connectors.base`."""

from headrace.connectors.kafka.settings import DeliveryGuarantee

__all__ = ["DeliveryGuarantee", "Sink", "Source"]


class Source:
    """Base of what `from_source` takes."""


class Sink:
    """Base of what `sink_to` takes."""
