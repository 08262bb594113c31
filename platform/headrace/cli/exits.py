"""How the command ends."""

from __future__ import annotations

import enum


class Exit(enum.IntEnum):
    """Exit codes; docs/command-line.md tells them."""

    DONE = 0
    #: The server refused what was asked, or it failed there.
    REFUSED = 1
    #: Wrong options, an unusable configuration file.
    USAGE = 2
    #: Nothing answers, or it is no Headrace.
    UNREACHABLE = 3
    #: No token, a wrong one, or one of somebody who may not do this.
    NOT_PERMITTED = 4
    NO_SUCH_JOB = 5
    #: The job that was waited for failed.
    JOB_FAILED = 6
    #: It was cancelled or suspended, not by this command.
    JOB_STOPPED = 7
    INTERRUPTED = 130


def of(state: str) -> Exit:
    """How the command ends that waited for a job which is in this state now."""
    return {"FINISHED": Exit.DONE, "FAILED": Exit.JOB_FAILED}.get(state, Exit.JOB_STOPPED)


class Failure(Exception):
    """The command ends here; `args[0]` says why and what to do."""

    def __init__(self, message: str, code: Exit) -> None:
        super().__init__(message)
        self.code = code
