"""PyFlink's `pyflink.datastream.connectors`."""

from headrace.datastream.connectors.base import DeliveryGuarantee, Sink, Source

__all__ = ["DeliveryGuarantee", "Sink", "Source"]
