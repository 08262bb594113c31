"""Differences that are meant, or that are PyFlink's own mistakes: program -> why.

A program is here as a whole: what it holds beside the difference belongs into another one."""

INTENDED: dict[str, str] = {}
