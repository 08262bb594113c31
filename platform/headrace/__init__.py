"""Headrace: Flink-style streaming jobs on Apache Spark."""

__version__ = "0.1.0"
