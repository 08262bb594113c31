"""The word count of every streaming tutorial.

From a text file, to its end:   python word_count.py --file path
From a socket, for ever:        nc -lk 9999, then python word_count.py --socket 127.0.0.1:9999

Prints each word with its count so far, as often as it comes.
"""

from __future__ import annotations

import argparse
import re
from collections.abc import Iterator

from headrace.common import Types
from headrace.datastream import DataStream, StreamExecutionEnvironment

PAIR = Types.TUPLE([Types.STRING(), Types.INT()])


def words(line: str) -> Iterator[tuple[str, int]]:
    for word in re.findall(r"[\w']+", line.lower()):
        yield word, 1


def lines(env: StreamExecutionEnvironment, options: argparse.Namespace) -> DataStream:
    if options.file:
        return env.read_text_file(options.file)
    host, _, port = options.socket.rpartition(":")
    return env.socket_text_stream(host, int(port))


def main() -> None:
    parser = argparse.ArgumentParser(description="Count words.")
    source = parser.add_mutually_exclusive_group(required=True)
    source.add_argument("--file", help="a text file, or a folder of them")
    source.add_argument("--socket", help="host:port of a server that sends lines")
    options = parser.parse_args()

    env = StreamExecutionEnvironment.get_execution_environment()
    (
        lines(env, options)
        .flat_map(words, output_type=PAIR)
        .key_by(lambda pair: pair[0], Types.STRING())
        .sum(1)
        .print()
    )
    env.execute("Word count")


if __name__ == "__main__":
    main()
