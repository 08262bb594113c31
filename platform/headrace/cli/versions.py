"""versions, upgrade, rescale: what a job is made of, and its way to something else."""

from __future__ import annotations

import argparse
import json
import time
from collections.abc import Mapping
from datetime import datetime
from typing import Any

from headrace.cli.client import Client
from headrace.cli.exits import Exit, Failure
from headrace.cli.programs import read_program
from headrace.cli.terminal import Terminal
from headrace.cli.waiting import POLL_SECONDS, Waiting

_WORDS = {
    "STOPPING": "the job runs until its savepoint is complete",
    "STARTING": "the new version is being started from the savepoint",
    "REVERTING": "the version before is being started again from where it stopped",
}


def versions(options: argparse.Namespace, client: Client, terminal: Terminal) -> Exit:
    if options.diff is not None:
        return _difference(options, client, terminal)
    rows = list(client.versions(options.job))
    terminal.result("\n".join(map(_row, rows)), {"versions": rows})
    return Exit.DONE


def upgrade(options: argparse.Namespace, client: Client, terminal: Terminal) -> Exit:
    wishes = _wishes(options)
    if options.file is None:
        if options.arguments:
            raise Failure(
                "upgrade: options stand before the job, the program's arguments behind its file",
                Exit.USAGE,
            )
        asked = client.upgrade(options.job, wishes)
    else:
        if "configuration" in wishes:
            wishes["configuration"] = json.dumps(wishes["configuration"])
        asked = client.upgrade_to(options.job, read_program(options.file), wishes)
    return _follow(asked, options, client, terminal)


def rescale(options: argparse.Namespace, client: Client, terminal: Terminal) -> Exit:
    asked = client.rescale(options.job, options.parallelism)
    return _follow(asked, options, client, terminal)


def _wishes(options: argparse.Namespace) -> dict[str, object]:
    settings = {**dict(options.settings), **dict.fromkeys(options.remove)}
    given = {
        "version": options.to,
        "arguments": options.arguments or None,
        "parallelism": options.parallelism,
        "configuration": settings or None,
        "reason": options.reason,
        "directory": options.savepointPath,
        "allow_non_restored_state": options.allowNonRestoredState or None,
    }
    return {name: value for name, value in given.items() if value is not None}


def _follow(
    asked: Mapping[str, Any], options: argparse.Namespace, client: Client, terminal: Terminal
) -> Exit:
    """Unless detached, until the upgrade has ended."""
    job_id, number = asked["job"], asked["after"]
    if options.detached:
        terminal.result(f"Asked for: job {job_id} to version {number}.", asked)
        return Exit.DONE
    try:
        ended = _ended(asked, client, terminal)
    except KeyboardInterrupt:
        terminal.say(f"The upgrade goes on; see: headrace versions {job_id}")
        return Exit.INTERRUPTED
    return _told(ended, client, terminal)


def _ended(asked: Mapping[str, Any], client: Client, terminal: Terminal) -> Mapping[str, Any]:
    waiting, row, said = Waiting(client, terminal), asked, ""
    begun = time.monotonic()
    while True:
        if row["state"] != said:
            said = row["state"]
            words = f": {_WORDS[said]}" if said in _WORDS else ""
            terminal.say(f"{time.strftime('%H:%M:%S')} {said}{words}")
        if said not in _WORDS:
            return row
        terminal.progress(f"{said}: {time.monotonic() - begun:.0f} s")
        time.sleep(POLL_SECONDS)
        row = waiting.answer(lambda: client.upgrade_state(asked["job"], asked["id"]))


def _told(row: Mapping[str, Any], client: Client, terminal: Terminal) -> Exit:
    why = f": {row['failure']}" if row["failure"] else ""
    match row["state"]:
        case "DONE":
            terminal.result(f"Job {row['job']} is version {row['after']} now{why}.", row)
            return Exit.DONE
        case "REVERTED":
            text = f"Version {row['after']} did not start{why}"
            terminal.result(f"{text}\nJob {row['job']} is version {row['before']} again.", row)
            return Exit.REFUSED
        case _:
            job = client.job(row["job"])
            text = f"Job {row['job']} was not upgraded{why}"
            terminal.result(f"{text}\nIt is version {job['version']}, {job['state']}.", row)
            return Exit.JOB_FAILED if job["state"] == "FAILED" else Exit.REFUSED


def _difference(options: argparse.Namespace, client: Client, terminal: Terminal) -> Exit:
    before, after = options.diff
    found = client.version_difference(options.job, before, after)
    lines = [found["code"].rstrip("\n")] if found["code"] else []
    for name in ("arguments", "parallelism"):
        if found[name] is not None:
            lines += [f"- {name}: {found[name][0]}", f"+ {name}: {found[name][1]}"]
    for key, values in found["configuration"].items():
        marked = zip("-+", values, strict=True)
        lines += [f"{mark} {key}: {value}" for mark, value in marked if value is not None]
    terminal.result("\n".join(lines) or "Nothing differs.", found)
    return Exit.DONE


def _row(row: Mapping[str, Any]) -> str:
    made = datetime.fromisoformat(row["created_at"]).astimezone()
    mark = "*" if row["current"] else " "
    why = f", {row['reason']}" if row["reason"] else ""
    return (
        f"{mark} {row['number']:>3} : {made:%Y-%m-%d %H:%M:%S} : {row['entry_name']} "
        f"{row['artifact_sha256'][:12]}, parallelism {row['parallelism']} "
        f"(by {row['created_by_name']}{why})"
    )
