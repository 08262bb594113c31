"""Drivers as processes for the tests of this folder."""

from tests.driving import drive

__all__ = ["drive"]
