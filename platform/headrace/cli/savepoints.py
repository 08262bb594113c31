"""savepoint, stop, cancel -s."""

from __future__ import annotations

import argparse

from headrace.cli import values
from headrace.cli.client import Client
from headrace.cli.exits import Exit, Failure
from headrace.cli.terminal import Terminal
from headrace.cli.waiting import Waiting


def savepoint(options: argparse.Namespace, client: Client, terminal: Terminal) -> Exit:
    if options.dispose is not None:
        return _dispose(options, client, terminal)
    if options.job is None:
        raise Failure("savepoint: name the job, or with -d the savepoint to delete", Exit.USAGE)
    terminal.say(f"Triggering savepoint for job {options.job}.")
    wishes = {
        "target-directory": options.target,
        "cancel-job": False,
        "formatType": _format(options),
    }
    trigger = client.trigger_savepoint(options.job, wishes)
    return _follow(options, client, terminal, trigger)


def checkpoint(options: argparse.Namespace, client: Client, terminal: Terminal) -> Exit:
    terminal.say(f"Triggering checkpoint for job {options.job}.")
    wishes = {"checkpointType": "FULL" if options.full else None}
    trigger = client.trigger_checkpoint(options.job, wishes)
    if options.detached:
        values = {"job": options.job, "request-id": trigger}
        terminal.result(f"Checkpoint operation {trigger} is under way.", values)
        return Exit.DONE
    ask = lambda: client.checkpoint(options.job, trigger)  # noqa: E731
    number = Waiting(client, terminal).operation(ask, "checkpoint")["checkpointId"]
    values = {"job": options.job, "checkpoint": number}
    terminal.result(f"Checkpoint(FULL) {number} for job {options.job} completed.", values)
    return Exit.DONE


def stop(options: argparse.Namespace, client: Client, terminal: Terminal) -> Exit:
    drained = " drained" if options.drain else ""
    terminal.say(f"Stopping job {options.job}{drained} with a savepoint.")
    wishes = {
        "targetDirectory": options.savepointPath,
        "drain": options.drain,
        "formatType": _format(options),
    }
    return _follow(options, client, terminal, client.stop(options.job, wishes))


def cancel(options: argparse.Namespace, client: Client, terminal: Terminal) -> Exit:
    """As in Flink the job may stand where the directory of `-s` does."""
    target = options.withSavepoint
    if options.job is None:
        options.job, target = target, None
    options.job = _job_id(options.job)
    terminal.say(f"Cancelling job {options.job} with a savepoint.")
    wishes = {"target-directory": target or None, "cancel-job": True}
    return _follow(options, client, terminal, client.trigger_savepoint(options.job, wishes))


def _follow(options: argparse.Namespace, client: Client, terminal: Terminal, trigger: str) -> Exit:
    if options.detached:
        values = {"job": options.job, "request-id": trigger}
        terminal.result(f"Savepoint operation {trigger} is under way.", values)
        return Exit.DONE
    ask = lambda: client.savepoint(options.job, trigger)  # noqa: E731
    location = Waiting(client, terminal).operation(ask, "savepoint").get("location", "")
    terminal.result(
        f"Savepoint completed. Path: {location}", {"job": options.job, "location": location}
    )
    terminal.line("You can resume your program from this savepoint with the run command.")
    return Exit.DONE


def _dispose(options: argparse.Namespace, client: Client, terminal: Terminal) -> Exit:
    trigger = client.dispose(options.dispose)
    Waiting(client, terminal).operation(lambda: client.disposal(trigger), "disposal")
    terminal.result(f"Savepoint '{options.dispose}' disposed.", {"disposed": options.dispose})
    return Exit.DONE


def _format(options: argparse.Namespace) -> str | None:
    return options.type.upper() if options.type else None


def _job_id(text: str | None) -> str:
    try:
        return values.job_id(text or "")
    except argparse.ArgumentTypeError as error:
        raise Failure(f"cancel: {error}", Exit.USAGE) from error
