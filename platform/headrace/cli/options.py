"""The options of each verb, as Flink has them."""

from __future__ import annotations

import argparse
from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING

from headrace.cli.values import job_id, positive, schedule_id

if TYPE_CHECKING:
    from headrace.cli.arguments import Parser


def _run(parser: Parser) -> None:
    verb = parser.add_program("run", "submit a program and wait for its end")
    verb.add_argument("-d", "--detached", action="store_true", help="do not wait")
    verb.add_argument("-s", "--fromSavepoint", metavar="PATH", help="restore this savepoint")
    verb.add_argument(
        "-n",
        "--allowNonRestoredState",
        action="store_true",
        help="leave out state of the savepoint that no operator takes",
    )
    verb.add_argument(
        *("-cm", "-claimMode", "--claimMode", "-rm", "-restoreMode", "--restoreMode"),
        dest="claimMode",
        type=str.lower,
        choices=["no_claim", "claim"],
        help="whose the savepoint is then",
    )
    verb.add_argument(
        "--beside",
        action="store_true",
        help="a copy beside the savepoint's job, with transactional ids of its own",
    )
    verb.add_argument(
        "-sae",
        "--shutdownOnAttachedExit",
        action="store_true",
        help="cancel the job when this command is interrupted",
    )
    verb.add_argument("--team", metavar="NAME", default="", help="the team whose job it is")
    when = verb.add_mutually_exclusive_group()
    when.add_argument("--at", metavar="TIME", help="start then: 2026-03-01T06:00:00+01:00")
    when.add_argument("--cron", metavar="FIELDS", help='start again and again: "0 6 * * 1-5"')
    verb.add_argument("--timeZone", metavar="ZONE", help="of --cron: Europe/Berlin; default UTC")
    verb.add_argument("--grace", metavar="TIME", help="how late it may start; default: 1 h")


def _info(parser: Parser) -> None:
    parser.add_program("info", "show a program's plan; it is not submitted")


def _list(parser: Parser) -> None:
    verb = parser.add("list", "list jobs: those that run or wait, unless told otherwise")
    verb.add_argument("-r", "--running", action="store_true", help="those that run or restart")
    verb.add_argument("-s", "--scheduled", action="store_true", help="those that wait")
    verb.add_argument("-a", "--all", action="store_true", help="also those that have ended")


def _savepoint(parser: Parser) -> None:
    verb = parser.add("savepoint", "make a savepoint of a running job, or dispose of one")
    verb.usage = "headrace savepoint [options] JOB [DIRECTORY] | headrace savepoint -d PATH"
    verb.add_argument("job", nargs="?", metavar="JOB", type=job_id)
    verb.add_argument("target", nargs="?", metavar="DIRECTORY")
    verb.add_argument("-d", "--dispose", metavar="PATH", help="delete this savepoint")
    _format(verb)
    verb.add_argument("-detached", "--detached", action="store_true", help="do not wait")


def _checkpoint(parser: Parser) -> None:
    verb = parser.add("checkpoint", "have a running job make a checkpoint now")
    verb.add_argument("job", metavar="JOB", type=job_id)
    verb.add_argument("-full", "--full", action="store_true", help="as in Flink; all are")
    verb.add_argument("-detached", "--detached", action="store_true", help="do not wait")


def _stop(parser: Parser) -> None:
    verb = parser.add("stop", "end a job in order, with a savepoint")
    verb.add_argument("job", metavar="JOB", type=job_id)
    verb.add_argument("-p", "--savepointPath", metavar="DIRECTORY", help="where it is put")
    verb.add_argument(
        "-d", "--drain", action="store_true", help="close all windows first: do not go on from it"
    )
    _format(verb)
    verb.add_argument("-detached", "--detached", action="store_true", help="do not wait")


def _cancel(parser: Parser) -> None:
    verb = parser.add("cancel", "end a job for good")
    verb.usage = "headrace cancel [options] JOB"
    verb.add_argument("job", nargs="?", metavar="JOB")
    verb.add_argument(
        "-s",
        "--withSavepoint",
        nargs="?",
        const="",
        metavar="DIRECTORY",
        help="with a savepoint; `stop` is the way that also commits",
    )
    verb.add_argument("-d", "--detached", action="store_true", help="do not wait")


