"""Windows by chance."""

# runs: each 1, whole 1
# order: key
from pyflink.common import Duration, Time, Types, WatermarkStrategy
from pyflink.common.watermark_strategy import TimestampAssigner
from pyflink.datastream import (
    AggregateFunction,
    OutputTag,
    ProcessWindowFunction,
    StreamExecutionEnvironment,
)
from pyflink.datastream.functions import ProcessAllWindowFunction
from pyflink.datastream.window import (
    ContinuousEventTimeTrigger,
    CountTrigger,
    EventTimeSessionWindows,
    EventTimeTrigger,
    GlobalWindows,
    PurgingTrigger,
    SessionWindowTimeGapExtractor,
    SlidingEventTimeWindows,
    TumblingEventTimeWindows,
)

CASES = []


class ByThird(TimestampAssigner):
    def extract_timestamp(self, value, record_timestamp):
        return value[2]


class Gap(SessionWindowTimeGapExtractor):
    def extract(self, element):
        return element[1] * 500


class Listed(AggregateFunction):
    def create_accumulator(self):
        return []

    def add(self, value, accumulator):
        return [*accumulator, value[1]]

    def get_result(self, accumulator):
        return "".join(map(str, accumulator))

    def merge(self, a, b):
        return a + b


def described(key, window, elements):
    span = (window.start, window.end) if hasattr(window, "start") else ()
    return (key, *span, [e if isinstance(e, str) else e[1] for e in elements])


class Span(ProcessWindowFunction):
    def process(self, key, context, elements):
        yield described(key, context.window(), elements)


class SpanOfAll(ProcessAllWindowFunction):
    def process(self, context, elements):
        yield described("all", context.window(), elements)


def assigner(kind, *numbers):
    times = [Time.milliseconds(number) for number in numbers]
    if kind == "tumbling":
        return TumblingEventTimeWindows.of(*times)
    if kind == "sliding":
        return SlidingEventTimeWindows.of(*times)
    if kind == "session":
        return EventTimeSessionWindows.with_gap(*times)
    if kind == "dynamic":
        return EventTimeSessionWindows.with_dynamic_gap(Gap())
    return GlobalWindows.create()


def trigger(kind, number=None):
    if kind.startswith("purging "):
        return PurgingTrigger.of(trigger(kind.removeprefix("purging "), number))
    if kind == "count":
        return CountTrigger.of(number)
    if kind == "continuous":
        return ContinuousEventTimeTrigger.of(Time.milliseconds(number))
    return EventTimeTrigger.create()


def windowed(events, case):
    windows = assigner(*case["window"])
    stream = (
        events.window_all(windows) if case["all"] else events.key_by(lambda e: e[0]).window(windows)
    )
    if case["trigger"]:
        stream = stream.trigger(trigger(*case["trigger"]))
    if case["lateness"]:
        stream = stream.allowed_lateness(case["lateness"])
    return stream.side_output_late_data(late())


def result(stream, case):
    span = SpanOfAll() if case["all"] else Span()
    kind = case["function"]
    if kind.startswith("reduce"):
        function = [span] if kind == "reduce-process" else []
        return stream.reduce(lambda x, y: (x[0], x[1] * 10 + y[1], max(x[2], y[2])), *function)
    if kind.startswith("aggregate"):
        function = [span] if kind == "aggregate-process" else []
        return stream.aggregate(Listed(), *function)
    return stream.process(span)


def triple():
    """A new one for each use: PyFlink cannot pickle a type that it has used."""
    return Types.TUPLE([Types.STRING(), Types.LONG(), Types.LONG()])


def late():
    return OutputTag("late", triple())


def main():
    env = StreamExecutionEnvironment.get_execution_environment()
    for number, case in enumerate(CASES):
        strategy = WatermarkStrategy.for_bounded_out_of_orderness(Duration.of_millis(case["bound"]))
        events = env.from_collection(case["events"], triple()).assign_timestamps_and_watermarks(
            strategy.with_timestamp_assigner(ByThird())
        )
        made = result(windowed(events, case), case)
        made.map(lambda value: value).print(str(number))
        made.get_side_output(late()).print(f"{number} late")
    env.execute()


if __name__ == "__main__":
    main()
