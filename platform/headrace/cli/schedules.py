"""run --at, run --cron, schedules: jobs that start later, or again and again."""

from __future__ import annotations

import argparse
from collections.abc import Mapping
from datetime import datetime
from typing import Any

from headrace.cli.client import Client
from headrace.cli.exits import Exit, Failure
from headrace.cli.terminal import Terminal


def wanted(options: argparse.Namespace) -> dict[str, object]:
    """When a program is to be run; empty: now. Raises Failure."""
    times = {"at": options.at, "cron": options.cron}
    how = {"time_zone": options.timeZone, "grace": options.grace}
    given = {name: value for name, value in {**times, **how}.items() if value is not None}
    if given and not times.keys() & given.keys():
        raise Failure("run: --timeZone and --grace go with --cron and --at", Exit.USAGE)
    return given


def told(row: Mapping[str, Any], terminal: Terminal) -> Exit:
    terminal.result(f"Schedule {row['id']}: first run {_moment(row['next_run_at'])}.", row)
    return Exit.DONE


def schedules(options: argparse.Namespace, client: Client, terminal: Terminal) -> Exit:
    if options.runs is not None:
        return _runs(options.runs, client, terminal)
    if options.delete is not None:
        client.delete_schedule(options.delete)
        terminal.result(f"Schedule {options.delete} is deleted.", {"deleted": options.delete})
        return Exit.DONE
    for verb in ("pause", "resume"):
        if (schedule_id := getattr(options, verb)) is not None:
            row = client.steer_schedule(schedule_id, verb)
            terminal.result(_line(row), row)
            return Exit.DONE
    rows = list(client.schedules())
    text = "\n".join(map(_line, rows)) if rows else "No schedules."
    terminal.result(text, {"schedules": rows})
    return Exit.DONE


def _runs(schedule_id: str, client: Client, terminal: Terminal) -> Exit:
    rows = client.scheduled_runs(schedule_id)
    lines = []
    for row in rows:
        rest = ", ".join(filter(None, (row["job"], row["why"])))
        lines.append(f"{_moment(row['planned_at'])} : {row['outcome']:<8} {rest}".rstrip())
    terminal.result("\n".join(lines) if rows else "No runs yet.", {"runs": rows})
    return Exit.DONE


def _line(row: Mapping[str, Any]) -> str:
    when = f"{row['cron']}, {row['time_zone']}" if row["cron"] else "once"
    following = "paused" if row["paused_at"] else f"next {_moment(row['next_run_at'])}"
    return f"{row['id']} : {row['name']} ({when}; {following})"


def _moment(text: str | None) -> str:
    """On the clock of whoever reads it."""
    if text is None:
        return "none"
    return datetime.fromisoformat(text).astimezone().strftime("%Y-%m-%d %H:%M:%S %z")