def _steering(name: str, words: str) -> Callable[[Parser], None]:
    def add(parser: Parser) -> None:
        verb = parser.add(name, words)
        verb.add_argument("job", metavar="JOB", type=job_id)
        verb.add_argument("-d", "--detached", action="store_true", help="do not wait")

    return add


def _logs(parser: Parser) -> None:
    verb = parser.add("logs", "show the end of a driver's log")
    verb.add_argument("job", metavar="JOB", type=job_id)
    verb.add_argument("-f", "--follow", action="store_true", help="go on, until the job has ended")
    verb.add_argument("--attempt", type=positive, metavar="N", help="default: the last")


def _checkpoints(parser: Parser) -> None:
    verb = parser.add("checkpoints", "list a job's newest checkpoints")
    verb.add_argument("job", metavar="JOB", type=job_id)
    verb.add_argument("-n", "--number", type=positive, default=20, metavar="N")


def _schedules(parser: Parser) -> None:
    verb = parser.add("schedules", "list what starts later, or again and again")
    one = verb.add_mutually_exclusive_group()
    for name, words in (
        ("runs", "what became of its times"),
        ("pause", "let its times pass"),
        ("resume", "go on with the next time to come"),
        ("delete", "for good; jobs that it has started stay"),
    ):
        one.add_argument(f"--{name}", type=schedule_id, metavar="SCHEDULE", help=words)


def _taskmanagers(parser: Parser) -> None:
    parser.add("taskmanagers", "list TaskManagers")


def _drain(parser: Parser) -> None:
    verb = parser.add("drain", "have a TaskManager's jobs move to others, and give it no new ones")
    verb.add_argument("name", metavar="TASKMANAGER")
    verb.add_argument("-d", "--detached", action="store_true", help="do not wait")


def _undrain(parser: Parser) -> None:
    verb = parser.add("undrain", "give a TaskManager jobs again")
    verb.add_argument("name", metavar="TASKMANAGER")


def _versions(parser: Parser) -> None:
    verb = parser.add("versions", "list what a job was and is made of; * is the current version")
    verb.add_argument("job", metavar="JOB", type=job_id)
    verb.add_argument(
        "--diff",
        nargs=2,
        type=positive,
        metavar=("BEFORE", "AFTER"),
        help="show how two versions differ instead",
    )


def _upgrade(parser: Parser) -> None:
    verb = parser.add("upgrade", "have a job go on as another version, through a savepoint")
    verb.usage = "headrace upgrade [options] JOB [FILE [program arguments]]"
    verb.add_argument("-p", "--parallelism", type=positive, metavar="N")
    parser.add_settings(verb)
    verb.add_argument(
        "--remove", action="append", default=[], metavar="KEY", help="take a setting out"
    )
    verb.add_argument("--to", type=positive, metavar="N", help="begin from this earlier version")
    verb.add_argument("--reason", metavar="TEXT", help="kept with the version")
    verb.add_argument("--savepointPath", metavar="DIRECTORY", help="where the savepoint is put")
    verb.add_argument(
        "-n",
        "--allowNonRestoredState",
        action="store_true",
        help="leave out state that no operator of the new version takes",
    )
    verb.add_argument("-d", "--detached", action="store_true", help="do not wait")
    verb.add_argument("job", metavar="JOB", type=job_id)
    verb.add_argument("file", nargs="?", metavar="FILE", help="another program")
    verb.add_argument("arguments", nargs=argparse.REMAINDER, help="in place of all its arguments")


def _rescale(parser: Parser) -> None:
    verb = parser.add("rescale", "have a job go on with another parallelism, through a savepoint")
    verb.add_argument("-p", "--parallelism", type=positive, metavar="N", required=True)
    verb.add_argument("-d", "--detached", action="store_true", help="do not wait")
    verb.add_argument("job", metavar="JOB", type=job_id)


def _format(verb: argparse.ArgumentParser) -> None:
    verb.add_argument("-type", "--type", choices=["canonical", "native"], help="its format")


VERBS: Sequence[Callable[[Parser], None]] = (
    _run,
    _info,
    _list,
    _savepoint,
    _checkpoint,
    _stop,
    _cancel,
    _steering("suspend", "stop a job behind its current batch, to be resumed from there"),
    _steering("resume", "let a suspended job go on"),
    _steering("restart", "start a job again from its last checkpoint"),
    _versions,
    _upgrade,
    _rescale,
    _logs,
    _checkpoints,
    _schedules,
    _taskmanagers,
    _drain,
    _undrain,
)
