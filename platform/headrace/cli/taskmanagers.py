"""taskmanagers, drain, undrain."""

from __future__ import annotations

import argparse
import time
from collections.abc import Collection, Mapping
from typing import Any

from headrace.cli.client import Client
from headrace.cli.exits import Exit, Failure
from headrace.cli.terminal import Terminal
from headrace.cli.waiting import POLL_SECONDS, Waiting


def taskmanagers(options: argparse.Namespace, client: Client, terminal: Terminal) -> Exit:
    rows = list(client.taskmanagers())
    lines = [
        f"{row['name']} on {row['host']} : {_state(row)}, "
        f"{len(_held(row))} of {row['slots']} slots taken"
        for row in rows
    ]
    text = "\n".join(lines) if rows else "No TaskManagers."
    terminal.result(text, {"taskmanagers": rows})
    return Exit.DONE


def drain(options: argparse.Namespace, client: Client, terminal: Terminal) -> Exit:
    """Ask for it; unless detached, wait until it has no jobs left."""
    row = client.steer_taskmanager(options.name, "drain")
    if not options.detached:
        try:
            row = _emptied(options.name, client, terminal)
        except KeyboardInterrupt:
            terminal.say(f"It stays drained. It is taken back by: headrace undrain {options.name}")
            return Exit.INTERRUPTED
    jobs = {slot["job"] for slot in _held(row)}
    left = f"; {_to_move(jobs)}" if jobs else " and has no jobs: stop it now"
    terminal.result(f"TaskManager {options.name} is drained{left}.", row)
    return Exit.DONE


def undrain(options: argparse.Namespace, client: Client, terminal: Terminal) -> Exit:
    row = client.steer_taskmanager(options.name, "undrain")
    terminal.result(f"TaskManager {options.name} offers its slots again.", row)
    return Exit.DONE


def _emptied(name: str, client: Client, terminal: Terminal) -> dict[str, Any]:
    waiting, said = Waiting(client, terminal), {""}
    while True:
        row = waiting.answer(lambda: client.taskmanager(name))
        left = sorted({slot["job"] for slot in _held(row)})
        if row["drained_at"] is None:
            raise Failure(f"TaskManager {name} was undrained meanwhile", Exit.REFUSED)
        if not left:
            return row
        for job_id in left:
            job = waiting.answer(lambda: client.job(job_id))  # noqa: B023
            why = f"{job['name']} {job['waiting_for']}" if job["waiting_for"] else ""
            if why not in said:
                said.add(why)
                terminal.say(why)
        terminal.progress(_to_move(left))
        time.sleep(POLL_SECONDS)


def _to_move(jobs: Collection[str]) -> str:
    return f"{len(jobs)} of its jobs {'is' if len(jobs) == 1 else 'are'} to move"


def _state(row: Mapping[str, Any]) -> str:
    return f"{row['state']}, drained" if row["drained_at"] else str(row["state"])


def _held(row: Mapping[str, Any]) -> list[Mapping[str, Any]]:
    return [slot for slot in row["slot_set"] if slot["job"] is not None]
