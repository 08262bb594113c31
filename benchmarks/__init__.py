"""Measurements, side by side in one run. Nothing here is a test: numbers depend on the machine."""
