"""open and close of functions of several kinds: once for each subtask, around all elements."""

# runs: whole 1
# alone: yes
import os
import tempfile
from pathlib import Path

from pyflink.common import Types
from pyflink.datastream import (
    FilterFunction,
    FlatMapFunction,
    KeyedProcessFunction,
    MapFunction,
    ReduceFunction,
    StreamExecutionEnvironment,
)

LOG = Path(tempfile.gettempdir(), f"lifecycle-{os.getpid()}")


def say(text):
    with LOG.open("a") as log:
        log.write(text + "\n")


class Mapped(MapFunction):
    def open(self, runtime_context):
        say("map open")

    def map(self, value):
        say("map")
        return value

    def close(self):
        say("map close")


class Flat(FlatMapFunction):
    def open(self, runtime_context):
        say("flat open")

    def flat_map(self, value):
        return [value, value]

    def close(self):
        say("flat close")


class Kept(FilterFunction):
    def open(self, runtime_context):
        say("filter open")

    def filter(self, value):
        return True

    def close(self):
        say("filter close")


class Process(KeyedProcessFunction):
    def open(self, runtime_context):
        say("process open")

    def process_element(self, value, ctx):
        yield value

    def close(self):
        say("process close")


class Reduce(ReduceFunction):
    def open(self, runtime_context):
        say("reduce open")

    def reduce(self, value1, value2):
        return value1 + value2

    def close(self):
        say("reduce close")


def main():
    env = StreamExecutionEnvironment.get_execution_environment()
    numbers = env.from_collection([1, 2, 3], Types.INT())
    mapped = numbers.map(Mapped(), Types.INT()).flat_map(Flat(), Types.INT()).filter(Kept())
    mapped.key_by(lambda n: 0).process(Process(), Types.INT()).key_by(lambda n: 0).reduce(
        Reduce()
    ).print()
    env.execute()
    print(sorted(LOG.read_text().splitlines()))
    LOG.unlink()


if __name__ == "__main__":
    main()
