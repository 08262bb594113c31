"""What values of options look like."""

from __future__ import annotations

import argparse
import re

_ID = re.compile(r"[0-9a-fA-F]{32}")


def job_id(text: str) -> str:
    if not _ID.fullmatch(text):
        raise argparse.ArgumentTypeError(f"{text!r} is no job id: 32 hex digits, see `list`")
    return text.lower()


def setting(text: str) -> tuple[str, str]:
    key, equals, value = text.partition("=")
    if not equals or not key.strip():
        raise argparse.ArgumentTypeError(f"{text!r} is not of the form key=value")
    return key.strip(), value


def positive(text: str) -> int:
    if not text.isdecimal() or int(text) < 1:
        raise argparse.ArgumentTypeError(f"{text!r} is no number from 1 on")
    return int(text)


def schedule_id(text: str) -> str:
    if not _ID.fullmatch(text):
        raise argparse.ArgumentTypeError(f"{text!r} is no schedule's id: see `schedules`")
    return text.lower()
