"""`headrace`, or `python -m headrace.cli`."""

from __future__ import annotations

import contextlib
import os
import signal
import sys
from collections.abc import Sequence
from typing import Any

from headrace.cli import configuration, verbs
from headrace.cli.arguments import Parser
from headrace.cli.client import Client
from headrace.cli.exits import Exit, Failure
from headrace.cli.terminal import Terminal


def main(tokens: Sequence[str] | None = None) -> int:
    """The exit code."""
    options = Parser().parse(sys.argv[1:] if tokens is None else tokens)
    signal.signal(signal.SIGTERM, _interrupt)
    try:
        server = configuration.server(options.url, options.token_file)
        return int(verbs.VERBS[options.verb](options, Client(server), Terminal(options.json)))
    except Failure as error:
        print(f"headrace: {error}", file=sys.stderr)
        return int(error.code)
    except KeyboardInterrupt:
        return int(Exit.INTERRUPTED)
    except BrokenPipeError:  # of `headrace list | head`
        with contextlib.suppress(OSError):
            os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        return int(Exit.DONE)


def _interrupt(*_: Any) -> None:
    raise KeyboardInterrupt


if __name__ == "__main__":
    sys.exit(main())
