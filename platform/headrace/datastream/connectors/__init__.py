"""PyFlink's `pyflink.datastream.connectors`."""

from headrace.datastream.connectors.base import DeliveryGuarantee

__all__ = ["DeliveryGuarantee"]
