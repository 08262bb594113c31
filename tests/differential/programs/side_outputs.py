"""Side outputs of process functions of every kind."""

# runs: each 1, whole 1, whole 2
from pyflink.common import Duration, Time, Types, WatermarkStrategy
from pyflink.common.watermark_strategy import TimestampAssigner
from pyflink.datastream import (
    CoProcessFunction,
    KeyedProcessFunction,
    OutputTag,
    ProcessFunction,
    ProcessWindowFunction,
    StreamExecutionEnvironment,
)
from pyflink.datastream.window import TumblingEventTimeWindows

EVENTS = [("a", 1, 0), ("b", 2, 500), ("a", 3, 999), ("a", 4, 1000), ("b", 5, 2500)]
ODD = OutputTag("odd", Types.TUPLE([Types.STRING(), Types.INT()]))
TIMES = OutputTag("times", Types.LONG())
UNTYPED = OutputTag("untyped")


class ByThird(TimestampAssigner):
    def extract_timestamp(self, value, record_timestamp):
        return value[2]


class Split(ProcessFunction):
    def process_element(self, value, ctx):
        if value[1] % 2:
            yield ODD, (value[0], value[1])
        else:
            yield value
        yield TIMES, ctx.timestamp()
        yield UNTYPED, {"n": value[1]}


class Keyed(KeyedProcessFunction):
    def process_element(self, value, ctx):
        yield ODD, (ctx.get_current_key(), value[1])
        ctx.timer_service().register_event_time_timer(value[2])

    def on_timer(self, timestamp, ctx):
        yield TIMES, timestamp
        yield f"{ctx.get_current_key()} {timestamp}"


class Windowed(ProcessWindowFunction):
    def process(self, key, context, elements):
        yield TIMES, context.window().end
        yield key


class Both(CoProcessFunction):
    def process_element1(self, value, ctx):
        yield ODD, ("left", value[1])

    def process_element2(self, value, ctx):
        yield ODD, ("right", value[1])
        yield value[1]


def main():
    env = StreamExecutionEnvironment.get_execution_environment()
    triple = Types.TUPLE([Types.STRING(), Types.INT(), Types.LONG()])
    events = env.from_collection(EVENTS, triple).assign_timestamps_and_watermarks(
        WatermarkStrategy.for_bounded_out_of_orderness(
            Duration.of_millis(0)
        ).with_timestamp_assigner(ByThird())
    )
    split = events.process(Split(), triple)
    keyed = events.key_by(lambda e: e[0], Types.STRING()).process(Keyed(), Types.STRING())
    seconds = TumblingEventTimeWindows.of(Time.seconds(1))
    windowed = events.key_by(lambda e: e[0]).window(seconds).process(Windowed(), Types.STRING())
    both = events.connect(events).process(Both(), Types.INT())
    split.print("main")
    split.get_side_output(ODD).print("odd")
    split.get_side_output(TIMES).print("times")
    split.get_side_output(UNTYPED).print("untyped")
    split.get_side_output(ODD).key_by(lambda p: p[0]).map(lambda p: p[1] * 10).print("odd tens")
    keyed.print("keyed")
    keyed.get_side_output(ODD).print("keyed odd")
    keyed.get_side_output(TIMES).print("keyed times")
    windowed.print("windowed")
    windowed.get_side_output(TIMES).print("windowed times")
    both.print("both")
    both.get_side_output(ODD).print("both odd")
    env.execute()


if __name__ == "__main__":
    main()
