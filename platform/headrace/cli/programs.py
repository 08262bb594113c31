"""run and info: what is done with a program."""

from __future__ import annotations

import argparse
import json
import subprocess
import sys
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from headrace.cli import exits, schedules
from headrace.cli.client import Client
from headrace.cli.exits import Exit, Failure
from headrace.cli.terminal import Terminal
from headrace.cli.waiting import Waiting
from headrace.wire import packages


def run(options: argparse.Namespace, client: Client, terminal: Terminal) -> Exit:
    """Submit; then, unless detached or for later, stay until the job has ended."""
    when = schedules.wanted(options)
    if when:
        return _later(options, client, terminal, when)
    job = client.submit(read_program(options.file), _submission(options))
    job_id = job["id"]
    if options.detached:
        terminal.result(f"Job has been submitted with JobID {job_id}", job)
        return Exit.DONE
    terminal.line(f"Job has been submitted with JobID {job_id}")
    if terminal.as_json:
        terminal.say(f"submitted, {job_id}")
    try:
        ended = Waiting(client, terminal).job(job_id)
    except KeyboardInterrupt:
        return _interrupted(options, client, terminal, job_id)
    return _told(ended, client, terminal)


def _later(
    options: argparse.Namespace, client: Client, terminal: Terminal, when: dict[str, object]
) -> Exit:
    if options.fromSavepoint is not None or options.shutdownOnAttachedExit:
        raise Failure(
            "run: -s and -sae do not go with --at and --cron; name the savepoint by "
            "-D execution.state-recovery.path=PATH",
            Exit.USAGE,
        )
    row = client.schedule(read_program(options.file), {**_submission(options), **when})
    return schedules.told(row, terminal)


def _submission(options: argparse.Namespace) -> dict[str, object]:
    settings = _settings(options)
    return {
        "name": settings.get("pipeline.name", ""),
        "arguments": options.arguments,
        "parallelism": options.parallelism,
        "configuration": json.dumps(settings),
        "team": options.team,
        **_beginning(options),
    }


def _settings(options: argparse.Namespace) -> dict[str, str]:
    """`-c` is the setting that says what of an archive is run."""
    named = {packages.ENTRY_CLASS: options.entry_class} if options.entry_class else {}
    return {**dict(options.settings), **named}


def _beginning(options: argparse.Namespace) -> dict[str, object]:
    """What the job begins with."""
    how = {
        "claim_mode": options.claimMode and options.claimMode.upper(),
        "allow_non_restored_state": options.allowNonRestoredState,
        "beside": options.beside,
    }
    given = {name: value for name, value in how.items() if value}
    if options.fromSavepoint is not None:
        return {"savepoint_path": options.fromSavepoint, **given}
    if given:
        raise Failure("run: -n, -cm and --beside say how -s restores: name a savepoint", Exit.USAGE)
    return {}


def read_program(name: str) -> tuple[str, bytes]:
    """Its name and content, as the server is sent them. Raises Failure."""
    path = Path(name)
    try:
        return path.name, path.read_bytes()
    except OSError as error:
        raise Failure(f"the program cannot be read: {error}", Exit.USAGE) from error


def _interrupted(
    options: argparse.Namespace, client: Client, terminal: Terminal, job_id: str
) -> Exit:
    """With -sae the job is cancelled and its end waited for; a second interrupt leaves it."""
    if not options.shutdownOnAttachedExit:
        terminal.say(f"The job goes on. It is ended by: headrace cancel {job_id}")
        return Exit.INTERRUPTED
    terminal.say(f"Cancelling job {job_id}.")
    try:
        client.steer(job_id, "cancel")
        Waiting(client, terminal).job(job_id)
    except KeyboardInterrupt:
        terminal.say(f"Cancelling was asked for; see: headrace list -a | grep {job_id}")
    return Exit.INTERRUPTED


def _told(job: Mapping[str, Any], client: Client, terminal: Terminal) -> Exit:
    match job["state"]:
        case "FINISHED":
            text = f"Program execution finished\nJob with JobID {job['id']} has finished."
        case "FAILED":
            failures = client.failures(job["id"], 1)
            why = failures[0]["message"] if failures else "no reason was recorded"
            text = f"Job {job['id']} has failed: {why}"
            terminal.say(f"Its log: headrace logs {job['id']}")
        case "SUSPENDED":
            text = f"Job {job['id']} is suspended. It goes on by: headrace resume {job['id']}"
        case _:
            text = f"Job {job['id']} was cancelled."
    terminal.result(text, job)
    return exits.of(job["state"])


def info(options: argparse.Namespace, client: Client, terminal: Terminal) -> Exit:
    """The program runs here, as far as to its `execute`: nothing is started or asked."""
    file = Path(options.file)
    if not file.is_file():
        raise Failure(f"there is no file {options.file}", Exit.USAGE)
    settings = json.dumps(_settings(options))
    command = [sys.executable, "-m", "headrace.runtime.show_plan", str(options.parallelism)]
    done = subprocess.run(
        [*command, settings, str(file), *options.arguments],
        stdout=subprocess.PIPE,
        text=True,
        check=False,
    )
    if done.returncode:
        raise Failure(f"{file.name} has no plan: see above", Exit.REFUSED)
    plan = json.loads(done.stdout.splitlines()[-1])
    terminal.result(_words(plan), plan)
    return Exit.DONE


def _words(plan: Mapping[str, Any]) -> str:
    """A line for each operator, with those it reads."""
    lines = []
    for node in plan["nodes"]:
        before = [f"{edge['id']} {edge['ship_strategy']}" for edge in node.get("predecessors", ())]
        reads = f", from {', '.join(before)}" if before else ""
        lines.append(f"{node['id']}: {node['contents']} (parallelism {node['parallelism']}{reads})")
    return "\n".join(lines)
