"""The control plane as real processes, with the real driver."""

from tests.service.conftest import cluster

__all__ = ["cluster"]
