"""PyFlink's `pyflink.common.input_dependency_constraint`."""

from __future__ import annotations

from enum import Enum


class InputDependencyConstraint(Enum):
    """When a task may start; without effect, as all stages of a micro-batch run in order."""

    ANY = 0
    ALL = 1
