"""The other verbs: list, cancel, suspend, resume, restart, logs, checkpoints."""

from __future__ import annotations

import argparse
import json
import sys
import time
from collections.abc import Callable, Mapping
from datetime import datetime
from typing import Any

from headrace.cli import exits, programs, savepoints, schedules, taskmanagers, values, versions
from headrace.cli.client import Client
from headrace.cli.exits import Exit, Failure
from headrace.cli.terminal import Terminal
from headrace.cli.waiting import ENDED, POLL_SECONDS, Waiting

RUNNING = ("RUNNING", "RESTARTING", "RECONCILING", "FAILING", "CANCELLING")
SCHEDULED = ("INITIALIZING", "CREATED")

#: What a verb leads to, and what is said then.
_GOALS = {
    "cancel": (("CANCELED",), "Cancelled"),
    "suspend": (("SUSPENDED",), "Suspended"),
    "resume": (("RUNNING",), "Resumed"),
    "restart": (("RUNNING",), "Restarted"),
}


def listed(options: argparse.Namespace, client: Client, terminal: Terminal) -> Exit:
    both = not options.running and not options.scheduled
    groups: list[tuple[str, tuple[str, ...]]] = []
    if options.running or both or options.all:
        groups.append(("Running/Restarting Jobs", RUNNING))
    if options.scheduled or both or options.all:
        groups.append(("Scheduled/Initializing Jobs", SCHEDULED))
    if options.all:
        groups.append(("Terminated Jobs", ENDED))
    states = [state for _, names in groups for state in names]
    jobs = sorted(client.jobs(states), key=lambda job: str(job["created_at"]))
    lines = []
    for title, names in groups:
        rows = [_row(job) for job in jobs if job["state"] in names]
        head = f"{f' {title} ':-^70}"
        lines += [head, *rows, "-" * 70] if rows else [f"No {title.lower()}."]
    terminal.result("\n".join(lines), {"jobs": jobs})
    return Exit.DONE


def _row(job: Mapping[str, Any]) -> str:
    started = datetime.fromisoformat(job["started_at"] or job["created_at"])
    when = started.astimezone().strftime("%d.%m.%Y %H:%M:%S")
    why = f", {job['waiting_for']}" if job["waiting_for"] else ""
    return f"{when} : {job['id']} : {job['name']} ({job['state']}{why})"


def cancel(options: argparse.Namespace, client: Client, terminal: Terminal) -> Exit:
    if options.withSavepoint is not None:
        return savepoints.cancel(options, client, terminal)
    try:
        options.job = values.job_id(options.job or "")
    except argparse.ArgumentTypeError as error:
        raise Failure(f"cancel: {error}", Exit.USAGE) from error
    return steer(options, client, terminal)


def steer(options: argparse.Namespace, client: Client, terminal: Terminal) -> Exit:
    """Ask for it; unless detached, wait for what it leads to."""
    goal, word = _GOALS[options.verb]
    before = client.job(options.job)
    job = client.steer(options.job, options.verb)
    if options.detached:
        terminal.result(f"Asked for: {options.verb} job {options.job}.", job)
        return Exit.DONE
    if options.verb == "restart" and before["state"] == "RUNNING":
        _await_other_attempt(before, client, terminal)
    job = Waiting(client, terminal).job(options.job, goal)
    if job["state"] in goal:
        terminal.result(f"{word} job {options.job}.", job)
        return Exit.DONE
    terminal.result(f"Job {options.job} is {job['state']} instead.", job)
    return exits.of(job["state"])


def _await_other_attempt(before: Mapping[str, Any], client: Client, terminal: Terminal) -> None:
    """Until the attempt that ran is not the current one any more."""
    waiting = Waiting(client, terminal)
    while True:
        job = waiting.answer(lambda: client.job(before["id"]))
        if job["current_attempt"] != before["current_attempt"] or job["state"] in ENDED:
            return
        time.sleep(POLL_SECONDS)


def logs(options: argparse.Namespace, client: Client, terminal: Terminal) -> Exit:
    """The end of the log; with -f also what comes, of later attempts too."""
    waiting = Waiting(client, terminal)
    attempt, offset = options.attempt, None
    while True:
        job = waiting.answer(lambda: client.job(options.job)) if options.follow else None
        piece = waiting.answer(lambda: client.log(options.job, attempt, offset))  # noqa: B023
        if piece["text"]:
            _write(piece, terminal)
        if piece["end"] < piece["size"] and options.follow:
            attempt, offset = piece["attempt"], piece["end"]
            continue
        if job is None:
            return Exit.DONE
        current = job["current_attempt"]
        if options.attempt is None and current is not None and current != piece["attempt"]:
            attempt, offset = current, 0
            continue
        if job["state"] in ENDED or (options.attempt is not None and current != options.attempt):
            return Exit.DONE
        if piece["attempt"] is not None:
            attempt, offset = piece["attempt"], piece["end"]
        time.sleep(POLL_SECONDS)


def _write(piece: Mapping[str, Any], terminal: Terminal) -> None:
    if terminal.as_json:
        print(json.dumps({"attempt": piece["attempt"], "text": piece["text"]}), flush=True)
    else:
        sys.stdout.write(piece["text"])
        sys.stdout.flush()


def checkpoints(options: argparse.Namespace, client: Client, terminal: Terminal) -> Exit:
    rows = client.checkpoints(options.job, options.number)
    lines = [
        f"{'id':>10} {'completed':<19} {'ms':>8} {'records':>10} {'state bytes':>12} {'tx':>4}"
    ]
    for row in rows:
        completed = datetime.fromisoformat(row["completed_at"]).astimezone()
        lines.append(
            f"{row['checkpoint_id']:>10} {completed:%Y-%m-%d %H:%M:%S} {row['duration']:>8} "
            f"{row['records_in']:>10} {row['state_size']:>12} {row['transactions']:>4}"
        )
    text = "\n".join(lines) if rows else "No checkpoints yet."
    terminal.result(text, {"checkpoints": rows})
    return Exit.DONE


Verb = Callable[[argparse.Namespace, Client, Terminal], Exit]

VERBS: Mapping[str, Verb] = {
    "run": programs.run,
    "info": programs.info,
    "list": listed,
    "savepoint": savepoints.savepoint,
    "checkpoint": savepoints.checkpoint,
    "stop": savepoints.stop,
    "cancel": cancel,
    "suspend": steer,
    "resume": steer,
    "restart": steer,
    "versions": versions.versions,
    "upgrade": versions.upgrade,
    "rescale": versions.rescale,
    "logs": logs,
    "checkpoints": checkpoints,
    "schedules": schedules.schedules,
    "taskmanagers": taskmanagers.taskmanagers,
    "drain": taskmanagers.drain,
    "undrain": taskmanagers.undrain,
}
