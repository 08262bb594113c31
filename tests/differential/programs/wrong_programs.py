"""Programs that are wrong: which calls are refused, and with which kind of error."""

# runs: whole 1
# order: all
from pyflink.common import Duration, Row, Time, Types, WatermarkStrategy
from pyflink.datastream import (
    KeyedProcessFunction,
    OutputTag,
    ProcessFunction,
    StreamExecutionEnvironment,
)
from pyflink.datastream.window import (
    CountTrigger,
    EventTimeSessionWindows,
    SlidingEventTimeWindows,
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
    "map of a number": lambda: stream().map(5),
    "flat_map of a number": lambda: stream().flat_map(5),
    "filter of a number": lambda: stream().filter(5),
    "reduce of a number": lambda: keyed().reduce(5),
    "key_by of a number": lambda: stream().map(lambda n: n).key_by(None),
    "process of a function": lambda: stream().process(lambda v: v),
    "negative parallelism": lambda: stream().map(lambda n: n).set_parallelism(-2),
    "zero parallelism": lambda: stream().map(lambda n: n).set_parallelism(0),
    "env parallelism 0": lambda: (
        StreamExecutionEnvironment.get_execution_environment().set_parallelism(0)
    ),
    "max parallelism 0": lambda: (
        StreamExecutionEnvironment.get_execution_environment().set_max_parallelism(0)
    ),
    "max parallelism 2^16": lambda: (
        StreamExecutionEnvironment.get_execution_environment().set_max_parallelism(2**16)
    ),
    "nothing to run": lambda: StreamExecutionEnvironment.get_execution_environment().execute(),
    "tag without id": lambda: OutputTag(""),
    "tag None": lambda: OutputTag(None),
    "window without size": lambda: TumblingEventTimeWindows.of(Time.seconds(0)),
    "offset beyond size": lambda: TumblingEventTimeWindows.of(Time.seconds(1), Time.seconds(2)),
    "slide 0": lambda: SlidingEventTimeWindows.of(Time.seconds(1), Time.seconds(0)),
    "gap 0": lambda: EventTimeSessionWindows.with_gap(Time.seconds(0)),
    "row both ways": lambda: Row(1, a=2),
    "row no field": lambda: Row(a=1).b,
    "row no item": lambda: Row(a=1)["b"],
    "row position": lambda: Row(1)[3],
    "row as_dict without names": lambda: Row(1).as_dict(),
    "row called": lambda: Row("a")(1, 2),
    "row set attribute": lambda: setattr(Row(a=1), "b", 2),
    "negative out of orderness": lambda: WatermarkStrategy.for_bounded_out_of_orderness(
        Duration.of_millis(-1)
    ),
    "sum of an unknown field": lambda: keyed().sum({}),
    "row kind": lambda: Row(1).set_row_kind("DELETE"),
    "side output of a string": lambda: stream().process(Process()).get_side_output("tag"),
    "count trigger": lambda: CountTrigger.of("many"),
}


def main():
    for name, call in WRONG.items():
        try:
            call()
            print(name, "- taken")
        except Exception as error:
            kind = type(error).__name__ if isinstance(error, TypeError) else "refused"
            print(name, "-", kind)


if __name__ == "__main__":
    main()
