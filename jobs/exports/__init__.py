"""Figures on their way to other systems: Prometheus asks for them, receivers get them pushed."""
