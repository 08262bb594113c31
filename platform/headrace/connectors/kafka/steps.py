"""The protocol's named points, by the name that they had when Kafka was the only sink."""

from headrace.connectors.twophase.steps import Step, listen, reached

__all__ = ["Step", "listen", "reached"]
