"""Flink's REST API: its addresses, words and status codes, for what this cluster has to tell."""
