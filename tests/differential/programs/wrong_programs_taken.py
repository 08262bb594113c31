"""Calls that PyFlink takes, whatever comes of them, and one it does not have."""

# runs: whole 1
# order: all
from pyflink.common import Configuration, Time, Types
from pyflink.datastream import (
    KeyedProcessFunction,
    ProcessFunction,
    StreamExecutionEnvironment,
)
from pyflink.datastream.state import StateTtlConfig, ValueStateDescriptor
from pyflink.datastream.window import (
    TumblingEventTimeWindows,
)


class Process(ProcessFunction):
    def process_element(self, value, ctx):
        yield value


class Keyed(KeyedProcessFunction):
    def process_element(self, value, ctx):
        yield value


def stream():
    env = StreamExecutionEnvironment.get_execution_environment()
    return env.from_collection([1, 2], Types.INT())


def keyed():
    return stream().key_by(lambda n: n)


WRONG = {
    "ttl 0": lambda: StateTtlConfig.new_builder(Time.seconds(0)).build(),
    "state without name": lambda: ValueStateDescriptor(None, Types.INT()),
    "basic array of tuples": lambda: Types.BASIC_ARRAY(Types.TUPLE([Types.INT()])),
    "configuration": lambda: Configuration().get_integer("x", "y"),
    "named row lengths": lambda: Types.ROW_NAMED(["a"], [Types.INT(), Types.INT()]),
    "negative lateness": lambda: (
        keyed().window(TumblingEventTimeWindows.of(Time.seconds(1))).allowed_lateness(-1)
    ),
    "primitive array of strings": lambda: Types.PRIMITIVE_ARRAY(Types.STRING()),
    "iterate": lambda: stream().iterate(),
}


def main():
    for name, call in WRONG.items():
        try:
            call()
            print(name, "- taken")
        except Exception as error:
            kind = (
                type(error).__name__ if isinstance(error, TypeError | AttributeError) else "refused"
            )
            print(name, "-", kind)


if __name__ == "__main__":
    main()
