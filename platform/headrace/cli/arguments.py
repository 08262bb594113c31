"""The command line as it is read."""

from __future__ import annotations

import argparse
import re
from collections.abc import Sequence

from headrace import __version__
from headrace.cli import options
from headrace.cli.values import positive, setting

EPILOG = """\
Which server: --url, HEADRACE_URL, or `url` in ~/.config/headrace/config.toml (mode 600).
As whom: --token-file, HEADRACE_TOKEN, or `token` there. Exit codes: docs/command-line.md."""


class Parser:
    """Reads a command line; `run` and `info` end their own options at the program, as Flink's."""

    def __init__(self) -> None:
        self._parser = argparse.ArgumentParser(
            prog="headrace",
            description="Submit, watch and steer jobs.",
            epilog=EPILOG,
            formatter_class=argparse.RawDescriptionHelpFormatter,
            allow_abbrev=False,
        )
        self._parser.add_argument("--version", action="version", version=f"%(prog)s {__version__}")
        self._verbs = self._parser.add_subparsers(dest="verb", required=True, metavar="VERB")
        self._of_program: dict[str, list[argparse.Action]] = {}
        for verb in options.VERBS:
            verb(self)

    def parse(self, tokens: Sequence[str]) -> argparse.Namespace:
        """Exits with code 2 and a sentence for what cannot be read."""
        own, program = list(tokens), []
        if tokens and tokens[0] in self._of_program:
            end = 1 + _options_end(tokens[1:], self._of_program[tokens[0]])
            own, program = list(tokens[:end]), list(tokens[end:])
        read = self._parser.parse_args(own)
        if read.verb in self._of_program:
            if read.python is None and not program:
                self._parser.error(f"{read.verb}: name the program's file")
            if read.python is None and program[0].startswith("-"):
                self._parser.error(
                    f"{read.verb}: unknown option: {program[0]}; what differs from Flink's is in "
                    "docs/command-line.md, and options of the program stand behind its file"
                )
            read.file = read.python or program.pop(0)
            read.arguments = program
        return read

    def add(self, name: str, words: str) -> argparse.ArgumentParser:
        verb = self._verbs.add_parser(
            name, help=words, description=f"{words[0].upper()}{words[1:]}.", allow_abbrev=False
        )
        verb.add_argument(
            "-m", "--url", "--jobmanager", metavar="URL", help="the server, e.g. http://host:8081"
        )
        verb.add_argument(
            "--token-file", metavar="FILE", help="has the token; - reads it from stdin"
        )
        verb.add_argument("--json", action="store_true", help="one JSON document on stdout")
        return verb

    def add_settings(self, verb: argparse.ArgumentParser) -> None:
        verb.add_argument(
            "-D",
            dest="settings",
            type=setting,
            action="append",
            default=[],
            metavar="KEY=VALUE",
            help="a setting, by Flink's key; again for more",
        )

    def add_program(self, name: str, words: str) -> argparse.ArgumentParser:
        verb = self.add(name, words)
        verb.usage = f"headrace {name} [options] FILE [program arguments]"
        verb.add_argument("-py", "--python", metavar="FILE", help="the program, as Flink names it")
        verb.add_argument("-p", "--parallelism", type=positive, metavar="N", default=1)
        verb.add_argument(
            *("-c", "--class"),
            dest="entry_class",
            metavar="MODULE",
            default="",
            help="what of an archive (.zip, .whl) is run: module, or module:function",
        )
        self.add_settings(verb)
        # Known at parsing time only: `add_argument` of this verb may follow.
        self._of_program[name] = verb._actions
        return verb


def _options_end(tokens: Sequence[str], actions: Sequence[argparse.Action]) -> int:
    """Where the program begins: at the first token that is no option of the verb."""
    known = {option: action for action in actions for option in action.option_strings}
    at = 0
    while at < len(tokens) and tokens[at].startswith("-") and tokens[at] != "-":
        name, equals, _ = tokens[at].partition("=")
        action = known.get(tokens[at]) or (known.get(name) if name.startswith("--") else None)
        if action is None:
            if not re.match(r"-D.|-p\d", tokens[at]):
                break
            at += 1  # the value is joined to the option
        else:
            at += 1 if equals or action.nargs == 0 else 2
    return min(at, len(tokens))
